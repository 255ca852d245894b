import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crossing, fitLine } from '../../../bench/fit.js'
import { quantile } from '../../../bench/quantile.js'

describe('the line through relist times', () => {
  it('is the line that the points lie on', () => {
    const number = fc.double({ min: -1000, max: 1000, noNaN: true })
    const xs = fc.uniqueArray(fc.integer({ min: 1, max: 100_000 }), { minLength: 2, maxLength: 10 })
    fc.assert(
      fc.property(number, number, xs, (intercept, slope, at) => {
        const fit = fitLine(at.map((x) => ({ x, y: intercept + slope * x })))!
        const size = Math.abs(intercept) + Math.abs(slope) * 100_000 + 1e-3
        for (const x of at)
          expect(fit.intercept + fit.slope * x).toBeCloseTo(intercept + slope * x, 4 - Math.log10(size))
      }),
    )
  })

  it('says how much of the scatter it explains', () => {
    const straight = fitLine([
      { x: 1, y: 2 },
      { x: 2, y: 4 },
      { x: 3, y: 6 },
    ])!
    const bent = fitLine([
      { x: 1, y: 2 },
      { x: 2, y: 9 },
      { x: 3, y: 6 },
    ])!
    expect(straight).toMatchObject({ slope: 2, r2: 1 })
    expect(straight.intercept).toBeCloseTo(0)
    expect(bent.r2).toBeCloseTo(0.3243, 3)
  })

  it('needs two different sizes', () => {
    expect(fitLine([])).toBeNull()
    expect(
      fitLine([
        { x: 5, y: 1 },
        { x: 5, y: 2 },
      ]),
    ).toBeNull()
  })

  it('crosses where it does, and not at all where it does not rise', () => {
    expect(crossing({ intercept: 10, slope: 0.1, r2: 1 }, 1000)).toBeCloseTo(9900)
    expect(crossing({ intercept: 2000, slope: 0.1, r2: 1 }, 1000)).toBe(0)
    expect(crossing({ intercept: 10, slope: 0, r2: 1 }, 1000)).toBeNull()
  })
})

describe('quantile', () => {
  it('is the nearest rank, whatever the order', () => {
    const values = [5, 1, 4, 2, 3]
    expect([0, 0.2, 0.5, 0.99, 1].map((q) => quantile(values, q))).toEqual([1, 1, 3, 5, 5])
    expect(quantile([], 0.5)).toBeNaN()
  })
})
