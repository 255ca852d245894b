import { type HotCall, hotCalls } from '../relist/calls.js'

/** A call in flight, as another thread sees it. */
export interface SeenCall {
  readonly call: HotCall
  readonly id: string
  readonly podUid: string
  readonly startedAt: number
}

/** Calls kept by name; the oldest ones matter, and they keep their slots. What finds none is only counted by its length. */
const slots = 256
/** Longer ids are cut: they are for people. */
const textBytes = 128
/**
 * A slot: int32 sequence (odd while it is written), int32 call + 1 (0: free), int32 lengths of id and UID, float64
 * start; then id and UID.
 */
const slotBytes = 32 + 2 * textBytes

export class InflightSlots {
  static readonly byteLength = slots * slotBytes

  private readonly words: Int32Array
  private readonly starts: Float64Array
  private readonly text: Buffer
  private readonly free: number[] = Array.from({ length: slots }, (_, i) => slots - 1 - i)

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.words = new Int32Array(memory, offset, InflightSlots.byteLength / 4)
    this.starts = new Float64Array(memory, offset, InflightSlots.byteLength / 8)
    this.text = Buffer.from(memory, offset, InflightSlots.byteLength)
  }

  /** A slot for `release`, or -1 where all are taken. */
  take(call: number, start: number, id: string, podUid: string): number {
    const slot = this.free.pop()
    if (slot === undefined) return -1
    const word = (slot * slotBytes) / 4
    Atomics.add(this.words, word, 1)
    this.starts[(slot * slotBytes) / 8 + 2] = start
    const at = slot * slotBytes + 32
    this.words[word + 2] = this.text.write(id, at, textBytes)
    this.words[word + 3] = this.text.write(podUid, at + textBytes, textBytes)
    this.words[word + 1] = call + 1
    Atomics.add(this.words, word, 1)
    return slot
  }

  release(slot: number): void {
    if (slot < 0) return
    const word = (slot * slotBytes) / 4
    Atomics.add(this.words, word, 1)
    this.words[word + 1] = 0
    Atomics.add(this.words, word, 1)
    this.free.push(slot)
  }

  /** Oldest first. A slot that is being written at the moment is passed over. */
  list(): SeenCall[] {
    const seen: SeenCall[] = []
    for (let slot = 0; slot < slots; slot++) {
      const word = (slot * slotBytes) / 4
      const sequence = Atomics.load(this.words, word)
      const call = hotCalls[this.words[word + 1]! - 1]
      if (call === undefined || (sequence & 1) !== 0) continue
      const at = slot * slotBytes + 32
      const one: SeenCall = {
        call,
        id: this.text.toString('utf8', at, at + this.words[word + 2]!),
        podUid: this.text.toString('utf8', at + textBytes, at + textBytes + this.words[word + 3]!),
        startedAt: this.starts[(slot * slotBytes) / 8 + 2]!,
      }
      if (Atomics.load(this.words, word) === sequence) seen.push(one)
    }
    return seen.sort((a, b) => a.startedAt - b.startedAt)
  }
}
