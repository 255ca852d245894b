import { describe, expect, test } from 'vitest'
import { createDoorbell, Doorbell } from '../../../src/ring/doorbell.js'
import { createRing, RingReader, RingWriter } from '../../../src/ring/ring.js'

const bytesOf = (...values: number[]) => Uint8Array.from(values)

function readAll(reader: RingReader, max = Number.POSITIVE_INFINITY): number[][] {
  const records: number[][] = []
  reader.read((bytes, start, end) => records.push([...bytes.subarray(start, end)]), max)
  return records
}

/** Cursors stand at bytes 0 and 64; see the layout in src/ring/ring.ts. */
function setCursors(memory: SharedArrayBuffer, published: number, taken = published): void {
  const words = new Int32Array(memory)
  words[0] = published
  words[16] = taken
}

describe('visibility', () => {
  test('nothing is seen before the flush, and then everything at once', () => {
    const memory = createRing(64)
    const writer = new RingWriter(memory)
    const reader = new RingReader(memory)
    expect(writer.write(bytesOf(1, 2, 3), 0, 3)).toBe(true)
    expect(writer.write(bytesOf(9, 4, 9), 1, 2)).toBe(true)
    expect([readAll(reader), reader.used()]).toEqual([[], 0])
    writer.flush()
    expect(reader.used()).toBe(16)
    expect(readAll(reader)).toEqual([[1, 2, 3], [4]])
    expect([reader.used(), writer.free()]).toEqual([0, 64])
  })

  test('a reservation that is not committed never was', () => {
    const memory = createRing(64)
    const writer = new RingWriter(memory)
    const reader = new RingReader(memory)
    writer.bytes[writer.reserve(8)] = 7
    const offset = writer.reserve(1)
    writer.bytes[offset] = 5
    writer.commit()
    writer.flush()
    expect(readAll(reader)).toEqual([[5]])
  })

  test('the reader stops at the given number of records', () => {
    const memory = createRing(64)
    const writer = new RingWriter(memory)
    for (const value of [1, 2, 3]) writer.write(bytesOf(value), 0, 1)
    writer.flush()
    const reader = new RingReader(memory)
    expect(readAll(reader, 2)).toEqual([[1], [2]])
    expect(readAll(reader, 2)).toEqual([[3]])
  })

  test('an end that is made later goes on where the other one stopped', () => {
    const memory = createRing(64)
    const first = new RingWriter(memory)
    first.write(bytesOf(1), 0, 1)
    first.flush()
    const second = new RingWriter(memory)
    second.write(bytesOf(2), 0, 1)
    second.flush()
    expect(readAll(new RingReader(memory), 1)).toEqual([[1]])
    expect(readAll(new RingReader(memory))).toEqual([[2]])
  })
})

describe('room', () => {
  test('capacity is the next power of two', () => {
    expect(new RingWriter(createRing(1000)).capacity).toBe(1024)
    expect(new RingWriter(createRing(1024)).capacity).toBe(1024)
    expect(new RingWriter(createRing(1)).capacity).toBe(64)
  })

  test('a full ring takes nothing, and takes again when something was read', () => {
    const memory = createRing(64)
    const writer = new RingWriter(memory)
    const reader = new RingReader(memory)
    const record = new Uint8Array(12).fill(3)
    for (let i = 0; i < 4; i++) expect(writer.write(record, 0, 12)).toBe(true)
    expect([writer.write(record, 0, 0), writer.reserve(0), writer.free()]).toEqual([false, -1, 0])
    writer.flush()
    expect(reader.used()).toBe(64)
    expect(readAll(reader, 1)).toHaveLength(1)
    expect(writer.write(record, 0, 12)).toBe(true)
    writer.flush()
    expect(readAll(reader)).toHaveLength(4)
  })

  test('the longest record fits at every position of an empty ring, and one byte more fits nowhere', () => {
    for (let position = 0; position < 64; position += 4) {
      const memory = createRing(64)
      setCursors(memory, position)
      const writer = new RingWriter(memory)
      const longest = Uint8Array.from({ length: writer.maxRecord }, (_, i) => i + 1)
      expect(writer.write(longest, 0, longest.length)).toBe(true)
      writer.flush()
      expect(readAll(new RingReader(memory))).toEqual([[...longest]])
      expect(() => writer.reserve(writer.maxRecord + 1)).toThrow(
        expect.objectContaining({ code: 'RING_RECORD_TOO_LARGE', facts: { length: 29, max: 28 } }),
      )
    }
  })

  test('cursors pass 2^32 and 2^31', () => {
    for (const start of [-32, 2 ** 31 - 32]) {
      const memory = createRing(64)
      setCursors(memory, start)
      const writer = new RingWriter(memory)
      const reader = new RingReader(memory)
      for (let i = 0; i < 20; i++) {
        expect(writer.write(bytesOf(i, i, i, i, i), 0, 5)).toBe(true)
        writer.flush()
        expect(reader.used()).toBeGreaterThan(0)
        expect(readAll(reader)).toEqual([[i, i, i, i, i]])
      }
      expect([reader.used(), writer.free()]).toEqual([0, 64])
    }
  })

  test('the depth is sane when the reader moves between the two looks at the cursors', () => {
    const memory = createRing(64)
    const gauge = new RingReader(memory)
    setCursors(memory, 40, 0)
    const load = Atomics.load
    // What a second thread may do between any two loads: read all, write more, read that as well.
    Atomics.load = ((words: Int32Array, index: number) => {
      const value = load(words, index)
      setCursors(memory, load(words, 0) + 56, load(words, 0) + 48)
      return value
    }) as typeof Atomics.load
    try {
      for (let i = 0; i < 10; i++) {
        const used = gauge.used()
        expect(used).toBeGreaterThanOrEqual(0)
        expect(used).toBeLessThanOrEqual(64)
      }
    } finally {
      Atomics.load = load
    }
  })
})

