import { describe, expect, it } from 'vitest'
import { judge } from '../../../bench/verdict.js'
import { Random } from '../../../src/sim/random.js'

/** Times around `center`, spread by a tenth. */
function times(center: number, count: number, seed: number): number[] {
  const random = new Random(seed)
  return Array.from({ length: count }, () => center * (0.95 + random.fraction() / 10))
}

describe('the verdict of a comparison', () => {
  it('calls a third more slower and a third less faster', () => {
    expect(judge(times(10, 9, 1), times(13, 9, 2)).verdict).toBe('slower')
    expect(judge(times(10, 9, 1), times(7, 9, 2)).verdict).toBe('faster')
  })

  it('calls the same thing measured twice noise', () => {
    for (let seed = 0; seed < 20; seed++) {
      expect(judge(times(10, 9, seed), times(10, 9, seed + 100)).verdict).toBe('within noise')
    }
  })

  it('holds the interval around the ratio, and gives it again', () => {
    const verdict = judge(times(10, 9, 1), times(11, 9, 2))
    expect(verdict.low).toBeLessThanOrEqual(verdict.ratio)
    expect(verdict.high).toBeGreaterThanOrEqual(verdict.ratio)
    expect(judge(times(10, 9, 1), times(11, 9, 2))).toEqual(verdict)
  })

  it('does not judge from a handful', () => {
    expect(judge(times(10, 4, 1), times(20, 9, 2)).verdict).toBe('too few rounds')
  })

  it('does not call a sure but tiny difference', () => {
    expect(judge([10, 10, 10, 10, 10], [10.1, 10.1, 10.1, 10.1, 10.1]).verdict).toBe('within noise')
  })
})
