import type { Buffer } from 'node:buffer'
import { CriError, GrpcCode } from '../errors.js'
import { valueEnd, varintEnd, varintHigh, varintLow } from './reader.js'

/**
 * Walks the fields of one complete message. `switch (fields.tag)` over known tags; whatever isn't named there is
 * skipped, also a known field with another wire type (as Go does).
 */
export class FieldReader {
  readonly #buf: Buffer
  readonly #end: number
  readonly #call: string
  #next: number
  #at = 0
  #valueEnd = 0
  tag = 0

  constructor(buf: Buffer, start: number, end: number, call: string) {
    this.#buf = buf
    this.#next = start
    this.#end = end
    this.#call = call
  }

  /** Moves to the next field. Throws CriError INTERNAL where the bytes are no protobuf message. */
  next(): boolean {
    if (this.#next >= this.#end) return false
    const at = varintEnd(this.#buf, this.#next, this.#end)
    if (at < 0) throw this.#malformed()
    this.tag = varintLow(this.#buf, this.#next)
    const end = valueEnd(this.#buf, at, this.#end, this.tag & 7)
    const valid = this.tag >>> 3 !== 0 && varintHigh(this.#buf, this.#next) === 0
    if (!valid || end < 0 || end > this.#end) throw this.#malformed()
    this.#at = (this.tag & 7) === 2 ? varintEnd(this.#buf, at, this.#end) : at
    this.#valueEnd = end
    this.#next = end
    return true
  }

  /** Invalid UTF-8 becomes U+FFFD: one bad label must not cost a whole list. */
  string(): string {
    return this.#buf.toString('utf8', this.#at, this.#valueEnd)
  }

  uint32(): number {
    return varintLow(this.#buf, this.#at)
  }

  int32(): number {
    return varintLow(this.#buf, this.#at) | 0
  }

  int64(): bigint {
    const high = BigInt(varintHigh(this.#buf, this.#at))
    return BigInt.asIntN(64, (high << 32n) | BigInt(varintLow(this.#buf, this.#at)))
  }

  message(): FieldReader {
    return new FieldReader(this.#buf, this.#at, this.#valueEnd, this.#call)
  }

  #malformed(): CriError {
    const offset = this.#next
    return new CriError(this.#call, GrpcCode.INTERNAL, 'the answer is not a valid protobuf message', { offset })
  }
}
