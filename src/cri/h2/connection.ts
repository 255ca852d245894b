import net from 'node:net'
import type { Clock } from '../../model/clock.js'
import { messageOf } from '../../model/errors.js'
import { CriError, GrpcCode } from '../errors.js'
import { HEADROOM } from './carry.js'
import type { Exchange } from './exchange.js'
import { FrameDecoder } from './frameDecoder.js'
import { FrameReader } from './frameReader.js'
import { H2Error, ProtocolFault } from './frames.js'
import { FrameWriter } from './frameWriter.js'
import { Session } from './session.js'

/** As much as one read takes. Larger gains nothing, and leaves the cache. */
const READ_SIZE = 256 * 1024
/** Bytes that the peer doesn't take any more: it hangs, or floods us with frames that ask for an answer. */
const MOST_UNSENT = 1024 * 1024
/** From connecting to the peer's SETTINGS (grpc's minimum connect timeout). */
const HANDSHAKE_MS = 20_000

export interface ConnectionEvents {
  /** The runtime answered as an HTTP/2 server does. */
  ready(): void
  /** It takes no new calls from now on, but may go on with those that it has. */
  retired(connection: Connection): void
  unprocessed(exchange: Exchange, why: string): void
  /** Gone, once. `error` is what broke it. */
  closed(connection: Connection, error: Error): void
}

/** One socket to a runtime and the session on it. Connects at once; ends for good when anything breaks it. */
export class Connection {
  readonly #events: ConnectionEvents
  readonly #socket: net.Socket
  /** Headroom, then what the socket reads into; one for the life of the connection. */
  readonly #buf = Buffer.allocUnsafeSlow(HEADROOM + READ_SIZE)
  readonly #writer: FrameWriter
  readonly #session: Session
  readonly #reader: FrameReader
  readonly #stopHandshakeTimer: () => void
  #farewell = ''
  #closed = false

  constructor(socketPath: string, clock: Clock, events: ConnectionEvents) {
    this.#events = events
    const onread = { buffer: this.#buf.subarray(HEADROOM), callback: (size: number) => this.#onRead(size) }
    this.#socket = net.connect({ path: socketPath, onread })
    this.#socket.on('error', (error) => this.#end(error))
    this.#socket.on('close', () => this.#end(new Error('the runtime closed the connection')))
    this.#writer = new FrameWriter((bytes) => this.#write(bytes))
    this.#session = new Session(this.#writer, {
      ready: () => this.#onReady(),
      draining: (why) => this.#onDraining(why),
      unprocessed: (exchange) => events.unprocessed(exchange, this.#farewell),
      drained: () => this.#end(new Error(this.#farewell)),
    })
    this.#reader = new FrameReader(new FrameDecoder(this.#session))
    this.#stopHandshakeTimer = clock.after(HANDSHAKE_MS, () => {
      this.#end(new Error(`no HTTP/2 SETTINGS within ${HANDSHAKE_MS} ms`))
    })
  }

  start(exchange: Exchange): void {
    this.#session.start(exchange)
  }

  close(error: Error): void {
    this.#end(error)
  }

  #onReady(): void {
    this.#stopHandshakeTimer()
    this.#events.ready()
  }

  #onDraining(why: string): void {
    this.#farewell = why
    this.#events.retired(this)
  }

  /** False stops reading. */
  #onRead(size: number): boolean {
    try {
      this.#reader.read(this.#buf, HEADROOM, HEADROOM + size)
    } catch (error) {
      this.#onFault(error)
      return false
    }
    this.#writer.flush()
    return !this.#closed && this.#keepReading()
  }

  #keepReading(): boolean {
    const congestion = this.#session.congestion()
    if (congestion === undefined) return true
    const { exchange, eased } = congestion
    const failure = eased.then(
      () => undefined,
      (error: unknown) => exchange.fail(error),
    )
    // A call that ends meanwhile (deadline, abort) must not keep the others waiting.
    const over = exchange.done.catch(() => undefined)
    void Promise.race([failure, over]).then(() => {
      if (!this.#closed && this.#keepReading()) this.#socket.resume()
    })
    return false
  }

  #onFault(error: unknown): void {
    const h2Code = error instanceof ProtocolFault ? error.h2Code : H2Error.INTERNAL_ERROR
    this.#writer.goAway(h2Code)
    this.#writer.flush()
    this.#end(error instanceof Error ? error : new Error(messageOf(error)))
  }

  #write(bytes: Buffer): void {
    if (this.#closed) return
    this.#socket.write(bytes)
    if (this.#socket.writableLength > MOST_UNSENT) this.#end(new Error('the runtime does not read what it is sent'))
  }

  #end(error: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.#stopHandshakeTimer()
    this.#socket.destroy()
    const said = this.#farewell === '' ? messageOf(error) : this.#farewell
    this.#session.close((call) => new CriError(call, GrpcCode.UNAVAILABLE, said, {}, { cause: error }))
    this.#events.closed(this, error)
  }
}
