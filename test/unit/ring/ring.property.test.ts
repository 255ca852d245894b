import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRing, RingReader, RingWriter } from '../../../src/ring/ring.js'

type Step =
  | { do: 'write'; length: number }
  | { do: 'reserve'; length: number }
  | { do: 'flush' }
  | { do: 'read'; max: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('write' as const), length: fc.nat(60) }),
  fc.record({ do: fc.constant('reserve' as const), length: fc.nat(60) }),
  fc.record({ do: fc.constant('flush' as const) }),
  fc.record({ do: fc.constant('read' as const), max: fc.nat(6) }),
)

test('a ring is a bounded queue, wherever its cursors start', () => {
  fc.assert(
    fc.property(fc.integer({ min: -64, max: 64 }), fc.array(step, { maxLength: 300 }), (start, steps) => {
      const memory = createRing(128)
      const words = new Int32Array(memory)
      words[0] = start * 4
      words[16] = start * 4
      const writer = new RingWriter(memory)
      const reader = new RingReader(memory)
      const unpublished: string[] = []
      const published: string[] = []
      let serial = 0
      for (const one of steps) {
        const taken = reader.used()
        if (one.do === 'write') {
          const record = Buffer.alloc(one.length, ++serial)
          const free = writer.free()
          if (writer.write(record, 0, record.length)) unpublished.push(record.toString('hex'))
          else {
            // Full means: not even without the padding that a wrap costs.
            expect(free).toBeLessThan(2 * (4 + one.length + 3))
            expect(reader.used()).toBe(taken)
          }
        } else if (one.do === 'reserve') {
          writer.reserve(one.length)
        } else if (one.do === 'flush') {
          writer.flush()
          published.push(...unpublished.splice(0))
        } else {
          const got: string[] = []
          const count = reader.read(
            (bytes, from, to) => got.push(Buffer.from(bytes.subarray(from, to)).toString('hex')),
            one.max,
          )
          expect(got).toEqual(published.splice(0, one.max))
          expect(count).toBe(got.length)
        }
        expect(reader.used() + writer.free()).toBeLessThanOrEqual(128)
      }
      writer.flush()
      published.push(...unpublished)
      const rest: string[] = []
      reader.read(
        (bytes, from, to) => rest.push(Buffer.from(bytes.subarray(from, to)).toString('hex')),
        Number.POSITIVE_INFINITY,
      )
      expect(rest).toEqual(published)
      expect([reader.used(), writer.free()]).toEqual([0, 128])
    }),
    { numRuns: 500 },
  )
})

test('random memory never makes the reader hang or leave the ring', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
      fc.array(fc.constantFrom(-1, -2, 0, 4, 60, 2 ** 31 - 1), { minLength: 16, maxLength: 16 }),
      fc.boolean(),
      fc.integer(),
      fc.integer(),
      (noise, lengths, likely, published, taken) => {
        const memory = createRing(64)
        const words = new Int32Array(memory)
        if (likely) words.set(lengths, 32)
        else new Uint8Array(memory, 128).set(noise)
        words[0] = published
        words[16] = taken
        try {
          new RingReader(memory).read((bytes, start, end) => {
            expect(start).toBeLessThanOrEqual(end)
            expect(end).toBeLessThanOrEqual(bytes.length)
          }, Number.POSITIVE_INFINITY)
        } catch (error) {
          expect(error).toMatchObject({ code: 'RING_CORRUPT' })
        }
      },
    ),
    { numRuns: 2000 },
  )
})
