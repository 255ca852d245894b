import { UsageError } from '../model/errors.js'

const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
}

/**
 * Bytes written as a Kubernetes quantity: `16Mi`, `1.5Gi`, `500k`, `16777216`.
 * @throws UsageError for anything else, and where it is no whole number of bytes.
 */
export function parseBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(k|M|G|Ki|Mi|Gi)?$/.exec(text) ?? []
  const bytes = Number(digits) * (byteUnits[unit] ?? 1)
  if (digits === undefined || !Number.isSafeInteger(bytes)) {
    throw new UsageError(`invalid size ${JSON.stringify(text)}: expected bytes, or something like 16Mi`, { size: text })
  }
  return bytes
}

/** The shortest quantity that is exactly so many bytes: 16777216 is `16Mi`. */
export function formatBytes(bytes: number): string {
  for (const unit of ['Gi', 'Mi', 'Ki']) {
    const scale = byteUnits[unit] ?? 1
    if (bytes > 0 && bytes % scale === 0) return `${bytes / scale}${unit}`
  }
  return String(bytes)
}

const secondsPer: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/**
 * A rate written as `10/s`, `0.5/s`, `30/m`, `100/h`, or `0`. Answers how many a second.
 * @throws UsageError for anything else.
 */
export function parseRate(text: string): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)\/([smh])$/.exec(text) ?? (text === '0' ? ['', '0', 's'] : [])
  if (count === undefined || unit === undefined) {
    throw new UsageError(`invalid rate ${JSON.stringify(text)}: expected something like 10/s or 30/m`, { rate: text })
  }
  return Number(count) / (secondsPer[unit] ?? 1)
}
