import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { parseYaml, schemaError } from '../src/config/yaml.js'
import { parseGoDuration } from '../src/model/duration.js'
import { messageOf, UsageError } from '../src/model/errors.js'
import { contenders, models } from './block.js'

/** Pods of each preset; two containers a pod, nothing dead. */
export const presets = {
  '110': 110,
  '250': 250,
  '500': 500,
  '1000': 1000,
  '2500': 2500,
  '10k': 10_000,
  '50k': 50_000,
  '100k': 100_000,
} as const

const listOf = <T extends z.ZodType>(item: T) =>
  z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(item).min(1).max(32))
const count = (min: number, max: number) => z.int().min(min).max(max)
const duration = z.union([z.literal(0), z.string()]).transform((text, context) => {
  if (text === 0) return 0
  try {
    return parseGoDuration(text)
  } catch (error) {
    context.issues.push({ code: 'custom', message: messageOf(error), input: text })
    return z.NEVER
  }
})

/** The axes of a bench, in a file as on the command line. An axis with several values is measured at each. */
export const settingsSchema = z.strictObject({
  pods: listOf(count(1, 1_000_000)).default([110, 1000, 5000, 10_000]),
  containers: listOf(count(1, 100)).default([2]),
  dead: listOf(count(0, 100)).default([0]),
  churn: listOf(z.number().min(0).max(100)).default([0, 1]),
  statusLatency: listOf(duration).default([0]),
  model: listOf(z.enum(models)).default(['independent']),
  inspectConcurrency: listOf(count(1, 10_000)).optional(),
  shards: listOf(count(1, 64)).optional(),
  transport: listOf(z.enum(['h2', 'grpc'])).optional(),
  period: duration.default(0),
  server: z.enum(['sim', 'crisim']).default('sim'),
  contenders: listOf(z.enum(contenders)).optional(),
  peersUpTo: count(0, 1_000_000).default(5000),
  laps: count(1, 1000).default(5),
  seed: count(0, 2 ** 32 - 1).default(1),
})

export type Settings = z.output<typeof settingsSchema>
/** As a file or the command line has them: every key may be absent. */
export type SettingsInput = z.input<typeof settingsSchema>

/**
 * What the file says, with what the command line says on top.
 *
 * @throws UsageError for a key that is none, or a value that is out of range
 */
export function readSettings(flags: Readonly<Record<string, unknown>>, path?: string): Settings {
  const file = path === undefined ? null : parseYaml(path, readText(path))
  if (file !== null) {
    const parsed = settingsSchema.safeParse(file.value, { reportInput: true })
    if (!parsed.success) throw schemaError(file, parsed.error)
  }
  const parsed = settingsSchema.safeParse({ ...(file?.value as object | undefined), ...flags })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UsageError(`--${issue?.path[0]?.toString() ?? 'flag'}: ${issue?.message ?? 'invalid'}`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
