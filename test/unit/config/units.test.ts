import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatBytes, parseBytes, parseRate } from '../../../src/config/units.js'
import { UsageError } from '../../../src/model/errors.js'

describe('sizes', () => {
  test.each([
    ['0', 0],
    ['16777216', 16_777_216],
    ['16Mi', 16_777_216],
    ['1.5Gi', 1_610_612_736],
    ['500k', 500_000],
    ['2M', 2_000_000],
    ['1Ki', 1_024],
  ])('%s', (text, bytes) => expect(parseBytes(text)).toBe(bytes))

  test.each(['', '-1', '16MB', '16 Mi', '1.5', '0.3Ki', 'Mi', '1e3', '99999999Gi'])('refuses %j', (text) =>
    expect(() => parseBytes(text)).toThrow(UsageError),
  )

  test('what is formatted parses back', () => {
    fc.assert(fc.property(fc.nat({ max: 2 ** 30 }), (bytes) => parseBytes(formatBytes(bytes)) === bytes))
    expect(formatBytes(16_777_216)).toBe('16Mi')
  })
})

describe('rates', () => {
  test.each([
    ['10/s', 10],
    ['0.5/s', 0.5],
    ['30/m', 0.5],
    ['36/h', 0.01],
    ['0', 0],
  ])('%s', (text, perSecond) => expect(parseRate(text)).toBeCloseTo(perSecond))

  test.each(['', '10', '10/', '/s', '-1/s', '10/d', '10 /s', 'x/s'])('refuses %j', (text) =>
    expect(() => parseRate(text)).toThrow(UsageError),
  )
})
