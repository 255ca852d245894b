export interface Point {
  readonly x: number
  readonly y: number
}

/** y = intercept + slope · x, by least squares; `r2` says how much of what y does the line explains. */
export interface Fit {
  readonly intercept: number
  readonly slope: number
  readonly r2: number
}

/** null where two different x are missing. */
export function fitLine(points: readonly Point[]): Fit | null {
  const n = points.length
  const mean = (of: (point: Point) => number) => points.reduce((sum, point) => sum + of(point), 0) / n
  const mx = mean(({ x }) => x)
  const my = mean(({ y }) => y)
  const sxx = points.reduce((sum, { x }) => sum + (x - mx) ** 2, 0)
  if (!(sxx > 0)) return null
  const slope = points.reduce((sum, { x, y }) => sum + (x - mx) * (y - my), 0) / sxx
  const intercept = my - slope * mx
  const syy = points.reduce((sum, { y }) => sum + (y - my) ** 2, 0)
  const left = points.reduce((sum, { x, y }) => sum + (y - intercept - slope * x) ** 2, 0)
  return { intercept, slope, r2: syy === 0 ? 1 : 1 - left / syy }
}

/** Where the line reaches `y`; null where it never does. */
export function crossing({ intercept, slope }: Fit, y: number): number | null {
  return slope > 0 ? Math.max(0, (y - intercept) / slope) : null
}
