import type { ItemKind } from '../model/pod.js'

/** Fields of runtime.v1 PodSandbox and Container that a relist looks at, by number. */
const layouts = {
  sandbox: { state: 3 },
  container: { state: 6 },
} as const

/**
 * Finds id and state of one listed item without decoding it.
 *
 * State and creation time stand before labels and annotations in what Go writes, so the walk stops at the first field
 * behind the state; an absent state is 0 (READY, CREATED). protobuf does not promise that order: while `audit` is on,
 * whole items are walked, and one that is out of order turns the shortcut off for good.
 */
export class FrameScan {
  /** `buf[idStart, idEnd)` is the id of the last scanned item; empty where it has none. */
  idStart = 0
  idEnd = 0
  state = 0
  audit = true
  private ordered = true
  private readonly stateField: number
  private position = 0

  constructor(kind: ItemKind) {
    this.stateField = layouts[kind].state
  }

  /** False where the bytes are not a message. */
  scan(buf: Uint8Array, start: number, end: number): boolean {
    if (this.audit || !this.ordered) return this.walk(buf, start, end)
    const stateField = this.stateField
    this.idStart = this.idEnd = start
    this.state = 0
    let at = start
    while (at < end) {
      const tag = buf[at]!
      const field = tag >>> 3
      if (field >= stateField || tag >= 0x80) {
        if (field === stateField && tag < 0x80) {
          const value = buf[at + 1]!
          if ((tag & 7) !== 0 || at + 1 >= end || value >= 0x80) return this.walk(buf, start, end)
          this.state = value
        }
        return true
      }
      if ((tag & 7) !== 2) return this.walk(buf, start, end)
      let length = buf[at + 1]!
      at += 2
      if (length >= 0x80) {
        const high = buf[at++]!
        if (high >= 0x80) return this.walk(buf, start, end)
        length = (length & 0x7f) | (high << 7)
      }
      if (at + length > end) return false
      if (field === 1) {
        this.idStart = at
        this.idEnd = at + length
      }
      at += length
    }
    return true
  }

  /** The whole item, any order, the last of repeated fields: what protobuf's rules say. */
  private walk(buf: Uint8Array, start: number, end: number): boolean {
    this.idStart = this.idEnd = start
    this.state = 0
    this.position = start
    let highest = 0
    while (this.position < end) {
      const tag = this.varint(buf, end)
      const field = tag >>> 3
      if (tag < 0 || field === 0) return false
      if (field <= this.stateField && highest >= this.stateField) this.ordered = false
      if (field > highest) highest = field
      switch (tag & 7) {
        case 0: {
          const value = this.varint(buf, end)
          if (value < 0) return false
          if (field === this.stateField) this.state = Math.min(value, 0xfd)
          break
        }
        case 1:
          this.position += 8
          break
        case 2: {
          const length = this.varint(buf, end)
          if (length < 0 || length > end - this.position) return false
          if (field === 1) {
            this.idStart = this.position
            this.idEnd = this.position + length
          }
          this.position += length
          break
        }
        case 5:
          this.position += 4
          break
        default:
          return false
      }
    }
    return this.position === end
  }

  /** The low 31 bits of a varint, or -1 where it is cut off or too long. */
  private varint(buf: Uint8Array, end: number): number {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.position >= end) return -1
      const byte = buf[this.position++]!
      if (shift < 31) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value & 0x7fffffff
    }
    return -1
  }
}
