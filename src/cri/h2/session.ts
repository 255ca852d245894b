import { CriError, GrpcCode } from '../errors.js'
import type { Exchange, ExchangeOwner } from './exchange.js'
import type { FrameHandler } from './frameReader.js'
import {
  Flag,
  FrameType,
  H2Error,
  h2ErrorName,
  MAX_STREAM_ID,
  MAX_WINDOW,
  ProtocolFault,
  readUint31,
  readUint32,
} from './frames.js'
import type { FrameWriter } from './frameWriter.js'
import { HeaderAssembly } from './headerAssembly.js'
import { PeerSettings } from './peerSettings.js'
import { RequestSender } from './requestSender.js'
import { HeaderMemo } from './response.js'

/** How much may be received before the peer is given as much again: half of the window. */
const TOP_UP = MAX_WINDOW >>> 1
const MOST_WAITING = 4096
/** Of a GOAWAY's text. */
const LONGEST_DEBUG = 256

/** `handshake` until the peer's SETTINGS came; `draining` takes no new calls; `closed` does nothing any more. */
type State = 'handshake' | 'open' | 'draining' | 'closed'

export interface SessionEvents {
  ready(): void
  /** The peer, or the end of stream ids, allows no new calls: `why`, for people. */
  draining(why: string): void
  /** The peer never processed it, and it isn't this session's any more. */
  unprocessed(exchange: Exchange): void
  /** Nothing is left to be done on a draining session. */
  drained(): void
}

/** One HTTP/2 connection's protocol, client side, without its socket: streams, settings, windows (RFC 9113). */
export class Session implements FrameHandler, ExchangeOwner {
  readonly #writer: FrameWriter
  readonly #events: SessionEvents
  readonly #peer = new PeerSettings()
  readonly #sender: RequestSender
  readonly #streams = new Map<number, Exchange>()
  /** Calls without a stream: before the peer's SETTINGS, or over its MAX_CONCURRENT_STREAMS. First in, first out. */
  readonly #waiting = new Set<Exchange>()
  readonly #assembly = new HeaderAssembly()
  readonly #heads = new HeaderMemo()
  readonly #trailers = new HeaderMemo()
  #state: State = 'handshake'
  #nextId = 1
  #received = 0

  constructor(writer: FrameWriter, events: SessionEvents) {
    this.#writer = writer
    this.#events = events
    this.#sender = new RequestSender(writer, this.#peer)
    writer.hello()
  }

  get usable(): boolean {
    return this.#state === 'handshake' || this.#state === 'open'
  }

  start(exchange: Exchange): void {
    exchange.owner = this
    if (this.#waiting.size < MOST_WAITING) {
      this.#waiting.add(exchange)
      this.#startWaiting()
    } else fail(exchange, GrpcCode.RESOURCE_EXHAUSTED, `${MOST_WAITING} calls already wait for the runtime`)
  }

  /** What the first exchange with a full sink waits for. */
  congestion(): { exchange: Exchange; eased: Promise<void> } | undefined {
    for (const exchange of this.#streams.values()) {
      const eased = exchange.congested()
      if (eased) return { exchange, eased }
    }
    return undefined
  }

  /** A settled exchange leaves; what the peer still does for it is stopped. */
  release(exchange: Exchange): void {
    if (this.#waiting.delete(exchange) || !this.#streams.delete(exchange.streamId)) return
    this.#sender.forget(exchange)
    if (!exchange.remoteClosed || exchange.bodyLeft > 0) this.#writer.reset(exchange.streamId, H2Error.CANCEL)
    if (this.#state === 'open') this.#startWaiting()
    this.#checkDrained()
  }

  /** Fails every call. `errorFor` makes each its own error. */
  close(errorFor: (call: string) => CriError): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    const exchanges = [...this.#streams.values(), ...this.#waiting]
    this.#streams.clear()
    this.#waiting.clear()
    for (const exchange of exchanges) exchange.fail(errorFor(exchange.request.call))
  }

  frame(type: number, flags: number, streamId: number, length: number): void {
    if (this.#state === 'handshake' && (type !== FrameType.SETTINGS || (flags & Flag.ACK) !== 0)) {
      fault('the peer does not begin with SETTINGS: is it a gRPC server?')
    }
    const open = this.#assembly.streamId
    if (open !== 0 && (type !== FrameType.CONTINUATION || streamId !== open)) fault('a header block is interrupted')
    if (type === FrameType.DATA) this.#countData(streamId, length)
  }

  data(streamId: number, buf: Buffer, start: number, end: number): void {
    this.#streams.get(streamId)?.onData(buf, start, end)
  }

  dataEnd(streamId: number, flags: number): void {
    if ((flags & Flag.END_STREAM) !== 0) this.#streams.get(streamId)?.onEndOfData()
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
        this.#onReset(streamId, buf, start, end)
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
        this.#onWindowUpdate(streamId, buf, start, end)
        break
      case FrameType.PRIORITY:
        if (streamId === 0) fault('PRIORITY of the connection')
        checkSize(type, end - start, 5)
        break
      case FrameType.PUSH_PROMISE:
        fault('a push that we did not allow')
    }
  }

  #startWaiting(): void {
    if (this.#state !== 'open') return
    for (const exchange of this.#waiting) {
      if (this.#streams.size >= this.#peer.maxConcurrentStreams) return
      if (this.#nextId > MAX_STREAM_ID) {
        this.#drain(MAX_STREAM_ID, 'its stream ids are used up')
        return
      }
      this.#waiting.delete(exchange)
      this.#open(exchange)
    }
  }

  #open(exchange: Exchange): void {
    exchange.streamId = this.#nextId
    this.#nextId += 2
    exchange.received = 0
    exchange.attempts++
    exchange.phase = 'sent'
    this.#streams.set(exchange.streamId, exchange)
    this.#writer.headers(exchange.streamId, exchange.request.head, exchange.remainingMs())
    this.#sender.send(exchange)
  }

  #countData(streamId: number, length: number): void {
    this.#checkNotIdle(streamId)
    this.#received += length
    if (this.#received > TOP_UP) {
      this.#writer.windowUpdate(0, this.#received)
      this.#received = 0
    }
    const exchange = this.#streams.get(streamId)
    if (exchange === undefined) return
    exchange.received += length
    if (exchange.received > TOP_UP) {
      this.#writer.windowUpdate(streamId, exchange.received)
      exchange.received = 0
    }
  }

