import type { Doorbell } from '../../../src/ring/doorbell.js'
import type { RingReader, RingWriter } from '../../../src/ring/ring.js'

/** A wait that nobody ends in time shows as a test that runs out of its own. */
export const never = 2 ** 30

/** What both ends know of a stream: record `n` has this length, and bytes that follow from `n` and the seed. */
function lengthOf(seed: number, n: number): number {
  return (Math.imul(n + 1, seed) >>> 8) % ((n & 1023) === 0 ? 2000 : 120)
}

function byteOf(seed: number, n: number, i: number): number {
  return (seed + n * 31 + i * 7) & 0xff
}

export interface Exchange {
  readonly writer: RingWriter
  readonly reader: RingReader
  /** This thread's. */
  readonly bell: Doorbell
  readonly records: number
  readonly writeSeed: number
  readonly readSeed: number
}

/** Writes one stream while it reads and checks the other; returns the first difference, or ''. */
export async function exchange({ writer, reader, bell, records, writeSeed, readSeed }: Exchange): Promise<string> {
  let written = 0
  let read = 0
  let wrong = ''
  const check = (bytes: Uint8Array, start: number, end: number) => {
    const n = read++
    if (end - start !== lengthOf(readSeed, n))
      wrong ||= `record ${n}: ${end - start} bytes, not ${lengthOf(readSeed, n)}`
    for (let i = start; i < end; i++)
      if (bytes[i] !== byteOf(readSeed, n, i - start)) wrong ||= `record ${n}: byte ${i - start}`
  }
  const writeSome = () => {
    const from = written
    for (; written < records && written < from + 64; written++) {
      const length = lengthOf(writeSeed, written)
      const offset = writer.reserve(length)
      if (offset < 0) break
      for (let i = 0; i < length; i++) writer.bytes[offset + i] = byteOf(writeSeed, written, i)
      writer.commit()
    }
    writer.flush()
    return written - from
  }
  while (written < records || read < records) {
    const moved = writeSome() + reader.read(check, 100)
    if (wrong !== '') return wrong
    if (moved === 0) await bell.wait(never)
  }
  return wrong
}
