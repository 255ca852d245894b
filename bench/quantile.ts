/** The q-quantile (nearest rank) of values in any order; NaN where there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] ?? Number.NaN
}

export const median = (values: readonly number[]) => quantile(values, 0.5)
