import type { Buffer } from 'node:buffer'
import { CriError, GrpcCode } from '../errors.js'
import type { ItemSink } from '../runtime.js'
import { INCOMPLETE, MALFORMED, valueEnd, varintEnd, varintHigh, varintLength, varintLow } from './reader.js'

/** Flag byte and big-endian length before each gRPC message. */
const PREFIX_BYTES = 5
/** What a caller's buffer is ever asked to hold at once. Annotations, the largest part, are limited to 256 KiB by the API. */
export const MAX_ITEM_BYTES = 16 * 1024 * 1024
/** A field header: tag and length, ten bytes each at most. */
const MAX_HEADER_BYTES = 20
const ITEMS_TAG = 0x0a

/**
 * Finds the items of a list in gRPC's length-prefixed message stream, one message or many (List… and Stream… alike: both
 * have their items in field 1). Nothing is copied or allocated per item; unknown fields are skipped, however large.
 */
export class ListScanner {
  readonly #sink: ItemSink
  readonly #call: string
  #messageLeft = 0
  #skipLeft = 0
  #needed = PREFIX_BYTES
  items = 0
  /** Complete and begun messages, and their bytes without prefixes. */
  messages = 0
  bytes = 0
  largestMessage = 0

  constructor(sink: ItemSink, call = 'List') {
    this.#sink = sink
    this.#call = call
  }

  /**
   * Bytes to be present from the first unconsumed one on before `feed` gets any further: the size that a caller's buffer
   * must have. At most MAX_ITEM_BYTES and a header.
   */
  get needed(): number {
    return this.#needed
  }

  /**
   * Takes what it can of buf[start, end) and returns how many bytes that was; the caller presents the rest again,
   * contiguous with what follows. Throws CriError INTERNAL where the stream can't be a list.
   */
  feed(buf: Buffer, start: number, end: number): number {
    let at = start
    this.#needed = 1
    while (at < end) {
      if (this.#skipLeft > 0) {
        const skipped = Math.min(this.#skipLeft, end - at)
        this.#skipLeft -= skipped
        this.#messageLeft -= skipped
        at += skipped
      } else if (this.#messageLeft === 0) {
        if (end - at < PREFIX_BYTES) {
          this.#needed = PREFIX_BYTES
          break
        }
        this.#begin(buf[at]!, buf.readUInt32BE(at + 1))
        at += PREFIX_BYTES
      } else {
        const next = buf[at] === ITEMS_TAG ? this.#item(buf, at, at + 1, end) : this.#unknown(buf, at, end)
        if (next === INCOMPLETE) break
        this.#messageLeft -= next - at
        at = next
      }
    }
    return at - start
  }

  /** Throws CriError INTERNAL if the stream ends inside a message. */
  finish(): void {
    if (this.#messageLeft > 0) throw this.#broken('the answer ends inside a message')
  }

  #begin(flag: number, length: number): void {
    if (flag !== 0) throw this.#broken('the answer is compressed, which was not asked for', { flag })
    this.#messageLeft = length
    this.messages++
    this.bytes += length
    if (length > this.largestMessage) this.largestMessage = length
  }

  /** Offset after the item whose tag is at `at`, or INCOMPLETE. */
  #item(buf: Buffer, at: number, lengthAt: number, end: number): number {
    const limit = Math.min(end, at + this.#messageLeft)
    const start = varintEnd(buf, lengthAt, limit)
    if (start < 0) return this.#short(start, at, end)
    const length = varintLength(buf, lengthAt)
    const itemEnd = start + length
    if (itemEnd - at > this.#messageLeft) throw this.#broken('an item is longer than its message', { length })
    if (length > MAX_ITEM_BYTES) throw this.#broken(`an item has more than ${MAX_ITEM_BYTES} bytes`, { length })
    if (itemEnd > end) {
      this.#needed = itemEnd - at
      return INCOMPLETE
    }
    this.items++
    this.#sink.item(buf, start, itemEnd)
    return itemEnd
  }

  /** Offset after the header of a field that isn't known, its value put down for skipping; or INCOMPLETE. */
  #unknown(buf: Buffer, at: number, end: number): number {
    const limit = Math.min(end, at + this.#messageLeft)
    const value = varintEnd(buf, at, limit)
    if (value < 0) return this.#short(value, at, end)
    const tag = varintLow(buf, at)
    if (tag >>> 3 === 0 || varintHigh(buf, at) !== 0) throw this.#broken('a field has no valid number')
    if (tag === ITEMS_TAG) return this.#item(buf, at, value, end)
    const after = valueEnd(buf, value, limit, tag & 7)
    if (after < 0) return this.#short(after, at, end)
    if (after - at > this.#messageLeft) throw this.#broken('a field is longer than its message', { length: after - at })
    if (after <= end) return after
    this.#skipLeft = after - value
    return value
  }

  /** A header that is not complete: more bytes are needed, or none can help. */
  #short(reason: number, at: number, end: number): typeof INCOMPLETE {
    if (reason === MALFORMED) throw this.#broken('a field header is malformed')
    if (end - at >= this.#messageLeft) throw this.#broken('a field header goes beyond its message')
    this.#needed = Math.min(end - at + 1, MAX_HEADER_BYTES)
    return INCOMPLETE
  }

  #broken(details: string, facts: Record<string, number> = {}): CriError {
    return new CriError(this.#call, GrpcCode.INTERNAL, details, { ...facts, items: this.items, bytes: this.bytes })
  }
}
