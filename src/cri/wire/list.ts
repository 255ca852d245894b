import type { ItemSink } from '../runtime.js'
import { malformed } from './reader.js'

/** gRPC's prefix of a message: one byte of flags, four of length (big-endian). */
const prefixBytes = 5
/** runtime.v1 list answers, unary and streamed, hold their items in field 1. */
const itemTag = (1 << 3) | 2
const maxVarintBytes = 10

/**
 * Reads the gRPC messages of a list answer as their bytes arrive, and shows each item to the sink where it lies: one
 * message of a unary list or many of a streamed one. Nothing is copied, and nothing is allocated per item.
 *
 * What `feed` does not consume (an item that is not whole yet) has to be presented again, directly before the bytes that
 * follow it.
 */
export class ListScanner {
  items = 0
  /** Of all messages, without their prefixes. */
  bytes = 0
  largestMessage = 0
  /** How many bytes from the start of the unconsumed rest on are known to be needed before anything can be consumed. */
  needed = prefixBytes
  private readonly sink: ItemSink
  /** Of the message that is being read; -1 between two. */
  private left = -1
  /** Of a field that is skipped. */
  private skipping = 0

  constructor(sink: ItemSink) {
    this.sink = sink
  }

  /**
   * Consumes what it can of `buf[start, end)` and returns how many bytes that was.
   *
   * @throws CriError INTERNAL where the bytes are no gRPC messages, or compressed ones
   */
  feed(buf: Buffer, start: number, end: number): number {
    let at = start
    for (;;) {
      if (this.left === 0) this.left = -1
      if (this.left < 0) {
        if (end - at < prefixBytes) return this.rest(at - start, prefixBytes)
        if (buf[at] !== 0) throw malformed('gRPC message: compressed, which nobody asked for', this.bytes)
        this.left = buf.readUInt32BE(at + 1)
        this.bytes += this.left
        if (this.left > this.largestMessage) this.largestMessage = this.left
        at += prefixBytes
        continue
      }
      if (this.skipping > 0) {
        const count = Math.min(this.skipping, end - at)
        this.skipping -= count
        this.left -= count
        at += count
        if (this.skipping > 0) return this.rest(at - start, 1)
        continue
      }
      const consumed = this.field(buf, at, end)
      if (consumed === 0) return at - start
      at += consumed
    }
  }

  /** @throws CriError INTERNAL where the answer ended inside a message */
  finish(): void {
    if (this.left > 0) throw malformed(`list answer: it ended ${this.left} bytes early`, this.bytes)
  }

  /** One field of the message: an item, or one that is skipped. 0 where it is not whole yet. */
  private field(buf: Buffer, start: number, end: number): number {
    const stop = Math.min(end, start + this.left)
    const cutOff = stop < start + this.left
    if (start === stop) return this.rest(0, 1)
    const tag = buf[start]!
    if (tag !== itemTag) return this.unknown(buf, start, stop, cutOff)
    let at = start + 1
    let length = 0
    for (let shift = 0; ; shift += 7) {
      if (at >= stop) return this.early(cutOff, at - start + 1)
      const byte = buf[at++]!
      length += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
      if (shift > 28) throw malformed('item length', this.bytes)
    }
    const size = at - start + length
    if (size > this.left) throw malformed('item length: longer than its message', this.bytes)
    if (length > stop - at) return this.rest(0, size)
    this.items++
    this.left -= size
    this.sink.item(buf, at, at + length)
    return size
  }

  private unknown(buf: Buffer, start: number, stop: number, cutOff: boolean): number {
    let at = start
    const varint = (): number => {
      let value = 0
      for (let i = 0; i < maxVarintBytes; i++) {
        if (at >= stop) return -1
        const byte = buf[at++]!
        value += (byte & 0x7f) * 2 ** (7 * i)
        if (byte < 0x80) return value
      }
      throw malformed('varint', this.bytes)
    }
    const tag = varint()
    if (tag < 0) return this.early(cutOff, stop - start + 1)
    if (tag < 8) throw malformed('tag', this.bytes)
    const wireType = tag % 8
    if (wireType === 0) {
      if (varint() < 0) return this.early(cutOff, stop - start + 1)
    } else if (wireType === 1) this.skipping = 8
    else if (wireType === 5) this.skipping = 4
    else if (wireType === 2) {
      const length = varint()
      if (length < 0) return this.early(cutOff, stop - start + 1)
      this.skipping = length
    } else throw malformed(`field of wire type ${wireType}`, this.bytes)
    this.left -= at - start
    if (this.skipping > this.left) throw malformed('field length: longer than its message', this.bytes)
    return at - start
  }

  private early(cutOff: boolean, needed: number): number {
    if (!cutOff) throw malformed('list answer: a field ends behind its message', this.bytes)
    return this.rest(0, needed)
  }

  private rest(consumed: number, needed: number): number {
    this.needed = needed
    return consumed
  }
}
