import { Flag, FRAME_HEADER, H2Error, ProtocolFault } from './frames.js'
import { MAX_HEADER_BLOCK } from './frameWriter.js'

/** Puts a header block together that CONTINUATION frames split. In use from a HEADERS frame without END_HEADERS on. */
export class HeaderAssembly {
  /** 0 while no block is open. */
  streamId = 0
  endStream = false
  readonly #parts: Buffer[] = []
  #cost = 0

  open(streamId: number, flags: number): void {
    this.streamId = streamId
    this.endStream = (flags & Flag.END_STREAM) !== 0
  }

  add(buf: Buffer, start: number, end: number): void {
    // A frame header counts too, or empty fragments could go on for ever.
    this.#cost += FRAME_HEADER + end - start
    if (this.#cost > MAX_HEADER_BLOCK) throw new ProtocolFault(H2Error.ENHANCE_YOUR_CALM, 'a header block without end')
    this.#parts.push(Buffer.from(buf.subarray(start, end)))
  }

  close(): Buffer {
    const block = Buffer.concat(this.#parts)
    this.#parts.length = 0
    this.#cost = 0
    this.streamId = 0
    return block
  }
}