  #onHeaders(flags: number, streamId: number, buf: Buffer, start: number, end: number): void {
    this.#checkNotIdle(streamId)
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
      this.#onHeaderBlock(streamId, (flags & Flag.END_STREAM) !== 0, buf, from, to)
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
    this.#onHeaderBlock(streamId, endStream, block, 0, block.length)
  }

  #onHeaderBlock(streamId: number, endStream: boolean, buf: Buffer, start: number, end: number): void {
    const exchange = this.#streams.get(streamId)
    // Of a call that was given up meanwhile. No need to decode it: there is no dynamic table to keep in step.
    if (exchange === undefined) return
    const memo = exchange.phase === 'answering' ? this.#trailers : this.#heads
    exchange.onHeaders(memo.decode(buf, start, end), endStream)
  }

  #onSettings(flags: number, buf: Buffer, start: number, end: number): void {
    if ((flags & Flag.ACK) !== 0) {
      checkSize(FrameType.SETTINGS, end - start, 0)
      return
    }
    const windowChange = this.#peer.apply(buf, start, end)
    this.#writer.settingsAck()
    if (windowChange !== 0) for (const exchange of this.#streams.values()) this.#openWindow(exchange, windowChange)
    if (this.#state === 'handshake') {
      this.#state = 'open'
      this.#events.ready()
    }
    this.#startWaiting()
  }

  #onPing(flags: number, buf: Buffer, start: number, end: number): void {
    checkSize(FrameType.PING, end - start, 8)
    if ((flags & Flag.ACK) === 0) this.#writer.pingAck(buf, start, end)
  }

  #onReset(streamId: number, buf: Buffer, start: number, end: number): void {
    checkSize(FrameType.RST_STREAM, end - start, 4)
    this.#checkNotIdle(streamId)
    this.#streams.get(streamId)?.onReset(readUint32(buf, start))
  }

  #onWindowUpdate(streamId: number, buf: Buffer, start: number, end: number): void {
    checkSize(FrameType.WINDOW_UPDATE, end - start, 4)
    const increment = readUint31(buf, start)
    if (streamId === 0) {
      if (increment === 0) fault('a window update of 0')
      this.#sender.openConnection(increment)
      return
    }
    this.#checkNotIdle(streamId)
    const exchange = this.#streams.get(streamId)
    if (exchange === undefined) return
    if (increment === 0) fail(exchange, GrpcCode.INTERNAL, 'the runtime sent a window update of 0')
    else this.#openWindow(exchange, increment)
  }

  #openWindow(exchange: Exchange, increment: number): void {
    if (!this.#sender.openStream(exchange, increment)) {
      fail(exchange, GrpcCode.INTERNAL, 'the runtime overflowed the window')
    }
  }

  #onGoAway(buf: Buffer, start: number, end: number): void {
    if (end - start < 8) throw new ProtocolFault(H2Error.FRAME_SIZE_ERROR, 'a GOAWAY that is too short')
    const debug = buf.toString('utf8', start + 8, Math.min(end, start + 8 + LONGEST_DEBUG))
    const name = h2ErrorName(readUint32(buf, start + 4))
    this.#drain(readUint31(buf, start), debug === '' ? `GOAWAY: ${name}` : `GOAWAY: ${name}: ${debug}`)
  }

  /** Streams up to `lastId` may finish; the rest was not processed, and is handed back. */
  #drain(lastId: number, why: string): void {
    this.#state = 'draining'
    this.#events.draining(why)
    const unprocessed = [...this.#streams.values()].filter((exchange) => exchange.streamId > lastId)
    unprocessed.push(...this.#waiting)
    this.#waiting.clear()
    for (const exchange of unprocessed) {
      this.#streams.delete(exchange.streamId)
      this.#sender.forget(exchange)
      this.#events.unprocessed(exchange)
    }
    this.#checkDrained()
  }

  #checkDrained(): void {
    if (this.#state === 'draining' && this.#streams.size === 0) this.#events.drained()
  }

  /** A stream that we never opened can't have frames, nor can one of the server's. */
  #checkNotIdle(streamId: number): void {
    if (streamId % 2 === 0 || streamId >= this.#nextId) fault(`a frame for stream ${streamId}, which is not ours`)
  }
}

function fault(message: string): never {
  throw new ProtocolFault(H2Error.PROTOCOL_ERROR, message)
}

function fail(exchange: Exchange, grpcCode: number, details: string): void {
  exchange.fail(new CriError(exchange.request.call, grpcCode, details))
}

function checkConnectionFrame(streamId: number): void {
  if (streamId !== 0) fault('a frame of the connection with a stream id')
}

function checkSize(type: number, size: number, expected: number): void {
  if (size !== expected) {
    throw new ProtocolFault(H2Error.FRAME_SIZE_ERROR, `a frame of type ${type} with ${size} bytes`)
  }
}
