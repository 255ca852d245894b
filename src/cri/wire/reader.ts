import type { Buffer } from 'node:buffer'

// Protobuf's wire format at its lowest. All functions are pure and take absolute offsets, so that a scan over a receive
// buffer allocates nothing; a caller asks `varintEnd` first and reads the value after.

/** The bytes stop before the thing does: more may follow. */
export const INCOMPLETE = -1
/** No continuation can make this valid. */
export const MALFORMED = -2

const WireType = { varint: 0, fixed64: 1, length: 2, fixed32: 5 } as const

/** A field's tag as one number, for fields below 2^28. */
export const varintTag = (field: number): number => (field << 3) | WireType.varint
export const lengthTag = (field: number): number => (field << 3) | WireType.length

/** Offset after the varint at `at`, INCOMPLETE if it doesn't end before `end`, MALFORMED if it is longer than ten bytes. */
export function varintEnd(buf: Buffer, at: number, end: number): number {
  const limit = Math.min(end, at + 10)
  for (let i = at; i < limit; i++) if (buf[i]! < 0x80) return i + 1
  return limit === at + 10 ? MALFORMED : INCOMPLETE
}

/** Low 32 bits, unsigned, of a varint that is known to be complete. */
export function varintLow(buf: Buffer, at: number): number {
  let byte = buf[at]!
  let value = byte & 0x7f
  for (let shift = 7; byte >= 0x80 && shift < 35; shift += 7) {
    byte = buf[++at]!
    value |= (byte & 0x7f) << shift
  }
  return value >>> 0
}

/** High 32 bits, unsigned, of a varint that is known to be complete. */
export function varintHigh(buf: Buffer, at: number): number {
  for (let i = 0; i < 4; i++) if (buf[at + i]! < 0x80) return 0
  let byte = buf[at + 4]!
  let value = (byte & 0x7f) >>> 4
  for (let i = 5, shift = 3; byte >= 0x80 && i < 10; i++, shift += 7) {
    byte = buf[at + i]!
    value |= (byte & 0x7f) << shift
  }
  return value >>> 0
}

/** A complete varint that counts bytes. Exact below 2^53, rounded beyond, where no length can be valid. */
export function varintLength(buf: Buffer, at: number): number {
  const first = buf[at]!
  if (first < 0x80) return first
  const second = buf[at + 1]!
  if (second < 0x80) return (first & 0x7f) | (second << 7)
  return varintHigh(buf, at) * 4294967296 + varintLow(buf, at)
}

/**
 * Offset after a field's value, `at` standing behind its tag. It may lie beyond `end`: the caller decides whether the
 * rest may still come. INCOMPLETE if not even the length is there. Groups don't exist in proto3 and are MALFORMED.
 */
export function valueEnd(buf: Buffer, at: number, end: number, wireType: number): number {
  if (wireType === WireType.length) {
    const body = varintEnd(buf, at, end)
    return body < 0 ? body : body + varintLength(buf, at)
  }
  if (wireType === WireType.varint) return varintEnd(buf, at, end)
  if (wireType === WireType.fixed64) return at + 8
  return wireType === WireType.fixed32 ? at + 4 : MALFORMED
}
