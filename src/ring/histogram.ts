/** One histogram as counts per bucket (upper bounds in seconds), the last one beyond all bounds. */
export interface HistogramSnapshot {
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

/** kubelet `runtime_operations_duration_seconds` (v1.37): 14 buckets from 5 ms, each 2.5 times the one before. */
export const callBounds: readonly number[] = Array.from({ length: 14 }, (_, i) =>
  Number((0.005 * 2.5 ** i).toPrecision(10)),
)

/** The kubelet's PLEG buckets, with finer ones below and, past 10 s, those that a threshold of 3 minutes needs. */
export const relistBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 180,
]

/** A phase may take microseconds. */
export const phaseBounds: readonly number[] = [0.0001, 0.00025, 0.0005, ...relistBounds]

/**
 * A histogram in memory that other threads may read: sum, count, then one count per bucket. One thread writes; a reader
 * may see a sample in one number and not yet in another, which a counter's reader has to bear anyway.
 */
export class SharedHistogram {
  private readonly bounds: readonly number[]
  private readonly numbers: Float64Array

  static length(bounds: readonly number[]): number {
    return 2 + bounds.length + 1
  }

  constructor(bounds: readonly number[], numbers: Float64Array = new Float64Array(SharedHistogram.length(bounds))) {
    this.bounds = bounds
    this.numbers = numbers
  }

  observe(seconds: number): void {
    const { bounds, numbers } = this
    let bucket = 0
    while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++
    numbers[0]! += seconds
    numbers[1]!++
    numbers[2 + bucket]!++
  }

  /** Adds what another one of the same bounds has counted. */
  add(other: SharedHistogram): void {
    for (let i = 0; i < this.numbers.length; i++) this.numbers[i]! += other.numbers[i]!
  }

  snapshot(): HistogramSnapshot {
    const [sum = 0, count = 0, ...counts] = this.numbers
    return { bounds: this.bounds, counts, sum, count }
  }
}
