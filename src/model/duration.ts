import { UsageError } from './errors.js'

const unitNanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const maxInt64 = (1n << 63n) - 1n

/** `whole` and the digits of `rest / 10^digits` behind a point, without trailing zeros. */
function withFraction(whole: bigint, rest: bigint, digits: number): string {
  const fraction = rest.toString().padStart(digits, '0').replace(/0+$/, '')
  return fraction === '' ? `${whole}` : `${whole}.${fraction}`
}

/**
 * Milliseconds (with a fraction, down to a nanosecond) as Go's time.Duration prints them: `3m46s`, `1.5s`, `300ms`, `0s`.
 * What does not fit int64 nanoseconds is clamped to the nearest that does.
 */
export function formatGoDuration(ms: number): string {
  if (Number.isNaN(ms)) throw new RangeError('a duration can not be NaN')
  const limit = Number(maxInt64)
  const rounded = Math.round(Math.abs(ms) * 1e6)
  const ns = rounded >= limit ? maxInt64 : BigInt(rounded)
  if (ns === 0n) return '0s'
  const sign = ms < 0 ? '-' : ''
  if (ns < 1_000n) return `${sign}${ns}ns`
  if (ns < 1_000_000n) return `${sign}${withFraction(ns / 1_000n, ns % 1_000n, 3)}µs`
  if (ns < 1_000_000_000n) return `${sign}${withFraction(ns / 1_000_000n, ns % 1_000_000n, 6)}ms`

  const seconds = ns / 1_000_000_000n
  const tail = `${withFraction(seconds % 60n, ns % 1_000_000_000n, 9)}s`
  const minutes = seconds / 60n
  if (minutes === 0n) return `${sign}${tail}`
  const hours = minutes / 60n
  return hours === 0n ? `${sign}${minutes}m${tail}` : `${sign}${hours}h${minutes % 60n}m${tail}`
}

/**
 * The milliseconds of a duration written as Go's time.ParseDuration takes it: `1m0s`, `300ms`, `1.5h`, `-2s`, `0`.
 * @throws UsageError for anything else, and beyond int64 nanoseconds (292 years).
 */
export function parseGoDuration(text: string): number {
  const bad = (why: string) => new UsageError(`invalid duration ${JSON.stringify(text)}: ${why}`, { duration: text })
  const sign = /^[-+]/.exec(text)?.[0] ?? ''
  const body = text.slice(sign.length)
  if (body === '0') return 0
  if (body === '') throw bad('expected something like 1m0s or 300ms')

  const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y
  let ns = 0n
  while (part.lastIndex < body.length) {
    const at = part.lastIndex
    const [, whole = '', fraction = '', unit = ''] = part.exec(body) ?? []
    if (whole === '' && fraction === '') {
      const number = /^\d*\.?\d+$/.test(body.slice(at))
      throw bad(number ? 'a unit is missing (ns, us, ms, s, m, h)' : 'expected something like 1m0s or 300ms')
    }
    const scale = unitNanoseconds[unit] ?? 0n
    ns += BigInt(whole || '0') * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length)
    if (ns > maxInt64) throw bad('too long')
  }
  const ms = Number(ns) / 1e6
  return sign === '-' ? -ms : ms
}
