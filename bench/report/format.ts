const units = ['B', 'KiB', 'MiB', 'GiB'] as const

/** Three digits that count; `-` for what was not measured. */
export function digits(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '-'
  if (value === 0) return '0'
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toFixed(Math.min(3, decimals))
}

/** A duration in the unit in which people say it. */
export function milliseconds(ms: number | null): string {
  if (ms === null || Number.isNaN(ms)) return '-'
  if (ms < 1) return `${Math.round(ms * 1000)}us`
  return ms < 1000 ? `${digits(ms)}ms` : `${digits(ms / 1000)}s`
}

export function bytes(value: number | null): string {
  if (value === null) return '-'
  let unit = 0
  let rest = value
  for (; rest >= 1024 && unit < units.length - 1; unit++) rest /= 1024
  return `${digits(rest)}${units[unit]}`
}

export const mebibytes = (value: number | null) => (value === null ? '-' : bytes(value * 2 ** 20))
export const percent = (share: number) => `${digits(share * 100)}%`
