const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

function parts(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const whole = Math.floor(ms / large)
  const rest = Math.floor((ms % large) / small)
  return rest === 0 ? `${whole}${largeUnit}` : `${whole}${largeUnit}${rest}${smallUnit}`
}

/**
 * An age as kubectl prints it (apimachinery util/duration HumanDuration): two or three significant digits, the unit
 * changing late: `119s`, `9m5s`, `3h20m`, `2d4h`, `3y10d`. Up to a second in the future is `0s`, further `<invalid>`.
 */
export function humanDuration(ms: number): string {
  if (ms <= -2 * second) return '<invalid>'
  if (ms < 0) return '0s'
  if (ms < 2 * minute) return `${Math.floor(ms / second)}s`
  if (ms < 10 * minute) return parts(ms, minute, 'm', second, 's')
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`
  if (ms < 8 * hour) return parts(ms, hour, 'h', minute, 'm')
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`
  if (ms < 8 * day) return parts(ms, day, 'd', hour, 'h')
  if (ms < 2 * year) return `${Math.floor(ms / day)}d`
  if (ms < 8 * year) return parts(ms, year, 'y', day, 'd')
  return `${Math.floor(ms / year)}y`
}
