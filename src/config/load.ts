import { readFileSync, statSync } from 'node:fs'
import { stringify } from 'yaml'
import * as z from 'zod'
import { messageOf, UsageError } from '../model/errors.js'
import { kubeletApiVersion, kubeletKind, takeKubeletKeys } from './kubelet.js'
import { type PlegdConfig, plegdApiVersion, plegdKind, plegdSchema } from './schema.js'
import { brief, memberOf, parseYaml, schemaError } from './yaml.js'

/** A configuration, and what an operator should hear about how it came about. */
export interface LoadedConfig {
  readonly config: PlegdConfig
  readonly notices: readonly string[]
}

/** Larger files are refused unread: a configuration has a few dozen lines. */
const maxFileBytes = 1 << 20

function readConfigFile(path: string): string {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) throw new UsageError(`config file ${path}: not a regular file`)
    if (stat.size > maxFileBytes)
      throw new UsageError(`config file ${path}: ${stat.size} bytes, at most ${maxFileBytes}`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const code = memberOf(error, 'code')
    if (code === 'ENOENT') throw new UsageError(`config file ${path}: no such file`)
    if (code === 'EACCES') throw new UsageError(`config file ${path}: permission denied`)
    throw new UsageError(`config file ${path}: ${messageOf(error)}`)
  }
}

/** Every key at its default. */
export function defaultConfig(): PlegdConfig {
  return z.decode(plegdSchema, {})
}

/** @throws UsageError, one line with path, line and column. */
export function parseConfig(path: string, text: string): LoadedConfig {
  const file = parseYaml(path, text)
  const apiVersion = memberOf(file.value, 'apiVersion')
  const kind = memberOf(file.value, 'kind')
  const isKubelet = kind === kubeletKind && apiVersion === kubeletApiVersion
  if (!isKubelet && (kind !== plegdKind || apiVersion !== plegdApiVersion)) {
    throw new UsageError(
      `${file.at([])}: apiVersion ${brief(apiVersion)}, kind ${brief(kind)}: expected ${plegdApiVersion}, ${plegdKind} (or ${kubeletApiVersion}, ${kubeletKind})`,
    )
  }

  const part = isKubelet ? takeKubeletKeys(file) : undefined
  const result = plegdSchema.safeParse(part?.document ?? file.value, { reportInput: true })
  if (!result.success) throw schemaError(file, result.error)
  if (part === undefined) return { config: result.data, notices: [] }
  const read = part.read.length === 0 ? 'none' : part.read.join(', ')
  return {
    config: result.data,
    notices: [`${path} is a ${kubeletKind}: read ${read}; ignored ${part.ignored} other keys`],
  }
}

/** Reads a PlegdConfiguration, or what means the same from a KubeletConfiguration. @throws UsageError */
export function loadConfig(path: string): LoadedConfig {
  return parseConfig(path, readConfigFile(path))
}

/** The configuration as the document that would give it. */
export function configDocument(config: PlegdConfig): z.input<typeof plegdSchema> {
  return z.encode(plegdSchema, config)
}

export function configYaml(config: PlegdConfig): string {
  return stringify(configDocument(config))
}
