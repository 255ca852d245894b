/**
 * Takes a response's bytes. `feed` says how many it is done with; the rest comes again, in front of what follows. What it
 * leaves is kept, so it must bound that: throw where a record is longer than it may be.
 */
export interface ByteConsumer {
  feed(buf: Buffer, start: number, end: number): number
}

/** Room that a receive buffer keeps free in front of where the socket reads to: a tail up to this size is rejoined in place. */
export const HEADROOM = 64 * 1024

/**
 * Keeps the bytes that a consumer left, one carry a stream, and rejoins them with what follows. A short tail is copied
 * to directly before the next payload, which is free room: everything there was consumed, or is headroom. A long one
 * (a record over 64 KiB) is collected in a buffer of its own, so that the cost stays linear.
 */
export class Carry {
  #tail: Buffer | undefined
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  /** Hands `buf[start, end)`, after what was left before, to `consumer`. May write to `buf` before `start`. */
  deliver(consumer: ByteConsumer, buf: Buffer, start: number, end: number): void {
    const carried = this.length
    if (carried === 0) this.#feedInPlace(consumer, buf, start, end)
    else if (carried <= HEADROOM && carried <= start) {
      this.#tail!.copy(buf, start - carried, this.#start, this.#end)
      this.#start = this.#end = 0
      this.#feedInPlace(consumer, buf, start - carried, end)
    } else {
      this.#append(buf, start, end)
      this.#start += consumer.feed(this.#tail!, this.#start, this.#end)
    }
  }

  #feedInPlace(consumer: ByteConsumer, buf: Buffer, start: number, end: number): void {
    const consumed = consumer.feed(buf, start, end)
    if (consumed < end - start) this.#append(buf, start + consumed, end)
  }

  #append(buf: Buffer, start: number, end: number): void {
    this.#makeRoom(end - start)
    buf.copy(this.#tail!, this.#end, start, end)
    this.#end += end - start
  }

  #makeRoom(bytes: number): void {
    const tail = this.#tail
    if (tail !== undefined && this.#end + bytes <= tail.length) return
    const needed = this.length + bytes
    const roomy = tail !== undefined && needed <= tail.length / 2
    const target = roomy ? tail : Buffer.allocUnsafe(Math.max(1024, 2 * needed))
    tail?.copy(target, 0, this.#start, this.#end)
    this.#tail = target
    this.#end -= this.#start
    this.#start = 0
  }
}
