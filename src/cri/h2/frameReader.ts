import { Flag, FRAME_HEADER, FrameType, H2Error, MAX_FRAME, ProtocolFault, readUint31 } from './frames.js'

/** What frames come to. Any method may throw a ProtocolFault; the reader must not be fed after that. */
export interface FrameHandler {
  /** A header was read; `length` counts padding, as flow control does. */
  frame(type: number, flags: number, streamId: number, length: number): void
  /** A piece of a DATA payload, without padding, where it was read. */
  data(streamId: number, buf: Buffer, start: number, end: number): void
  /** A DATA frame is over. */
  dataEnd(streamId: number, flags: number): void
  /** The whole payload of a frame of another type; only valid during the call. */
  payload(type: number, flags: number, streamId: number, buf: Buffer, start: number, end: number): void
}

type State = 'header' | 'padLength' | 'data' | 'padding' | 'payload'

/**
 * Cuts what a socket reads into frames, wherever reads end. DATA is passed on in place and in pieces; only a header or
 * another frame's payload that two reads share is copied.
 */
export class FrameReader {
  readonly #handler: FrameHandler
  readonly #split = Buffer.allocUnsafe(MAX_FRAME)
  #splitLength = 0
  #state: State = 'header'
  #type = 0
  #flags = 0
  #streamId = 0
  /** Bytes of the payload (in state `padding`: of the padding) that are still to come. */
  #left = 0
  #padding = 0

  constructor(handler: FrameHandler) {
    this.#handler = handler
  }

  read(buf: Buffer, start: number, end: number): void {
    let at = start
    while (at < end) at = this.#step(buf, at, end)
  }

  #step(buf: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case 'header':
        return this.#readWhole(FRAME_HEADER, buf, at, end)
      case 'payload':
        return this.#readWhole(this.#left, buf, at, end)
      case 'padLength':
        this.#startData(this.#left - 1, buf[at]!)
        return at + 1
      case 'data':
        return this.#readData(buf, at, end)
      case 'padding': {
        const stop = Math.min(end, at + this.#left)
        this.#left -= stop - at
        if (this.#left === 0) this.#endData()
        return stop
      }
    }
  }

  /** A header or a payload that is handled as one: in place where this read holds it all. */
  #readWhole(size: number, buf: Buffer, at: number, end: number): number {
    if (this.#splitLength === 0 && end - at >= size) {
      this.#handleWhole(buf, at, at + size)
      return at + size
    }
    const stop = Math.min(end, at + size - this.#splitLength)
    buf.copy(this.#split, this.#splitLength, at, stop)
    this.#splitLength += stop - at
    if (this.#splitLength === size) {
      this.#splitLength = 0
      this.#handleWhole(this.#split, 0, size)
    }
    return stop
  }

  #handleWhole(buf: Buffer, start: number, end: number): void {
    if (this.#state === 'header') this.#startFrame(buf, start)
    else {
      this.#state = 'header'
      this.#handler.payload(this.#type, this.#flags, this.#streamId, buf, start, end)
    }
  }

  #startFrame(buf: Buffer, at: number): void {
    const length = (buf[at]! << 16) | (buf[at + 1]! << 8) | buf[at + 2]!
    this.#type = buf[at + 3]!
    this.#flags = buf[at + 4]!
    this.#streamId = readUint31(buf, at + 5)
    this.#left = length
    this.#handler.frame(this.#type, this.#flags, this.#streamId, length)
    if (length > MAX_FRAME) throw new ProtocolFault(H2Error.FRAME_SIZE_ERROR, `a frame of ${length} bytes`)
    if (this.#type === FrameType.DATA) {
      if ((this.#flags & Flag.PADDED) === 0) this.#startData(length, 0)
      else if (length > 0) this.#state = 'padLength'
      else throw new ProtocolFault(H2Error.FRAME_SIZE_ERROR, 'a padded frame without a pad length')
    } else if (length > 0) this.#state = 'payload'
    else this.#handler.payload(this.#type, this.#flags, this.#streamId, buf, at, at)
  }

  #startData(length: number, padding: number): void {
    if (padding > length) throw new ProtocolFault(H2Error.PROTOCOL_ERROR, 'more padding than payload')
    this.#left = length - padding
    this.#padding = padding
    if (this.#left > 0) this.#state = 'data'
    else this.#startPadding()
  }

  #readData(buf: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#left)
    this.#left -= stop - at
    this.#handler.data(this.#streamId, buf, at, stop)
    if (this.#left === 0) this.#startPadding()
    return stop
  }

  #startPadding(): void {
    this.#left = this.#padding
    if (this.#left > 0) this.#state = 'padding'
    else this.#endData()
  }

  #endData(): void {
    this.#state = 'header'
    this.#handler.dataEnd(this.#streamId, this.#flags)
  }
}
