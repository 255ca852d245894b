import { CriError, GrpcCode } from '../errors.js'
import type { ResponseConsumer } from './exchange.js'
import { readUint32 } from './frames.js'

/** gRPC's message prefix: compressed flag, length. */
const PREFIX = 5

/** Waits for the one message of a unary answer, whole, and decodes it where it lies. */
export class UnaryConsumer<T> implements ResponseConsumer {
  readonly #call: string
  readonly #largest: number
  readonly #decode: (buf: Buffer, start: number, end: number) => T
  #answer: { readonly message: T } | undefined

  /** `largest`: bytes of a message above which it isn't taken. */
  constructor(call: string, largest: number, decode: (buf: Buffer, start: number, end: number) => T) {
    this.#call = call
    this.#largest = largest
    this.#decode = decode
  }

  feed(buf: Buffer, start: number, end: number): number {
    if (this.#answer !== undefined) this.#fail(GrpcCode.INTERNAL, 'more than one message')
    if (end - start < PREFIX) return 0
    if (buf[start] !== 0) this.#fail(GrpcCode.INTERNAL, 'a compressed message, which we did not ask for')
    const size = readUint32(buf, start + 1)
    if (size > this.#largest) {
      this.#fail(GrpcCode.RESOURCE_EXHAUSTED, `received message larger than max (${size} vs. ${this.#largest})`)
    }
    const messageEnd = start + PREFIX + size
    if (messageEnd > end) return 0
    if (messageEnd < end) this.#fail(GrpcCode.INTERNAL, 'more than one message')
    this.#answer = { message: this.#decode(buf, start + PREFIX, messageEnd) }
    return end - start
  }

  finish(): void {
    if (this.#answer === undefined) this.#fail(GrpcCode.INTERNAL, 'OK without a whole message')
  }

  /** Only after `finish`. */
  get message(): T {
    return this.#answer!.message
  }

  #fail(grpcCode: number, details: string): never {
    throw new CriError(this.#call, grpcCode, details)
  }
}
