import { messageOf } from '../model/errors.js'

/** What is over these is cut, and says so: a runtime's answer can be of any size, a log line can't. */
const maxText = 1_024
const maxEntries = 32
const maxDepth = 4

export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue }

export function boundedText(text: string): string {
  return text.length <= maxText ? text : `${text.slice(0, maxText)}…(+${text.length - maxText})`
}

function plainEntries(value: object, depth: number): PlainValue {
  const entries = Object.entries(value)
  const kept = entries
    .slice(0, maxEntries)
    .map(([key, item]) => [boundedText(key), plainField(item, depth + 1)] as const)
  if (entries.length > maxEntries) kept.push(['…', `+${entries.length - maxEntries}`])
  return Object.fromEntries(kept)
}

/** A value as it may go into a log line: JSON-able, bounded in length, breadth and depth. */
export function plainField(value: unknown, depth = 0): PlainValue {
  if (typeof value === 'string') return boundedText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'boolean' || value === null) return value
  if (value instanceof Error) return boundedText(messageOf(value))
  if (typeof value !== 'object') return boundedText(String(value))
  if (depth >= maxDepth) return '…'
  if (!Array.isArray(value)) return plainEntries(value, depth)
  const kept = value.slice(0, maxEntries).map((item) => plainField(item, depth + 1))
  return value.length > maxEntries ? [...kept, `…(+${value.length - maxEntries})`] : kept
}

/**
 * Escapes what JSON leaves as it is although terminals and line readers act on it: DEL, the C1 controls and Unicode's
 * line ends. Only to be used on JSON text, where such characters can stand in strings alone.
 */
export function escapeRest(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
