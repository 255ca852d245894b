import { expect, test } from 'vitest'
import { humanDuration } from '../../../src/cli/humanDuration.js'

const s = 1_000
const m = 60 * s
const h = 60 * m
const d = 24 * h
const y = 365 * d

test.each([
  [-2 * s, '<invalid>'],
  [-2 * s + 1, '0s'],
  [0, '0s'],
  [999, '0s'],
  [s, '1s'],
  [2 * m - 1, '119s'],
  [2 * m, '2m'],
  [2 * m + s, '2m1s'],
  [9 * m + 5 * s, '9m5s'],
  [10 * m - 1, '9m59s'],
  [10 * m, '10m'],
  [3 * h - 1, '179m'],
  [3 * h, '3h'],
  [3 * h + 20 * m, '3h20m'],
  [8 * h - 1, '7h59m'],
  [8 * h, '8h'],
  [2 * d - 1, '47h'],
  [2 * d, '2d'],
  [2 * d + 4 * h, '2d4h'],
  [8 * d - 1, '7d23h'],
  [8 * d, '8d'],
  [2 * y - 1, '729d'],
  [2 * y, '2y'],
  [3 * y + 10 * d, '3y10d'],
  [8 * y - 1, '7y364d'],
  [8 * y, '8y'],
])('%d ms is %s', (ms, text) => expect(humanDuration(ms)).toBe(text))
