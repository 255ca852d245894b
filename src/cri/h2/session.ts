import { CriError, GrpcCode } from '../errors.js'
import type { Exchange, ExchangeOwner } from './exchange.js'
import type { FrameMeaning } from './frameDecoder.js'
import { H2Error, MAX_STREAM_ID, MAX_WINDOW, ProtocolFault } from './frames.js'
import type { FrameWriter } from './frameWriter.js'
import { PeerSettings } from './peerSettings.js'
import { RequestSender } from './requestSender.js'
import { HeaderMemo } from './response.js'

/** How much may be received before the peer is given as much again: half of the window. */
const TOP_UP = MAX_WINDOW >>> 1
const MOST_WAITING = 4096

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
export class Session implements FrameMeaning, ExchangeOwner {
  readonly #writer: FrameWriter
  readonly #events: SessionEvents
  readonly #peer = new PeerSettings()
  readonly #sender: RequestSender
  readonly #streams = new Map<number, Exchange>()
  /** Calls without a stream: before the peer's SETTINGS, or over its MAX_CONCURRENT_STREAMS. First in, first out. */
  readonly #waiting = new Set<Exchange>()
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

  start(exchange: Exchange): void {
    exchange.owner = this
    exchange.attempts++
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

  dataStart(streamId: number, length: number): void {
    this.#checkOurs(streamId)
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

  data(streamId: number, buf: Buffer, start: number, end: number): void {
    this.#streams.get(streamId)?.onData(buf, start, end)
  }

  dataEndsStream(streamId: number): void {
    this.#streams.get(streamId)?.onEndOfData()
  }

  headerBlock(streamId: number, endStream: boolean, buf: Buffer, start: number, end: number): void {
    this.#checkOurs(streamId)
    const exchange = this.#streams.get(streamId)
    // Of a call that was given up meanwhile. No need to decode it: there is no dynamic table to keep in step.
    if (exchange === undefined) return
    const memo = exchange.phase === 'answering' ? this.#trailers : this.#heads
    exchange.onHeaders(memo.decode(buf, start, end), endStream)
  }

  reset(streamId: number, h2Code: number): void {
    this.#checkOurs(streamId)
    this.#streams.get(streamId)?.onReset(h2Code)
  }

  settings(buf: Buffer, start: number, end: number): void {
    const windowChange = this.#peer.apply(buf, start, end)
    this.#writer.settingsAck()
    if (windowChange !== 0) for (const exchange of this.#streams.values()) this.#openWindow(exchange, windowChange)
    if (this.#state === 'handshake') {
      this.#state = 'open'
      this.#events.ready()
    }
    this.#startWaiting()
  }

  ping(buf: Buffer, start: number, end: number): void {
    this.#writer.pingAck(buf, start, end)
  }

  windowUpdate(streamId: number, increment: number): void {
    if (streamId === 0) {
      if (increment === 0) fault('a window update of 0')
      this.#sender.openConnection(increment)
      return
    }
    this.#checkOurs(streamId)
    const exchange = this.#streams.get(streamId)
    if (exchange === undefined) return
    if (increment === 0) fail(exchange, GrpcCode.INTERNAL, 'the runtime sent a window update of 0')
    else this.#openWindow(exchange, increment)
  }

  /** Streams up to `lastId` may finish; the rest was not processed, and is handed back. */
  goAway(lastId: number, why: string): void {
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

  #startWaiting(): void {
    if (this.#state !== 'open') return
    for (const exchange of this.#waiting) {
      if (this.#streams.size >= this.#peer.maxConcurrentStreams) return
      if (this.#nextId > MAX_STREAM_ID) {
        this.goAway(MAX_STREAM_ID, 'its stream ids are used up')
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
    exchange.phase = 'sent'
    this.#streams.set(exchange.streamId, exchange)
    this.#writer.headers(exchange.streamId, exchange.request.head, exchange.remainingMs())
    this.#sender.send(exchange)
  }

  #openWindow(exchange: Exchange, increment: number): void {
    if (!this.#sender.openStream(exchange, increment)) {
      fail(exchange, GrpcCode.INTERNAL, 'the runtime overflowed the window')
    }
  }

  #checkDrained(): void {
    if (this.#state === 'draining' && this.#streams.size === 0) this.#events.drained()
  }

  /** A stream that we never opened can't have frames, nor can one of the server's. */
  #checkOurs(streamId: number): void {
    if (streamId % 2 === 0 || streamId >= this.#nextId) fault(`a frame for stream ${streamId}, which is not ours`)
  }
}

function fault(message: string): never {
  throw new ProtocolFault(H2Error.PROTOCOL_ERROR, message)
}

function fail(exchange: Exchange, grpcCode: number, details: string): void {
  exchange.fail(new CriError(exchange.request.call, grpcCode, details))
}
