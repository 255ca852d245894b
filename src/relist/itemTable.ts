/** Length of the ids that containerd, CRI-O and Docker make: 64 hex digits. Others take a slower path. */
const fastIdBytes = 64
const idWords = fastIdBytes / 4
const initialCapacity = 1024

/** `state` of a record that no complete list has shown yet. */
export const noState = 255

/**
 * What the lister remembers of each item: its id, its state at the last complete list, its shard, and which item came
 * next. One record is 64 + 18 bytes, the index 8 more; nothing is allocated per item once the table has grown.
 *
 * A runtime lists in nearly the same cyclic order each time (a Go map starts at a random place but goes round the same
 * way), so `next` predicts the record of the next item and hashing is the exception (bench: table/lookup).
 *
 * States are staged: `state` is what the last complete list said, `staged` what the running one says. `commit` makes
 * them one, `abort` forgets the running list, so that a list that breaks in the middle changes nothing.
 */
export class ItemTable {
  private capacity = initialCapacity
  private words = new Int32Array(initialCapacity * idWords)
  private hashes = new Int32Array(initialCapacity)
  /** Generation in which the record was last seen; 0: the record is free. */
  private seenIn = new Int32Array(initialCapacity)
  private next = new Int32Array(initialCapacity)
  state = new Uint8Array(initialCapacity)
  private staged = new Uint8Array(initialCapacity)
  shard = new Uint8Array(initialCapacity)

  /** Open addressing, linear probing; record + 1, 0 free. Size a power of two, at most half full. */
  private index = new Int32Array(initialCapacity * 4)
  /** Ids that are not 64 bytes long, as latin1 text, both ways. */
  private readonly oddIds = new Map<string, number>()
  private readonly oddNames = new Map<number, string>()

  private readonly freed: number[] = []
  private used = 0
  /** Records whose staged state differs from their state. */
  private touched = new Int32Array(initialCapacity)
  private touchedCount = 0

  private generation = 0
  private previous = -1
  private first = -1
  private view: DataView = new DataView(new ArrayBuffer(0))
  private viewed: Uint8Array | null = null

  /** Records in use. */
  live = 0
  /** Distinct items of the running list. */
  seen = 0
  /** Items that the running list showed more than once. */
  duplicates = 0
  /** Lookups that the prediction missed, in the running list. */
  misses = 0

  begin(): void {
    this.generation++
    this.previous = -1
    this.seen = 0
    this.duplicates = 0
    this.misses = 0
    this.touchedCount = 0
  }

  /**
   * The record of the id at `buf[start, end)`, marked as seen in the running list; a new record has `state` noState.
   * -1 where the running list has shown it before.
   */
  see(buf: Uint8Array, start: number, end: number): number {
    if (buf !== this.viewed) {
      this.viewed = buf
      this.view = new DataView(buf.buffer, buf.byteOffset, buf.byteLength)
    }
    const record = isOdd(buf, start, end) ? this.locateOdd(buf, start, end) : this.locate(start)
    this.previous = record
    if (this.seenIn[record] === this.generation) {
      this.duplicates++
      return -1
    }
    this.seenIn[record] = this.generation
    this.seen++
    return record
  }

  /** The record of an id if it has one, else -1. Marks nothing. */
  find(buf: Uint8Array, start: number, end: number): number {
    if (isOdd(buf, start, end)) return this.oddIds.get(text(buf, start, end)) ?? -1
    const view = buf === this.viewed ? this.view : new DataView(buf.buffer, buf.byteOffset, buf.byteLength)
    return this.probe(view, start, hashId(view, start))
  }

  stage(record: number, state: number): void {
    this.staged[record] = state
    if (this.touchedCount === this.touched.length) this.touched = grown(this.touched, this.touched.length * 2)
    this.touched[this.touchedCount++] = record
  }

  /** Whether the record was ever staged: its shard is known. */
  assigned(record: number): boolean {
    return this.state[record] !== noState || this.staged[record] !== noState
  }

  /** Records that the running list did not show. They keep id and shard until `commit`. */
  unseen(): number[] {
    const records: number[] = []
    if (this.seen === this.live) return records
    for (let record = 0; record < this.used; record++) {
      const seenIn = this.seenIn[record]
      if (seenIn !== 0 && seenIn !== this.generation) records.push(record)
    }
    return records
  }

  /** The list was complete: staged states hold, records that it did not show are freed. */
  commit(): void {
    for (let i = 0; i < this.touchedCount; i++) {
      const record = this.touched[i]!
      this.state[record] = this.staged[record]!
    }
    this.touchedCount = 0
    for (const record of this.unseen()) this.free(record)
  }

  /** The list broke: records that it brought are freed, all others stay as they were. */
  abort(): void {
    for (let i = 0; i < this.touchedCount; i++) {
      const record = this.touched[i]!
      if (this.state[record] === noState && this.seenIn[record] !== 0) this.free(record)
    }
    this.touchedCount = 0
  }

