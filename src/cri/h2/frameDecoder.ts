import type { FrameHandler } from './frameReader.js'
import { Flag, FrameType, H2Error, h2ErrorName, ProtocolFault, readUint31, readUint32 } from './frames.js'
import { HeaderAssembly } from './headerAssembly.js'

/** Of a GOAWAY's text. */
const LONGEST_DEBUG = 256

/** What well-formed frames mean. Stream ids aren't checked yet. */
export interface FrameMeaning {
  dataStart(streamId: number, length: number): void
  data(streamId: number, buf: Buffer, start: number, end: number): void
  /** The stream ended with DATA. */
  dataEndsStream(streamId: number): void
  /** A whole header block, still encoded. */
  headerBlock(streamId: number, endStream: boolean, buf: Buffer, start: number, end: number): void
  reset(streamId: number, h2Code: number): void
  settings(buf: Buffer, start: number, end: number): void
  ping(buf: Buffer, start: number, end: number): void
  goAway(lastId: number, why: string): void
  /** Stream 0 is the connection. */
  windowUpdate(streamId: number, increment: number): void
}

/** Checks the shape of frames (sizes, flags, order of a header block) and passes on what they mean. */
export class FrameDecoder implements FrameHandler {
  readonly #meaning: FrameMeaning
  readonly #assembly = new HeaderAssembly()
  #greeted = false

  constructor(meaning: FrameMeaning) {
    this.#meaning = meaning
  }

  frame(type: number, flags: number, streamId: number, length: number): void {
    if (!this.#greeted && (type !== FrameType.SETTINGS || (flags & Flag.ACK) !== 0)) {
      fault('the peer does not begin with SETTINGS: is it a gRPC server?')
    }
    this.#greeted = true
    const open = this.#assembly.streamId
    if (open !== 0 && (type !== FrameType.CONTINUATION || streamId !== open)) fault('a header block is interrupted')
    if (type === FrameType.DATA) this.#meaning.dataStart(streamId, length)
  }

  data(streamId: number, buf: Buffer, start: number, end: number): void {
    this.#meaning.data(streamId, buf, start, end)
  }

  dataEnd(streamId: number, flags: number): void {
    if ((flags & Flag.END_STREAM) !== 0) this.#meaning.dataEndsStream(streamId)
  }

  payload(type: number, flags: number, streamId: number, buf: Buffer, start: number, end: number): void {
    switch (type) {
      case FrameType.HEADERS:
        this.#onHeaders(flags, streamId, buf, start, end)
        break
      case FrameType.CONTINUATION:
        this.#onContinuation(flags, streamId, buf, start, end)
        break
      case FrameType.RST_STREAM:
        checkSize(type, end - start, 4)
        this.#meaning.reset(streamId, readUint32(buf, start))
        break
      case FrameType.SETTINGS:
        checkConnectionFrame(streamId)
        this.#onSettings(flags, buf, start, end)
        break
      case FrameType.PING:
        checkConnectionFrame(streamId)
        this.#onPing(flags, buf, start, end)
        break
      case FrameType.GOAWAY:
        checkConnectionFrame(streamId)
        this.#onGoAway(buf, start, end)
        break
      case FrameType.WINDOW_UPDATE:
        checkSize(type, end - start, 4)
        this.#meaning.windowUpdate(streamId, readUint31(buf, start))
        break
      case FrameType.PRIORITY:
        if (streamId === 0) fault('PRIORITY of the connection')
        checkSize(type, end - start, 5)
        break
      case FrameType.PUSH_PROMISE:
        fault('a push that we did not allow')
    }
  }

  #onHeaders(flags: number, streamId: number, buf: Buffer, start: number, end: number): void {
    let from = start
    let to = end
    if ((flags & Flag.PADDED) !== 0) {
      if (start === end) fault('a padded frame without a pad length')
      to -= buf[start]!
      from += 1
    }
    if ((flags & Flag.PRIORITY) !== 0) from += 5
    if (from > to) fault('more padding than payload')
    if ((flags & Flag.END_HEADERS) !== 0) {
      this.#meaning.headerBlock(streamId, (flags & Flag.END_STREAM) !== 0, buf, from, to)
    } else {
      this.#assembly.open(streamId, flags)
      this.#assembly.add(buf, from, to)
    }
  }

  #onContinuation(flags: number, streamId: number, buf: Buffer, start: number, end: number): void {
    const assembly = this.#assembly
    if (assembly.streamId === 0) fault('CONTINUATION of nothing')
    assembly.add(buf, start, end)
    if ((flags & Flag.END_HEADERS) === 0) return
    const { endStream } = assembly
    const block = assembly.close()
    this.#meaning.headerBlock(streamId, endStream, block, 0, block.length)
  }

  #onSettings(flags: number, buf: Buffer, start: number, end: number): void {
    if ((flags & Flag.ACK) === 0) this.#meaning.settings(buf, start, end)
    else checkSize(FrameType.SETTINGS, end - start, 0)
  }

  #onPing(flags: number, buf: Buffer, start: number, end: number): void {
    checkSize(FrameType.PING, end - start, 8)
    if ((flags & Flag.ACK) === 0) this.#meaning.ping(buf, start, end)
  }

  #onGoAway(buf: Buffer, start: number, end: number): void {
    if (end - start < 8) throw new ProtocolFault(H2Error.FRAME_SIZE_ERROR, 'a GOAWAY that is too short')
    const debug = buf.toString('utf8', start + 8, Math.min(end, start + 8 + LONGEST_DEBUG))
    const name = h2ErrorName(readUint32(buf, start + 4))
    this.#meaning.goAway(readUint31(buf, start), debug === '' ? `GOAWAY: ${name}` : `GOAWAY: ${name}: ${debug}`)
  }
}

function fault(message: string): never {
  throw new ProtocolFault(H2Error.PROTOCOL_ERROR, message)
}

function checkConnectionFrame(streamId: number): void {
  if (streamId !== 0) fault('a frame of the connection with a stream id')
}

function checkSize(type: number, size: number, expected: number): void {
  if (size !== expected) {
    throw new ProtocolFault(H2Error.FRAME_SIZE_ERROR, `a frame of type ${type} with ${size} bytes`)
  }
}
