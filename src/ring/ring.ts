import { PlegdError } from '../model/errors.js'
import type { Doorbell } from './doorbell.js'

/**
 * Layout of a ring's shared memory:
 *
 *   byte 0     Int32: bytes ever published, modulo 2^32 (written by the writer)
 *   byte 64    Int32: bytes ever taken, modulo 2^32     (written by the reader)
 *   byte 128   data, a power of two
 *
 * The cursors stand on cache lines of their own. A record is a 32-bit length and its bytes, padded to 4. It never wraps:
 * where it does not fit before the end, `skip` fills the rest and the record starts at 0.
 */
const publishedAt = 0
const takenAt = 16
const headerBytes = 128
const lengthBytes = 4
const skip = -1

export type RingErrorCode = 'RING_RECORD_TOO_LARGE' | 'RING_CORRUPT' | 'RING_BAD_RECORD'

export class RingError extends PlegdError {
  constructor(code: RingErrorCode, message: string, facts: Record<string, number> = {}) {
    super(code, message, facts)
  }
}

/** Shared memory for a ring of at least `capacity` bytes (a power of two, up to 1 GiB). */
export function createRing(capacity: number): SharedArrayBuffer {
  let size = 64
  while (size < capacity && size < 1 << 30) size *= 2
  return new SharedArrayBuffer(headerBytes + size)
}

class RingEnd {
  readonly capacity: number
  /** The data, without the cursors. */
  readonly bytes: Uint8Array
  protected readonly cursors: Int32Array
  protected readonly words: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.capacity = memory.byteLength - headerBytes
    this.cursors = new Int32Array(memory, 0, headerBytes / 4)
    this.bytes = new Uint8Array(memory, headerBytes)
    this.words = new Int32Array(memory, headerBytes)
  }

  /** Published bytes that were not taken yet, padding included. For any thread: both cursors may move meanwhile. */
  used(): number {
    // In this order: what was taken by now had been published before. More may be published since, hence the bound.
    const taken = Atomics.load(this.cursors, takenAt)
    return Math.min((Atomics.load(this.cursors, publishedAt) - taken) >>> 0, this.capacity)
  }
}

/** The one writer. Nothing is visible to the reader before `flush`, which rings its bell once for all. */
export class RingWriter extends RingEnd {
  /** Longest record, bytes. */
  readonly maxRecord: number
  private readonly bell: Doorbell | undefined
  /** Bytes ever written, modulo 2^32; ahead of the published cursor until `flush`. */
  private written: number
  private reserved = -1

  constructor(memory: SharedArrayBuffer, bell?: Doorbell) {
    super(memory)
    this.bell = bell
    this.maxRecord = this.capacity / 2 - lengthBytes
    this.written = Atomics.load(this.cursors, publishedAt)
  }

  free(): number {
    return this.capacity - ((this.written - Atomics.load(this.cursors, takenAt)) >>> 0)
  }

  /**
   * Room for a record of `length` bytes: its offset in `bytes`, or -1 where the ring is full. Fill it, then `commit`;
   * a reservation that is not committed never was.
   */
  reserve(length: number): number {
    if (length > this.maxRecord) {
      throw new RingError(
        'RING_RECORD_TOO_LARGE',
        `a record of ${length} bytes does not fit: at most ${this.maxRecord}`,
        {
          length,
          max: this.maxRecord,
        },
      )
    }
    const size = padded(length)
    const offset = this.written & (this.capacity - 1)
    const untilEnd = this.capacity - offset
    const wraps = size > untilEnd
    if (this.free() < (wraps ? untilEnd + size : size)) return -1
    if (wraps) {
      this.words[offset >>> 2] = skip
      this.written = (this.written + untilEnd) | 0
    }
    const at = this.written & (this.capacity - 1)
    this.words[at >>> 2] = length
    this.reserved = size
    return at + lengthBytes
  }

  commit(): void {
    this.written = (this.written + this.reserved) | 0
    this.reserved = -1
  }

  /** False where the ring is full: then nothing was written. */
  write(src: Uint8Array, start: number, end: number): boolean {
    const offset = this.reserve(end - start)
    if (offset < 0) return false
    this.bytes.set(src.subarray(start, end), offset)
    this.commit()
    return true
  }

  flush(): void {
    const before = Atomics.load(this.cursors, publishedAt)
    if (before === this.written) return
    Atomics.store(this.cursors, publishedAt, this.written)
    // A reader that is not through yet looks at the cursor again before it sleeps. Ordered as in Dekker's algorithm: the
    // writer publishes and then looks at what was taken, the reader takes and then looks at what was published.
    if (Atomics.load(this.cursors, takenAt) === before) this.bell?.ring()
  }
}

export type RecordVisitor = (bytes: Uint8Array, start: number, end: number) => void

/** The one reader. Visits records where they lie; their room is given back after the visit. */
export class RingReader extends RingEnd {
  /** The writer's bell, rung when room was made. */
  private readonly bell: Doorbell | undefined

  constructor(memory: SharedArrayBuffer, bell?: Doorbell) {
    super(memory)
    this.bell = bell
  }

  /** Visits at most `max` records and returns how many there were. A visitor that throws has taken its record. */
  read(visit: RecordVisitor, max: number): number {
    const published = Atomics.load(this.cursors, publishedAt)
    let taken = Atomics.load(this.cursors, takenAt)
    let count = 0
    try {
      while (taken !== published && count < max) {
        const offset = taken & (this.capacity - 1)
        const left = (published - taken) >>> 0
        const length = this.words[offset >>> 2]!
        const room = Math.min(left, this.capacity - offset)
        if (left > this.capacity || length < skip || length > room) throw corrupt(length, left)
        const size = length === skip ? this.capacity - offset : padded(length)
        if (size > room) throw corrupt(length, left)
        taken = (taken + size) | 0
        if (length === skip) continue
        count++
        visit(this.bytes, offset + lengthBytes, offset + lengthBytes + length)
      }
    } finally {
      if (taken !== Atomics.load(this.cursors, takenAt)) {
        const before = this.used()
        Atomics.store(this.cursors, takenAt, taken)
        // Only a writer that finds less than a half free ever waits for room.
        if (before > this.capacity >>> 1) this.bell?.ring()
      }
    }
    return count
  }
}

function padded(length: number): number {
  return (lengthBytes + length + 3) & ~3
}

function corrupt(length: number, left: number): RingError {
  return new RingError('RING_CORRUPT', `a record claims ${length} bytes where ${left} are published`, { length, left })
}
