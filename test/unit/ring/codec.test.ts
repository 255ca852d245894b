import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packMessage, unpackMessage } from '../../../src/ring/codec.js'

function roundTrip(message: unknown): unknown {
  const packed = packMessage(message)
  return unpackMessage(packed, 0, packed.length)
}

const reference = { t: 'listed', stamp: 1.5, pod: { uid: 'u', namespace: 'n', name: 'p' }, listed: [] }

describe('int64 is exact', () => {
  const nanoseconds = 1_764_599_999_123_456_789n
  test.each([
    0n,
    1n,
    -1n,
    2n ** 31n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    nanoseconds,
  ])('%d', (createdAt) => {
    expect(roundTrip({ id: 'c', createdAt })).toEqual({ id: 'c', createdAt })
  })

  test('any bigint stays a bigint and any number a number', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.double(),
        fc.maxSafeInteger(),
        (big, double, integer) => {
          // Zero has one sign here; no stamp or count has another.
          const message = { big, double: double + 0, integer }
          expect(roundTrip(message)).toEqual(message)
        },
      ),
    )
  })
})

test('shapes that no one agreed on are self-contained, hundreds in one message too, and leave the agreed ones alone', () => {
  const shapes = Array.from({ length: 300 }, (_, i) => ({
    [`label-${i}`]: 'v',
    [`nested-${i}`]: { [`deep-${i}`]: BigInt(i) },
  }))
  const before = Buffer.from(packMessage(reference))
  for (const shape of shapes) expect(roundTrip(shape)).toEqual(shape)
  expect(roundTrip(shapes)).toEqual(shapes)
  expect(Buffer.from(packMessage(reference))).toEqual(before)
  expect(roundTrip(reference)).toEqual(reference)
})

test('an agreed shape costs two bytes, not its keys', () => {
  expect(Buffer.from(packMessage(reference)).toString('latin1')).not.toContain('stamp')
})

test('what is unpacked does not change when its memory does', () => {
  const memory = new Uint8Array(new SharedArrayBuffer(256))
  const packed = packMessage(reference)
  memory.set(packed, 10)
  const message = unpackMessage(memory, 10, 10 + packed.length)
  memory.fill(0)
  packMessage({ other: 'x'.repeat(100) })
  expect(message).toEqual(reference)
})

test('any JSON-like message survives', () => {
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        tie('value'),
        { maxKeys: 5, noNullPrototype: true },
      ),
    ),
  })).value
  fc.assert(
    fc.property(value, (message) => {
      expect(roundTrip(message)).toEqual(message)
    }),
  )
})

describe('bytes that are no message', () => {
  const bad = expect.objectContaining({ name: 'RingError', code: 'RING_BAD_RECORD' })

  test.each([
    ['nothing', []],
    ['an array of 2^32 - 1', [0xdd, 0xff, 0xff, 0xff, 0xff]],
    ['arrays of 32 million in each other', Array.from({ length: 20 }, () => [0xdd, 1, 0xff, 0xff, 0xff]).flat()],
    ['a string of 2^32 - 1', [0xdb, 0xff, 0xff, 0xff, 0xff, 1]],
    ['a map of 2^32 - 1', [0xdf, 0xff, 0xff, 0xff, 0xff, 1]],
    ['an endless nesting', new Array<number>(100_000).fill(0x91)],
    ['more than one value', [1, 2]],
  ])('%s', (_, bytes) => {
    expect(() => unpackMessage(Uint8Array.from(bytes), 0, bytes.length)).toThrow(bad)
  })

  test('never anything but RING_BAD_RECORD, and never a trace in what is unpacked next', () => {
    const packed = Buffer.from(packMessage(reference))
    const noise = fc.uint8Array({ maxLength: 64 })
    // Redefines the first agreed shape, as only a foreign packer would.
    const redefined = noise.map((rest) => Uint8Array.from([0xd4, 0x72, 0x40, 0x91, 0xa1, 0x78, ...rest]))
    const cut = fc.nat(packed.length - 1).map((length) => Uint8Array.from(packed.subarray(0, length)))
    const flipped = fc
      .tuple(fc.nat(packed.length - 1), fc.nat(255))
      .map(([at, value]) => Uint8Array.from(packed).fill(value, at, at + 1))
    fc.assert(
      fc.property(fc.oneof(noise, redefined, cut, flipped), (bytes) => {
        try {
          unpackMessage(bytes, 0, bytes.length)
        } catch (error) {
          expect(error).toEqual(bad)
        }
        expect(unpackMessage(packed, 0, packed.length)).toEqual(reference)
      }),
      { numRuns: 3000 },
    )
  })
})