  /** Copies a record's id to `target` and returns its length in bytes. `target` must hold `idLength(record)`. */
  copyId(record: number, target: Buffer, offset: number): number {
    const odd = this.oddNames.get(record)
    if (odd !== undefined) return target.write(odd, offset, 'latin1')
    for (let i = 0; i < idWords; i++) target.writeInt32LE(this.words[record * idWords + i]!, offset + i * 4)
    return fastIdBytes
  }

  idLength(record: number): number {
    return this.oddNames.get(record)?.length ?? fastIdBytes
  }

  private locate(start: number): number {
    const view = this.view
    const predicted = this.previous === -1 ? this.first : this.next[this.previous]!
    if (predicted !== -1 && this.seenIn[predicted] !== 0 && this.same(view, start, predicted)) return predicted
    this.misses++
    const hash = hashId(view, start)
    let record = this.probe(view, start, hash)
    if (record === -1) record = this.insert(view, start, hash)
    this.predict(record)
    return record
  }

  private locateOdd(buf: Uint8Array, start: number, end: number): number {
    const name = text(buf, start, end)
    let record = this.oddIds.get(name)
    if (record === undefined) {
      record = this.allocate()
      // Zero words match no id of the fast path (isOdd), so a prediction never takes this record for one of them.
      this.words.fill(0, record * idWords, (record + 1) * idWords)
      this.oddIds.set(name, record)
      this.oddNames.set(record, name)
    }
    this.predict(record)
    return record
  }

  private predict(record: number): void {
    if (this.previous === -1) this.first = record
    else this.next[this.previous] = record
  }

  private same(view: DataView, start: number, record: number): boolean {
    const words = this.words
    const base = record * idWords
    for (let i = 0; i < idWords; i++) {
      if (words[base + i] !== view.getInt32(start + i * 4, true)) return false
    }
    return true
  }

  private probe(view: DataView, start: number, hash: number): number {
    const mask = this.index.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.index[slot]!
      if (entry === 0) return -1
      if (this.hashes[entry - 1] === hash && this.same(view, start, entry - 1)) return entry - 1
    }
  }

  private insert(view: DataView, start: number, hash: number): number {
    const record = this.allocate()
    for (let i = 0; i < idWords; i++) this.words[record * idWords + i] = view.getInt32(start + i * 4, true)
    this.hashes[record] = hash
    this.link(record)
    return record
  }

  private link(record: number): void {
    const mask = this.index.length - 1
    let slot = this.hashes[record]! & mask
    while (this.index[slot] !== 0) slot = (slot + 1) & mask
    this.index[slot] = record + 1
  }

  private allocate(): number {
    this.live++
    const record = this.freed.pop() ?? this.used++
    if (record === this.capacity) this.grow()
    this.state[record] = noState
    this.staged[record] = noState
    this.next[record] = -1
    // Never equal to a generation that runs, so that `see` counts the record once.
    this.seenIn[record] = -1
    return record
  }

  private grow(): void {
    this.capacity *= 2
    this.words = grown(this.words, this.capacity * idWords)
    this.hashes = grown(this.hashes, this.capacity)
    this.seenIn = grown(this.seenIn, this.capacity)
    this.next = grown(this.next, this.capacity)
    this.state = grown(this.state, this.capacity)
    this.staged = grown(this.staged, this.capacity)
    this.shard = grown(this.shard, this.capacity)
    this.index = new Int32Array(this.capacity * 4)
    for (let record = 0; record < this.capacity / 2; record++) {
      if (this.seenIn[record] !== 0 && !this.oddNames.has(record)) this.link(record)
    }
  }

  private free(record: number): void {
    const odd = this.oddNames.get(record)
    if (odd === undefined) this.unlink(record)
    else {
      this.oddIds.delete(odd)
      this.oddNames.delete(record)
    }
    this.seenIn[record] = 0
    this.live--
    this.freed.push(record)
  }

  /** Backward-shift deletion: no tombstones, so lookups stay short however long the table lives. */
  private unlink(record: number): void {
    const mask = this.index.length - 1
    let slot = this.hashes[record]! & mask
    while (this.index[slot] !== record + 1) slot = (slot + 1) & mask
    let hole = slot
    for (let probe = (hole + 1) & mask; this.index[probe] !== 0; probe = (probe + 1) & mask) {
      const home = this.hashes[this.index[probe]! - 1]! & mask
      if (((probe - home) & mask) >= ((probe - hole) & mask)) {
        this.index[hole] = this.index[probe]!
        hole = probe
      }
    }
    this.index[hole] = 0
  }
}

function isOdd(buf: Uint8Array, start: number, end: number): boolean {
  return end - start !== fastIdBytes || buf[start] === 0
}

/** Over all words: ids that share a long prefix must not share a slot. */
function hashId(view: DataView, start: number): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < idWords; i++) {
    hash = Math.imul(hash ^ view.getInt32(start + i * 4, true), 0x01000193)
    hash ^= hash >>> 15
  }
  return hash | 0
}

function text(buf: Uint8Array, start: number, end: number): string {
  return Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('latin1')
}

function grown<T extends Int32Array | Uint8Array>(old: T, length: number): T {
  const bigger = new (old.constructor as new (length: number) => T)(length)
  bigger.set(old)
  return bigger
}
