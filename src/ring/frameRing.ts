import type { Doorbell } from './doorbell.js'
import type { RingReader, RingWriter } from './ring.js'

/** First byte of a ring record: the frame's type, with this bit where more of the same frame follows. */
const moreFollows = 0x80
/** How long a writer that waits for room sleeps at most before it looks again. */
const recheckMs = 100

/**
 * Typed frames of any size over a ring. A frame that is too large for one record goes in parts; parts that find the
 * ring full wait in a backlog, in order, so that nothing is lost. Whoever writes in bulk asks `congested` in between:
 * that keeps the backlog no longer than what was written between two questions.
 */
export class FrameWriter {
  private readonly ring: RingWriter
  /** The writer's own bell; the reader rings it when it has made room. */
  private readonly bell: Doorbell
  private readonly margin: number
  private backlog: { head: number; bytes: Uint8Array }[] = []
  private waiting: Promise<void> | null = null
  private closed = false

  constructor(ring: RingWriter, bell: Doorbell) {
    this.ring = ring
    this.bell = bell
    this.margin = ring.capacity >>> 2
  }

  write(type: number, src: Uint8Array, start: number, end: number): void {
    if (this.closed) return
    const maxPart = this.ring.maxRecord - 1
    let at = start
    do {
      const cut = Math.min(end, at + maxPart)
      this.part(cut < end ? type | moreFollows : type, src, at, cut)
      at = cut
    } while (at < end)
  }

  /** Makes what was written visible to the reader. Tries the backlog first; true when none is left. */
  flush(): boolean {
    let done = 0
    while (done < this.backlog.length) {
      const { head, bytes } = this.backlog[done]!
      if (!this.put(head, bytes, 0, bytes.length)) break
      done++
    }
    if (done > 0) this.backlog.splice(0, done)
    this.ring.flush()
    return this.backlog.length === 0
  }

  /** A promise while less than a quarter of the ring is free; it resolves when that has changed, or at `close`. */
  congested(): Promise<void> | undefined {
    if (this.closed || (this.backlog.length === 0 && this.ring.free() >= this.margin)) return undefined
    this.waiting ??= this.waitForRoom().finally(() => {
      this.waiting = null
    })
    return this.waiting
  }

  /** The reader is gone: drops everything. */
  close(): void {
    this.closed = true
    this.backlog = []
    this.bell.ring()
  }

  private async waitForRoom(): Promise<void> {
    while (!this.closed && !(this.flush() && this.ring.free() >= this.margin)) await this.bell.wait(recheckMs)
  }

  private part(head: number, src: Uint8Array, start: number, end: number): void {
    if (this.backlog.length > 0 || !this.put(head, src, start, end)) {
      // Not slice(), which for a Buffer is a view on memory that its owner uses again.
      this.backlog.push({ head, bytes: new Uint8Array(src.subarray(start, end)) })
    }
  }

  private put(head: number, src: Uint8Array, start: number, end: number): boolean {
    const offset = this.ring.reserve(1 + end - start)
    if (offset < 0) return false
    const { bytes } = this.ring
    bytes[offset] = head
    // A view on a short frame costs more than its bytes (bench: ring/frame).
    if (end - start < 64) for (let i = start; i < end; i++) bytes[offset + 1 + i - start] = src[i]!
    else bytes.set(src.subarray(start, end), offset + 1)
    this.ring.commit()
    return true
  }
}

export type FrameVisitor = (type: number, bytes: Uint8Array, start: number, end: number) => void

/** Reads what a FrameWriter wrote. Whole frames are visited where they lie, in shared memory. */
export class FrameReader {
  private readonly ring: RingReader
  private parts: Uint8Array[] = []

  constructor(ring: RingReader) {
    this.ring = ring
  }

  /** Visits up to `max` records; returns how many there were. The visitor copies what it keeps. */
  read(visit: FrameVisitor, max: number): number {
    return this.ring.read((bytes, start, end) => {
      const head = bytes[start]!
      if ((head & moreFollows) !== 0) {
        this.parts.push(bytes.slice(start + 1, end))
        return
      }
      if (this.parts.length === 0) return visit(head, bytes, start + 1, end)
      const whole = Buffer.concat([...this.parts, bytes.subarray(start + 1, end)])
      this.parts = []
      visit(head, whole, 0, whole.length)
    }, max)
  }
}
