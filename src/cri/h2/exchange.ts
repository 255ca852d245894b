import type { Clock } from '../../model/clock.js'
import { CriError, GrpcCode } from '../errors.js'
import type { CallOptions } from '../runtime.js'
import { type ByteConsumer, Carry } from './carry.js'
import { H2Error } from './frames.js'
import { type ResponseHeaders, rejectHead, resetError, statusError } from './response.js'

/** Where a response's bytes go. Any method may throw: the call fails with that error. */
export interface ResponseConsumer extends ByteConsumer {
  /** The runtime said OK and all bytes were fed. Throws where that isn't a whole answer. */
  finish(): void
  /** See ItemSink.congested. */
  congested?(): Promise<void> | undefined
}

export interface Request {
  /** The call's name, for errors. */
  readonly call: string
  /** Its header block, without a timeout. */
  readonly head: Buffer
  /** The gRPC message with its prefix of 5 bytes. */
  readonly body: Buffer
}

/** Who has an exchange in its books, and must forget it when it is settled. */
export interface ExchangeOwner {
  release(exchange: Exchange): void
}

const MOST_ATTEMPTS = 2
/** What setTimeout can count. */
const LONGEST_TIMER_MS = 0x7fff_ffff

/** `waiting` (nothing on the wire) → `sent` → `answering` (the head was good) → `settled`, which may come at any time. */
type Phase = 'waiting' | 'sent' | 'answering' | 'settled'

/** One call, from its request to its outcome, on whichever connection serves it. */
export class Exchange {
  readonly request: Request
  readonly done: Promise<void>
  readonly deadlineMs: number
  phase: Phase = 'waiting'
  owner: ExchangeOwner | undefined

  /** What follows is the stream's, and the session's to keep. */
  streamId = 0
  /** Connections that it was given to. */
  attempts = 0
  /** May be negative: the peer can shrink the window after we used it. */
  sendWindow = 0
  /** Bytes of the body that are on the wire. */
  sent = 0
  /** Bytes that came since the window was topped up. */
  received = 0
  remoteClosed = false

  readonly #clock: Clock
  readonly #consumer: ResponseConsumer
  readonly #carry = new Carry()
  readonly #deadlineAt: number
  readonly #signal: AbortSignal | undefined
  readonly #onAbort: (() => void) | undefined
  readonly #stopTimer: () => void
  #resolve!: () => void
  #reject!: (error: unknown) => void

  constructor(
    request: Request,
    consumer: ResponseConsumer,
    clock: Clock,
    options: CallOptions & { deadlineMs: number },
  ) {
    this.request = request
    this.deadlineMs = options.deadlineMs
    this.#consumer = consumer
    this.#clock = clock
    this.#signal = options.signal
    this.#onAbort = this.#signal && (() => this.#abort())
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#deadlineAt = clock.now() + this.deadlineMs
    this.#stopTimer = clock.after(Math.min(this.deadlineMs, LONGEST_TIMER_MS), () => this.#passDeadline())
    if (this.#onAbort) this.#signal?.addEventListener('abort', this.#onAbort)
    if (this.deadlineMs <= 0) this.#passDeadline()
    else if (this.#signal?.aborted) this.#abort()
  }

  get settled(): boolean {
    return this.phase === 'settled'
  }

  get bodyLeft(): number {
    return this.request.body.length - this.sent
  }

  remainingMs(): number {
    return Math.max(1, this.#deadlineAt - this.#clock.now())
  }

  congested(): Promise<void> | undefined {
    return this.#consumer.congested?.()
  }

  /** Its connection says that it never processed it. False where that can't be, or was said before. */
  rewind(): boolean {
    if (this.phase === 'answering' || this.attempts >= MOST_ATTEMPTS) return false
    this.phase = 'waiting'
    this.owner = undefined
    this.sent = 0
    return true
  }

  onHeaders(headers: ResponseHeaders, endStream: boolean): void {
    if (endStream) this.remoteClosed = true
    if (this.phase === 'answering') this.#onTrailers(headers)
    else this.#onHead(headers)
  }

  onData(buf: Buffer, start: number, end: number): void {
    if (this.phase !== 'answering') {
      this.#failWith(GrpcCode.INTERNAL, 'the runtime sent data before a head')
      return
    }
    try {
      this.#carry.deliver(this.#consumer, buf, start, end)
    } catch (error) {
      this.fail(error)
    }
  }

  /** The stream ended with DATA: gRPC always ends with trailers. */
  onEndOfData(): void {
    this.remoteClosed = true
    this.#failWith(GrpcCode.INTERNAL, 'the runtime ended the call without a grpc-status')
  }

  onReset(h2Code: number): void {
    this.remoteClosed = true
    // The runtime keeps the same deadline, and its clock may be the faster one.
    if (h2Code === H2Error.CANCEL && this.#clock.now() >= this.#deadlineAt) this.#passDeadline()
    else this.fail(resetError(this.request.call, h2Code))
  }

  fail(error: unknown): void {
    if (this.#settle()) this.#reject(error)
  }

  #onHead(head: ResponseHeaders): void {
    const informational = head.httpStatus >= 100 && head.httpStatus < 200
    if (informational && !this.remoteClosed) return
    const { call } = this.request
    // A status of gRPC's own says more than HTTP's.
    const refused = head.grpcStatus === '' ? rejectHead(call, head) : undefined
    if (refused) this.fail(refused)
    else if (this.remoteClosed) this.#onTrailers(head)
    else this.phase = 'answering'
  }

  #onTrailers(trailers: ResponseHeaders): void {
    const error = statusError(this.request.call, trailers)
    if (!this.remoteClosed) this.#failWith(GrpcCode.INTERNAL, 'trailers that end nothing')
    else if (error) this.fail(error)
    else this.#succeed()
  }

  #succeed(): void {
    try {
      this.#consumer.finish()
      if (this.#settle()) this.#resolve()
    } catch (error) {
      this.fail(error)
    }
  }

  #failWith(grpcCode: number, details: string): void {
    this.fail(new CriError(this.request.call, grpcCode, details))
  }

  #settle(): boolean {
    if (this.settled) return false
    this.phase = 'settled'
    this.#stopTimer()
    if (this.#onAbort) this.#signal?.removeEventListener('abort', this.#onAbort)
    this.owner?.release(this)
    return true
  }

  #passDeadline(): void {
    const said = `no answer within ${this.deadlineMs} ms`
    this.fail(new CriError(this.request.call, GrpcCode.DEADLINE_EXCEEDED, said, { deadlineMs: this.deadlineMs }))
  }

  #abort(): void {
    const options = { cause: this.#signal?.reason }
    this.fail(new CriError(this.request.call, GrpcCode.CANCELLED, 'the caller gave up', {}, options))
  }
}
