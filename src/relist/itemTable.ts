/** Length of the ids that containerd, CRI-O and Docker make: 64 hex digits. Others take a slower path. */
const fastIdBytes = 64
const idWords = fastIdBytes / 4
const initialCapacity = 1024

/** `state` of a record that no complete list has shown yet. */
export const noState = 255

/**
 * A record is 32 words, two cache lines: the id, then what is known of the item. One array for all, since a list in
 * random order touches every record cold.
 */
const recordWords = 32
const hashAt = 16
/** Generation in which the record was last seen; 0: the record is free, -1: it is new. */
const seenAt = 17
const nextAt = 18
const stateAt = 19
const stagedAt = 20
const shardAt = 21

/** An index slot: the id's hash and the record + 1 (0: free). */
const slotWords = 2
/** Where more lookups of known items than this share missed, the next lists don't predict. */
const hopelessShare = 0.5
/** Every 16 lists prediction is tried again, for two: one learns the order, the other one shows whether it holds. */
const retryPredictionEvery = 16
const retryPredictionFor = 2

/**
 * What the lister remembers of each item: its id, its state at the last complete list, its shard, and which item came
 * next. Nothing is allocated per item once the table has grown.
 *
 * A runtime lists in nearly the same cyclic order each time (a Go map starts at a random place but goes round the same
 * way), so `next` predicts the record of the next item and hashing is the exception (bench: table/lookup).
 *
 * States are staged: `state` is what the last complete list said, `staged` what the running one says. `commit` makes
 * them one, `abort` forgets the running list, so that a list that breaks in the middle changes nothing.
 */
export class ItemTable {
  private capacity = initialCapacity
  private words: Int32Array = new Int32Array(initialCapacity * recordWords)
  /** Open addressing, linear probing; a power of two of slots, at most half of them used. */
  private index = new Int32Array(initialCapacity * 2 * slotWords)
  /** Ids that are not 64 bytes long, as latin1 text, both ways. */
  private readonly oddIds = new Map<string, number>()
  private readonly oddNames = new Map<number, string>()

  private readonly freed: number[] = []
  private used = 0
  /** Records that the running list has staged. */
  private touched: Int32Array = new Int32Array(initialCapacity)
  private touchedCount = 0

  private generation = 0
  private previous = -1
  private first = -1
  private predicting = true
  private view: DataView = new DataView(new ArrayBuffer(0))
  private viewed: Uint8Array | null = null

  /** Records in use. */
  live = 0
  /** Distinct items of the running list. */
  seen = 0
  /** Items that the running list showed more than once. */
  duplicates = 0
  /** What `see` saw last was one of these. */
  repeated = false
  /** Known items of the running list that prediction did not find. */
  misses = 0

  begin(): void {
    this.generation++
    const retrying = this.generation % retryPredictionEvery < retryPredictionFor
    this.predicting = retrying || this.misses <= this.seen * hopelessShare
    this.previous = -1
    this.seen = 0
    this.duplicates = 0
    this.misses = 0
    this.touchedCount = 0
  }

  /**
   * The record of the id at `buf[start, end)`, marked as seen in the running list; a new record has `state` noState.
   * `repeated` tells whether the running list has shown it before.
   */
  see(buf: Uint8Array, start: number, end: number): number {
    if (buf !== this.viewed) {
      this.viewed = buf
      this.view = new DataView(buf.buffer, buf.byteOffset, buf.byteLength)
    }
    const record = isOdd(buf, start, end) ? this.locateOdd(buf, start, end) : this.locate(start)
    this.previous = record
    const seen = record * recordWords + seenAt
    this.repeated = this.words[seen] === this.generation
    if (this.repeated) {
      this.duplicates++
      return record
    }
    this.words[seen] = this.generation
    this.seen++
    return record
  }

  /** The record of an id if it has one, else -1. Marks nothing. */
  find(buf: Uint8Array, start: number, end: number): number {
    if (isOdd(buf, start, end)) return this.oddIds.get(text(buf, start, end)) ?? -1
    const view = buf === this.viewed ? this.view : new DataView(buf.buffer, buf.byteOffset, buf.byteLength)
    return this.probe(view, start, hashId(view, start))
  }

  state(record: number): number {
    return this.words[record * recordWords + stateAt]!
  }

  /** What the running list last said, where it said anything else than `state`; else `state`. */
  staged(record: number): number {
    return this.words[record * recordWords + stagedAt]!
  }

  shard(record: number): number {
    return this.words[record * recordWords + shardAt]!
  }

  setShard(record: number, shard: number): void {
    this.words[record * recordWords + shardAt] = shard
  }

  stage(record: number, state: number): void {
    this.words[record * recordWords + stagedAt] = state
    if (this.touchedCount === this.touched.length) this.touched = grown(this.touched, this.touched.length * 2)
    this.touched[this.touchedCount++] = record
  }

  /** Whether the record was ever staged: its shard is known. */
  assigned(record: number): boolean {
    const base = record * recordWords
    return this.words[base + stateAt] !== noState || this.words[base + stagedAt] !== noState
  }

  /** Records that the running list did not show. They keep id and shard until `commit`. */
  unseen(): number[] {
    const records: number[] = []
    if (this.seen === this.live) return records
    for (let record = 0; record < this.used; record++) {
      const seen = this.words[record * recordWords + seenAt]
      if (seen !== 0 && seen !== this.generation) records.push(record)
    }
    return records
  }