describe('a visitor that throws', () => {
  test('has taken its record; the ones after it are still there', () => {
    const memory = createRing(64)
    const writer = new RingWriter(memory)
    const reader = new RingReader(memory)
    for (const value of [1, 2, 3]) writer.write(bytesOf(value), 0, 1)
    writer.flush()
    expect(() =>
      reader.read((bytes, start) => {
        if (bytes[start] === 2) throw new Error('bad record')
      }, 10),
    ).toThrow('bad record')
    expect(readAll(reader)).toEqual([[3]])
  })
})

describe('bells', () => {
  test('one flush rings once however many records it publishes, and none when there are none', async () => {
    const bell = new Doorbell(createDoorbell())
    const count = new Int32Array(bell.buffer)
    const memory = createRing(64)
    const writer = new RingWriter(memory, bell)
    writer.flush()
    expect(count[0]).toBe(0)
    for (let i = 0; i < 3; i++) writer.write(bytesOf(i), 0, 1)
    expect(count[0]).toBe(0)
    writer.flush()
    writer.flush()
    expect(count[0]).toBe(1)
  })

  test('the writer leaves a reader alone that is not through yet', () => {
    const bell = new Doorbell(createDoorbell())
    const count = new Int32Array(bell.buffer)
    const memory = createRing(64)
    const writer = new RingWriter(memory, bell)
    const reader = new RingReader(memory)
    for (let i = 0; i < 3; i++) {
      writer.write(bytesOf(i), 0, 1)
      writer.flush()
    }
    expect(count[0]).toBe(1)
    readAll(reader)
    writer.write(bytesOf(3), 0, 1)
    writer.flush()
    expect(count[0]).toBe(2)
  })

  test('the reader rings when it has made room in a ring more than half full', () => {
    const bell = new Doorbell(createDoorbell())
    const count = new Int32Array(bell.buffer)
    const memory = createRing(64)
    const writer = new RingWriter(memory)
    const reader = new RingReader(memory, bell)
    readAll(reader)
    expect(count[0]).toBe(0)
    writer.write(bytesOf(1), 0, 1)
    writer.flush()
    readAll(reader)
    expect(count[0]).toBe(0)
    for (let i = 0; i < 5; i++) writer.write(bytesOf(i), 0, 1)
    writer.flush()
    readAll(reader)
    expect(count[0]).toBe(1)
  })
})

describe('memory that someone scribbled on', () => {
  const corrupt = expect.objectContaining({ name: 'RingError', code: 'RING_CORRUPT' })

  // At offset 16 of 64 bytes, 32 published: 32 are left to the reader, 48 before the end.
  test.each([
    ['more than is published', 29],
    ['more than the ring', 1000],
    ['so much that padding overflows', 2 ** 31 - 1],
    ['negative', -2],
    ['most negative', -(2 ** 31)],
    ['a skip past what is published', -1],
  ])('a length that is %s', (_, length) => {
    const memory = createRing(64)
    setCursors(memory, 48, 16)
    new Int32Array(memory)[32 + 4] = length
    expect(() => readAll(new RingReader(memory))).toThrow(corrupt)
  })

  test('a record that would cross the end', () => {
    const memory = createRing(64)
    setCursors(memory, 48 + 60, 48)
    new Int32Array(memory)[32 + 12] = 14
    expect(() => readAll(new RingReader(memory))).toThrow(corrupt)
  })

  test('nothing but skip markers', () => {
    const memory = createRing(64)
    new Uint8Array(memory).fill(0xff)
    setCursors(memory, 60, 4)
    expect(() => readAll(new RingReader(memory))).toThrow(corrupt)
  })

  test('cursors that are further apart than the ring is long', () => {
    const memory = createRing(64)
    setCursors(memory, 0, 4)
    expect(() => readAll(new RingReader(memory))).toThrow(corrupt)
  })
})
