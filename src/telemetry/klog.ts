import { escapeRest, type PlainValue } from './fields.js'

export type Severity = 'error' | 'warn' | 'info'

const letters: Readonly<Record<Severity, string>> = { error: 'E', warn: 'W', info: 'I' }

const two = (n: number) => String(n).padStart(2, '0')

/** `ns/name`, as klog prints an object reference. */
function objectRef(value: PlainValue): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { namespace, name } = value as Record<string, PlainValue>
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined
  return namespace === '' ? name : `${namespace}/${name}`
}

function valueText(key: string, value: PlainValue): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const ref = key === 'pod' ? objectRef(value) : undefined
  return escapeRest(JSON.stringify(ref ?? value))
}

/**
 * One line as klog writes it: `I1201 14:15:15.525108    1234 loop.js:42] "Msg" key="v"` (component-base klog text
 * format; `err` comes first, as in klog's ErrorS). Time is the local one, thread id the process's.
 */
export function klogLine(
  severity: Severity,
  wallMs: number,
  caller: string,
  message: string,
  fields: ReadonlyMap<string, PlainValue>,
): string {
  const at = new Date(wallMs)
  const micros = String(Math.floor((wallMs % 1_000) * 1_000)).padStart(6, '0')
  const date = `${two(at.getMonth() + 1)}${two(at.getDate())}`
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${micros}`
  let line = `${letters[severity]}${date} ${time} ${String(process.pid).padStart(7)} ${caller}] ${escapeRest(JSON.stringify(message))}`
  const err = fields.get('err')
  if (err !== undefined) line += ` err=${valueText('err', err)}`
  for (const [key, value] of fields) {
    if (key !== 'err') line += ` ${key.replace(/[^\w.-]/g, '_')}=${valueText(key, value)}`
  }
  return `${line}\n`
}
