import { CriError } from '../../../../../src/cri/errors.js'
import { Channel } from '../../../../../src/cri/h2/channel.js'
import type { ResponseConsumer } from '../../../../../src/cri/h2/exchange.js'
import { requestHead } from '../../../../../src/cri/h2/requestHead.js'
import type { CallOptions } from '../../../../../src/cri/runtime.js'
import { FakeClock } from '../../../../support/fakeClock.js'
import { message } from './wire.js'

/** Keeps all that it is fed; `step` leaves what is no whole multiple of it, as a scanner leaves half a record. */
export class Collector implements ResponseConsumer {
  readonly #chunks: Buffer[] = []
  readonly #step: number
  finished = false
  congested?: () => Promise<void> | undefined

  constructor(step = 1) {
    this.#step = step
  }

  feed(buf: Buffer, start: number, end: number): number {
    const consumed = Math.floor((end - start) / this.#step) * this.#step
    this.#chunks.push(Buffer.from(buf.subarray(start, start + consumed)))
    return consumed
  }

  finish(): void {
    this.finished = true
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

export interface CallSpec extends CallOptions {
  readonly call?: string
  readonly payload?: Uint8Array
  readonly consumer?: ResponseConsumer | undefined
}

/** A channel and what a test says to it. */
export class TestClient {
  readonly clock = new FakeClock()
  readonly socketPath: string
  readonly channel: Channel

  constructor(socketPath: string) {
    this.socketPath = socketPath
    this.channel = new Channel(socketPath, this.clock)
  }

  call(spec: CallSpec = {}): Promise<void> {
    const { call = 'ListContainers', payload = new Uint8Array(), consumer = new Collector(), ...options } = spec
    const request = { call, head: requestHead(call), body: message(payload) }
    return this.channel.call(request, consumer, { deadlineMs: 120_000, ...options })
  }

  failure(spec: CallSpec = {}): Promise<CriError> {
    return criErrorOf(this.call(spec))
  }
}

/** The CriError that a call fails with; throws where it doesn't. */
export async function criErrorOf(call: Promise<unknown>): Promise<CriError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof CriError) return outcome
  throw new Error(`not a CriError: ${String(outcome)}`)
}
