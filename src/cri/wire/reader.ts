import { CriError, GrpcCode } from '../errors.js'

/** protobuf wire types. */
export const WireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/** Bytes that are not the message that they should be. */
export function malformed(what: string, at: number): CriError {
  return new CriError('decode', GrpcCode.INTERNAL, `malformed ${what} at byte ${at}`, { at })
}

/**
 * A cursor over one protobuf message. One instance can serve message after message (`reset`), so that reading does not
 * allocate but for the strings and bigints that are asked for.
 */
export class WireReader {
  buf: Buffer
  at: number
  end: number
  /** Of the last tag. */
  field = 0
  wireType = 0

  constructor(buf: Buffer, start: number, end: number) {
    this.buf = buf
    this.at = start
    this.end = end
  }

  /** Moves to the next field; false at the end of the message. */
  next(): boolean {
    if (this.at >= this.end) return false
    const tag = this.uint32()
    this.field = tag >>> 3
    this.wireType = tag & 7
    if (this.field === 0) throw malformed('tag', this.at)
    return true
  }

  /** The low 32 bits of a varint. */
  uint32(): number {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw malformed('varint', this.at)
      const byte = this.buf[this.at++]!
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw malformed('varint', this.at)
  }

  int32(): number {
    return this.uint32() | 0
  }

  int64(): bigint {
    let low = 0
    let middle = 0
    let high = 0
    for (let i = 0; i < 10; i++) {
      if (this.at >= this.end) throw malformed('varint', this.at)
      const byte = this.buf[this.at++]!
      if (i < 4) low |= (byte & 0x7f) << (7 * i)
      else if (i < 8) middle |= (byte & 0x7f) << (7 * (i - 4))
      else high |= (byte & 0x7f) << (7 * (i - 8))
      if (byte < 0x80)
        return BigInt.asIntN(64, BigInt(low >>> 0) | (BigInt(middle >>> 0) << 28n) | (BigInt(high) << 56n))
    }
    throw malformed('varint', this.at)
  }

  /** The end of the length-delimited field that starts here; `at` is then its start. */
  length(): number {
    const length = this.uint32()
    if (length > this.end - this.at) throw malformed('length', this.at)
    return this.at + length
  }

  /** Bytes that are not UTF-8 become U+FFFD: one odd label must not cost the list (k/k#139132). */
  string(): string {
    const end = this.length()
    const text = this.buf.toString('utf8', this.at, end)
    this.at = end
    return text
  }

  skip(): void {
    switch (this.wireType) {
      case WireType.varint:
        while (this.at < this.end && this.buf[this.at]! >= 0x80) this.at++
        this.at++
        break
      case WireType.fixed64:
        this.at += 8
        break
      case WireType.bytes:
        this.at = this.length()
        break
      case WireType.fixed32:
        this.at += 4
        break
      default:
        throw malformed(`field of wire type ${this.wireType}`, this.at)
    }
    if (this.at > this.end) throw malformed('field', this.at)
  }

  /** Whether the field has the wire type that its number asks for; one that has not is skipped as unknown. */
  is(wireType: number): boolean {
    if (this.wireType === wireType) return true
    this.skip()
    return false
  }

  /** Reads the message that starts here with `read`, within its bounds. */
  message(read: (reader: WireReader) => void): void {
    const outer = this.end
    const end = this.length()
    this.end = end
    read(this)
    this.at = end
    this.end = outer
  }
}
