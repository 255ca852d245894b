import type { Clock } from '../../model/clock.js'
import { CriError, GrpcCode } from '../errors.js'
import type { CallOptions } from '../runtime.js'
import { Connection } from './connection.js'
import { Exchange, type Request, type ResponseConsumer } from './exchange.js'

const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 3_000
/** A share of the backoff, up and down, so that threads that lost their runtime together don't come back together. */
const JITTER = 0.2

/**
 * Calls over one connection at a time, made on first use and again when it broke. A call in flight on a connection that
 * breaks fails with UNAVAILABLE; after an attempt to connect that failed, calls fail at once until the backoff is over.
 */
export class Channel {
  readonly #socketPath: string
  readonly #clock: Clock
  #current: Connection | undefined
  /** Retired ones that still have calls. */
  readonly #retired = new Set<Connection>()
  #failures = 0
  #retryAt = Number.NEGATIVE_INFINITY
  #lastError = ''
  #closed = false

  constructor(socketPath: string, clock: Clock) {
    this.#socketPath = socketPath
    this.#clock = clock
  }

  /** Resolves when `consumer` finished. Rejects with CriError, or with what `consumer` threw. */
  call(request: Request, consumer: ResponseConsumer, options: CallOptions & { deadlineMs: number }): Promise<void> {
    const exchange = new Exchange(request, consumer, this.#clock, options)
    this.#dispatch(exchange)
    return exchange.done
  }

  close(): void {
    this.#closed = true
    const error = new Error('the client was closed')
    this.#current?.close(error)
    for (const connection of this.#retired) connection.close(error)
  }

  #dispatch(exchange: Exchange): void {
    if (exchange.settled) return
    const why = this.#closed ? 'the client was closed' : this.#backoffReason()
    if (why !== undefined) exchange.fail(new CriError(exchange.request.call, GrpcCode.UNAVAILABLE, why))
    else this.#usable().start(exchange)
  }

  #backoffReason(): string | undefined {
    const waiting = this.#current === undefined && this.#clock.now() < this.#retryAt
    return waiting ? this.#lastError : undefined
  }

  #usable(): Connection {
    this.#current ??= this.#connect()
    return this.#current
  }

  #connect(): Connection {
    let answered = false
    return new Connection(this.#socketPath, this.#clock, {
      ready: () => {
        answered = true
        this.#failures = 0
      },
      retired: (connection) => {
        this.#retired.add(connection)
        if (this.#current === connection) this.#current = undefined
      },
      unprocessed: (exchange, why) => this.#retry(exchange, why),
      closed: (connection, error) => {
        this.#retired.delete(connection)
        if (this.#current === connection) this.#current = undefined
        if (!answered) this.#backOff(error)
      },
    })
  }

  #retry(exchange: Exchange, why: string): void {
    if (exchange.rewind()) this.#dispatch(exchange)
    else exchange.fail(new CriError(exchange.request.call, GrpcCode.UNAVAILABLE, why))
  }

  #backOff(error: Error): void {
    const delay = Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures++, LONGEST_BACKOFF_MS)
    this.#retryAt = this.#clock.now() + delay * (1 + JITTER * (2 * Math.random() - 1))
    this.#lastError = error.message
  }
}
