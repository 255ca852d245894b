import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteConsumer, Carry, HEADROOM } from '../../../../src/cri/h2/carry.js'

/** Consumes whole records: a length of 4 bytes, then as many. */
class RecordConsumer implements ByteConsumer {
  readonly records: Buffer[] = []
  fedBytes = 0

  feed(buf: Buffer, start: number, end: number): number {
    this.fedBytes += end - start
    let at = start
    while (end - at >= 4 && end - at - 4 >= buf.readUInt32BE(at)) {
      const next = at + 4 + buf.readUInt32BE(at)
      this.records.push(Buffer.from(buf.subarray(at + 4, next)))
      at = next
    }
    return at - start
  }
}

function stream(records: readonly Buffer[]): Buffer {
  return Buffer.concat(
    records.flatMap((record) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(record.length)
      return [length, record]
    }),
  )
}

/** Delivers as a socket does: always into the same place of one buffer, whose rest holds rubbish. */
function deliver(carry: Carry, consumer: ByteConsumer, bytes: Buffer, chunkSizes: readonly number[]): void {
  const buf = Buffer.alloc(HEADROOM + 300_000, 0xee)
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const end = Math.min(bytes.length, at + chunkSizes[i % chunkSizes.length]!)
    bytes.copy(buf, HEADROOM, at, end)
    carry.deliver(consumer, buf, HEADROOM, HEADROOM + end - at)
    buf.fill(0xee)
    at = end
  }
}

describe('Carry', () => {
  it('gives the same records wherever reads end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 }),
        (records, chunkSizes) => {
          const consumer = new RecordConsumer()
          const carry = new Carry()
          const expected = records.map((record) => Buffer.from(record))
          deliver(carry, consumer, stream(expected), chunkSizes)
          expect(consumer.records).toEqual(expected)
          expect(carry.length).toBe(0)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('takes records far over its headroom, between small ones, without copying them again and again', () => {
    const sizes = [10, HEADROOM, 1_000_000, 20, 3 * HEADROOM, 5]
    const expected = sizes.map((size, i) => Buffer.alloc(size, i + 1))
    const consumer = new RecordConsumer()
    const carry = new Carry()
    deliver(carry, consumer, stream(expected), [16_384])
    expect(consumer.records.map((record) => record.length)).toEqual(sizes)
    expect(consumer.records.every((record, i) => record.equals(expected[i]!))).toBe(true)
    expect(carry.length).toBe(0)
  })

  it('rejoins a short tail in place and a long one elsewhere', () => {
    const seen: Buffer[] = []
    const consumer: ByteConsumer = {
      feed: (buf) => {
        seen.push(buf)
        return 0
      },
    }
    const buf = Buffer.alloc(4 * HEADROOM)
    const carry = new Carry()
    carry.deliver(consumer, buf, 0, HEADROOM)
    carry.deliver(consumer, buf, 2 * HEADROOM, 2 * HEADROOM + 1)
    expect(seen[1]).toBe(buf)
    carry.deliver(consumer, buf, 2 * HEADROOM, 2 * HEADROOM + 1)
    expect(seen[2]).not.toBe(buf)
    expect(carry.length).toBe(HEADROOM + 2)
  })

  it('falls back to its own buffer where there is no room in front', () => {
    const consumer = new RecordConsumer()
    const carry = new Carry()
    const bytes = stream([Buffer.from('hello'), Buffer.from('world')])
    for (const byte of bytes) carry.deliver(consumer, Buffer.from([byte]), 0, 1)
    expect(consumer.records.map(String)).toEqual(['hello', 'world'])
  })
})
