import type { Random } from './random.js'

/** Small enough that one change recopies little, large enough that a list is few pieces. */
const chunkItems = 32

interface Entry<T> {
  readonly record: T
  chunk: Chunk<T>
  /** The encoded frame is `bytes[start, end)`; null: to be encoded. */
  bytes: Buffer | null
  start: number
  end: number
}

interface Chunk<T> {
  readonly entries: Entry<T>[]
  /** The frames of all entries side by side; null: to be put together. */
  bytes: Buffer | null
}

/** Part of a list: encoded items side by side, each as a field of the list message. Never written to again. */
export interface Piece {
  readonly bytes: Buffer
  readonly items: number
}

/**
 * The encoded list of all sandboxes or all containers. An item is encoded once and again only when it changed; items
 * stand side by side in chunks, so that a list of an idle node is a copy of few large pieces.
 */
export class ListBook<T> {
  private readonly encode: (record: T) => Buffer
  private readonly entries = new Map<T, Entry<T>>()
  private readonly chunks: Chunk<T>[] = []
  private readonly roomy: Chunk<T>[] = []

  /** `encode` gives the item as a field of its list message: tag, length, item. */
  constructor(encode: (record: T) => Buffer) {
    this.encode = encode
  }

  get size(): number {
    return this.entries.size
  }

  add(record: T): void {
    const chunk = this.chunkWithRoom()
    const entry: Entry<T> = { record, chunk, bytes: null, start: 0, end: 0 }
    chunk.entries.push(entry)
    chunk.bytes = null
    this.entries.set(record, entry)
  }

  changed(record: T): void {
    const entry = this.entries.get(record)
    if (entry === undefined) return
    entry.bytes = null
    entry.chunk.bytes = null
  }

  remove(record: T): void {
    const entry = this.entries.get(record)
    if (entry === undefined) return
    const { chunk } = entry
    this.entries.delete(record)
    if (chunk.entries.length === chunkItems) this.roomy.push(chunk)
    chunk.entries.splice(chunk.entries.indexOf(entry), 1)
    chunk.bytes = null
  }

  /**
   * The whole list as pieces of whole items. With `order` it starts at a random place of an otherwise stable cycle, as
   * the iteration of a Go map does; without it the order is the same each time.
   */
  pieces(order: Random | null): Piece[] {
    const pieces: Piece[] = []
    for (const chunk of this.inOrder(order)) pieces.push({ bytes: this.assembled(chunk), items: chunk.entries.length })
    return pieces
  }

  /** The items for which `matches` holds, a piece each, in the order of `pieces`. */
  select(order: Random | null, matches: (record: T) => boolean): Piece[] {
    const pieces: Piece[] = []
    for (const chunk of this.inOrder(order)) {
      if (!chunk.entries.some(({ record }) => matches(record))) continue
      const bytes = this.assembled(chunk)
      for (const { record, start, end } of chunk.entries) {
        if (matches(record)) pieces.push({ bytes: bytes.subarray(start, end), items: 1 })
      }
    }
    return pieces
  }

  private *inOrder(order: Random | null): IterableIterator<Chunk<T>> {
    const { chunks } = this
    const first = order === null || chunks.length === 0 ? 0 : order.below(chunks.length)
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[(first + i) % chunks.length]!
      if (chunk.entries.length > 0) yield chunk
    }
  }

  private assembled(chunk: Chunk<T>): Buffer {
    if (chunk.bytes !== null) return chunk.bytes
    let length = 0
    for (const entry of chunk.entries) {
      if (entry.bytes === null) {
        entry.bytes = this.encode(entry.record)
        entry.start = 0
        entry.end = entry.bytes.length
      }
      length += entry.end - entry.start
    }
    // The entries move into the new buffer, so that nothing is held twice.
    const bytes = Buffer.allocUnsafeSlow(length)
    let at = 0
    for (const entry of chunk.entries) {
      entry.bytes!.copy(bytes, at, entry.start, entry.end)
      const size = entry.end - entry.start
      entry.bytes = bytes
      entry.start = at
      entry.end = at += size
    }
    chunk.bytes = bytes
    return bytes
  }

  private chunkWithRoom(): Chunk<T> {
    const roomy = this.roomy.at(-1)
    if (roomy !== undefined) {
      if (roomy.entries.length + 1 === chunkItems) this.roomy.pop()
      return roomy
    }
    const chunk: Chunk<T> = { entries: [], bytes: null }
    this.chunks.push(chunk)
    this.roomy.push(chunk)
    return chunk
  }
}

/** Calls `item` with the bounds of each item in a piece, tag and length left out. */
export function eachItem(bytes: Buffer, item: (start: number, end: number) => void): void {
  for (let at = 0; at < bytes.length; ) {
    at++ // the tag: field 1, one byte
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    item(at, at + length)
    at += length
  }
}