  /** The list was complete: staged states hold, records that it did not show are freed. */
  commit(): void {
    for (let i = 0; i < this.touchedCount; i++) {
      const base = this.touched[i]! * recordWords
      this.words[base + stateAt] = this.words[base + stagedAt]!
    }
    this.touchedCount = 0
    for (const record of this.unseen()) this.free(record)
  }

  /** The list broke: records that it brought are freed, all others stay as they were. */
  abort(): void {
    for (let i = 0; i < this.touchedCount; i++) {
      const record = this.touched[i]!
      const base = record * recordWords
      const state = this.words[base + stateAt]!
      if (state !== noState) this.words[base + stagedAt] = state
      else if (this.words[base + seenAt] !== 0) this.free(record)
    }
    this.touchedCount = 0
  }

  idOf(record: number): string {
    const odd = this.oddNames.get(record)
    if (odd !== undefined) return Buffer.from(odd, 'latin1').toString('utf8')
    const id = Buffer.allocUnsafe(fastIdBytes)
    for (let i = 0; i < idWords; i++) id.writeInt32LE(this.words[record * recordWords + i]!, i * 4)
    return id.toString('utf8')
  }

  private locate(start: number): number {
    const view = this.view
    if (this.predicting) {
      const predicted = this.previous === -1 ? this.first : this.words[this.previous * recordWords + nextAt]!
      if (predicted !== -1 && this.words[predicted * recordWords + seenAt] !== 0 && this.same(view, start, predicted)) {
        return predicted
      }
    }
    const hash = hashId(view, start)
    let record = this.probe(view, start, hash)
    if (record === -1) record = this.insert(view, start, hash)
    else this.misses++
    if (this.predicting) this.predict(record)
    return record
  }

  private locateOdd(buf: Uint8Array, start: number, end: number): number {
    const name = text(buf, start, end)
    let record = this.oddIds.get(name)
    if (record === undefined) {
      record = this.allocate()
      // Zero words match no id of the fast path (isOdd), so a prediction never takes this record for one of them.
      this.words.fill(0, record * recordWords, record * recordWords + idWords)
      this.oddIds.set(name, record)
      this.oddNames.set(record, name)
    }
    this.predict(record)
    return record
  }

  private predict(record: number): void {
    if (this.previous === -1) this.first = record
    else this.words[this.previous * recordWords + nextAt] = record
  }

  private same(view: DataView, start: number, record: number): boolean {
    const words = this.words
    const base = record * recordWords
    for (let i = 0; i < idWords; i++) {
      if (words[base + i] !== view.getInt32(start + i * 4, true)) return false
    }
    return true
  }

  private probe(view: DataView, start: number, hash: number): number {
    const index = this.index
    const mask = index.length - 1
    for (let at = (hash * slotWords) & mask; ; at = (at + slotWords) & mask) {
      const entry = index[at + 1]!
      if (entry === 0) return -1
      if (index[at] === hash && this.same(view, start, entry - 1)) return entry - 1
    }
  }

  private insert(view: DataView, start: number, hash: number): number {
    const record = this.allocate()
    const base = record * recordWords
    for (let i = 0; i < idWords; i++) this.words[base + i] = view.getInt32(start + i * 4, true)
    this.words[base + hashAt] = hash
    this.link(record)
    return record
  }

  private link(record: number): void {
    const hash = this.words[record * recordWords + hashAt]!
    const mask = this.index.length - 1
    let at = (hash * slotWords) & mask
    while (this.index[at + 1] !== 0) at = (at + slotWords) & mask
    this.index[at] = hash
    this.index[at + 1] = record + 1
  }

  private allocate(): number {
    this.live++
    const record = this.freed.pop() ?? this.used++
    if (record === this.capacity) this.grow()
    const base = record * recordWords
    this.words[base + stateAt] = noState
    this.words[base + stagedAt] = noState
    this.words[base + nextAt] = -1
    // Never equal to a generation that runs, so that `see` counts the record once.
    this.words[base + seenAt] = -1
    return record
  }

  private grow(): void {
    const records = this.capacity
    this.capacity *= 2
    this.words = grown(this.words, this.capacity * recordWords)
    this.index = new Int32Array(this.capacity * 2 * slotWords)
    for (let record = 0; record < records; record++) {
      if (this.words[record * recordWords + seenAt] !== 0 && !this.oddNames.has(record)) this.link(record)
    }
  }

  private free(record: number): void {
    const odd = this.oddNames.get(record)
    if (odd === undefined) this.unlink(record)
    else {
      this.oddIds.delete(odd)
      this.oddNames.delete(record)
    }
    this.words[record * recordWords + seenAt] = 0
    this.live--
    this.freed.push(record)
  }

  /** Backward-shift deletion: no tombstones, so lookups stay short however long the table lives. */
  private unlink(record: number): void {
    const { index } = this
    const mask = index.length - 1
    let hole = (this.words[record * recordWords + hashAt]! * slotWords) & mask
    while (index[hole + 1] !== record + 1) hole = (hole + slotWords) & mask
    for (let at = (hole + slotWords) & mask; index[at + 1] !== 0; at = (at + slotWords) & mask) {
      const home = (index[at]! * slotWords) & mask
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      index[hole] = index[at]!
      index[hole + 1] = index[at + 1]!
      hole = at
    }
    index[hole + 1] = 0
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

function grown(old: Int32Array, length: number): Int32Array {
  const bigger = new Int32Array(length)
  bigger.set(old)
  return bigger
}
