import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatGoDuration, parseGoDuration } from '../../../src/model/duration.js'
import { UsageError } from '../../../src/model/errors.js'

describe('formatGoDuration prints what Go prints', () => {
  test.each([
    [0, '0s'],
    [0.000001, '1ns'],
    [0.0011, '1.1µs'],
    [2.2, '2.2ms'],
    [300, '300ms'],
    [1_500, '1.5s'],
    [3_300, '3.3s'],
    [60_000, '1m0s'],
    [180_000, '3m0s'],
    [185_123, '3m5.123s'],
    [226_000, '3m46s'],
    [245_001, '4m5.001s'],
    [3_600_000, '1h0m0s'],
    [18_367_001, '5h6m7.001s'],
    [480_000.000001, '8m0.000000001s'],
    [-1_500, '-1.5s'],
    [Number.POSITIVE_INFINITY, '2562047h47m16.854775807s'],
  ])('%d ms is %s', (ms, text) => expect(formatGoDuration(ms)).toBe(text))

  test('NaN is no duration', () => expect(() => formatGoDuration(Number.NaN)).toThrow(RangeError))
})

describe('parseGoDuration takes what Go takes', () => {
  test.each([
    ['0', 0],
    ['5s', 5_000],
    ['1m0s', 60_000],
    ['3m', 180_000],
    ['300ms', 300],
    ['1.5h', 5_400_000],
    ['5.s', 5_000],
    ['.5s', 500],
    ['+5s', 5_000],
    ['-2s', -2_000],
    ['10.5s4m', 250_500],
    ['2m3.4s', 123_400],
    ['12µs', 0.012],
    ['12μs', 0.012],
    ['12us', 0.012],
    ['1ns', 0.000001],
    ['9223372036854775807ns', 9_223_372_036_854.775],
  ])('%s', (text, ms) => expect(parseGoDuration(text)).toBeCloseTo(ms, 6))

  test.each(['', '3', '-', 's', '.', '.s', '1d', '3000000h', '1 s', '1m-5s', 'x', '9223372036854775808ns', '1s3'])(
    'refuses %j',
    (text) => expect(() => parseGoDuration(text)).toThrow(UsageError),
  )

  test('a missing unit is named', () => expect(() => parseGoDuration('30')).toThrow(/unit is missing/))
})

test('what is formatted parses back to the same nanosecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), (ns) => {
      expect(Math.round(parseGoDuration(formatGoDuration(ns / 1e6)) * 1e6)).toBe(ns)
    }),
  )
})
