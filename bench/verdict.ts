import { Random } from '../src/sim/random.js'
import { median } from './quantile.js'

/** Fewer samples than this say nothing about how far they scatter. */
export const leastSamples = 5
const resamples = 2000
const level = 0.95
/** Differences below this are nobody's concern, however sure. */
const concern = 0.02

export interface Verdict {
  readonly verdict: 'faster' | 'slower' | 'within noise' | 'too few rounds'
  /** Median after over median before, and the interval in which it lies with 95 %. */
  readonly ratio: number
  readonly low: number
  readonly high: number
}

/**
 * Whether `after` costs more than `before`: the percentile bootstrap of the ratio of their medians. A difference counts
 * when the whole interval lies on one side of 1. The same samples always give the same verdict.
 */
export function judge(before: readonly number[], after: readonly number[]): Verdict {
  const ratio = median(after) / median(before)
  if (before.length < leastSamples || after.length < leastSamples) {
    return { verdict: 'too few rounds', ratio, low: Number.NaN, high: Number.NaN }
  }
  const random = new Random(1, 0)
  const drawn = (values: readonly number[]) => median(values.map(() => random.pick(values)))
  const ratios = Array.from({ length: resamples }, () => drawn(after) / drawn(before)).sort((a, b) => a - b)
  const low = ratios[Math.floor((resamples * (1 - level)) / 2)]!
  const high = ratios[Math.ceil((resamples * (1 + level)) / 2) - 1]!
  if (low > 1 + concern) return { verdict: 'slower', ratio, low, high }
  if (high < 1 - concern) return { verdict: 'faster', ratio, low, high }
  return { verdict: 'within noise', ratio, low, high }
}
