import { FRAME_HEADER, writeFrameHeader } from './frames.js'

const SLAB = 32 * 1024

/**
 * Frames on their way out, serialised one behind the other into slabs, so that all frames of one turn of the event loop
 * leave in one write. A written range is never touched again: the socket may still hold it.
 */
export class Outbox {
  readonly #write: (bytes: Buffer) => void
  #slab = Buffer.allocUnsafeSlow(SLAB)
  #sent = 0
  #used = 0
  #flushPlanned = false

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write
  }

  /** The memory that `begin` returns offsets into; valid until the next `begin`. */
  get buf(): Buffer {
    return this.#slab
  }

  /** Starts a frame and returns where its payload of `length` bytes has to be written, at once. */
  begin(type: number, flags: number, streamId: number, length: number): number {
    const at = this.#reserve(FRAME_HEADER + length)
    writeFrameHeader(this.#slab, at, length, type, flags, streamId)
    return at + FRAME_HEADER
  }

  /** Bytes as they are: the connection preface. */
  raw(bytes: Buffer): void {
    const at = this.#reserve(bytes.length)
    bytes.copy(this.#slab, at)
  }

  flush = (): void => {
    this.#flushPlanned = false
    if (this.#used === this.#sent) return
    const bytes = this.#slab.subarray(this.#sent, this.#used)
    this.#sent = this.#used
    this.#write(bytes)
  }

  #reserve(bytes: number): number {
    if (this.#used + bytes > this.#slab.length) {
      this.flush()
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB, bytes))
      this.#sent = this.#used = 0
    }
    if (!this.#flushPlanned) {
      this.#flushPlanned = true
      process.nextTick(this.flush)
    }
    const at = this.#used
    this.#used += bytes
    return at
  }
}
