import * as z from 'zod'
import { memberOf, schemaError, type YamlFile } from './yaml.js'

export const kubeletApiVersion = 'kubelet.config.k8s.io/v1beta1'
export const kubeletKind = 'KubeletConfiguration'

/** What means the same here. healthzBindAddress and healthzPort do not: the kubelet itself listens there. */
const sameKeys = ['containerRuntimeEndpoint', 'runtimeRequestTimeout'] as const
const loggingSchema = z.looseObject({ format: z.unknown(), verbosity: z.unknown() }).partial().optional()

/** Part of a kubelet's configuration as a document of ours, and which keys that were. */
export interface KubeletPart {
  readonly document: Record<string, unknown>
  readonly read: readonly string[]
  readonly ignored: number
}

/** Empty strings and zeros mean "the default" in a KubeletConfiguration. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '0s' || value === 0
}

/** Takes what means the same from an existing KubeletConfiguration (kubelet.config.k8s.io/v1beta1) and leaves the rest. */
export function takeKubeletKeys(file: YamlFile): KubeletPart {
  const document: Record<string, unknown> = {}
  const read: string[] = []
  for (const key of sameKeys) {
    const value = memberOf(file.value, key)
    if (isUnset(value)) continue
    document[key] = value
    read.push(key)
  }

  const parsed = loggingSchema.safeParse(memberOf(file.value, 'logging'))
  if (!parsed.success) throw schemaError(file, parsed.error)
  const logging: Record<string, unknown> = {}
  for (const key of ['format', 'verbosity'] as const) {
    const value = parsed.data?.[key]
    if (isUnset(value)) continue
    logging[key] = value
    read.push(`logging.${key}`)
  }
  if (Object.keys(logging).length > 0) document['logging'] = logging

  const keys = Object.keys(file.value as object).filter((key) => key !== 'apiVersion' && key !== 'kind')
  const readRoots = new Set(read.map((key) => key.split('.')[0]))
  return { document, read, ignored: keys.filter((key) => !readRoots.has(key)).length }
}
