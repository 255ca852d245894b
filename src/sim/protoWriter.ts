/** Writes protobuf fields one behind the other (protobuf.dev/programming-guides/encoding). Default values are left out, as proto3 has it. */
export class ProtoWriter {
  private buf = Buffer.allocUnsafe(16 * 1024)
  private pos = 0

  /** The bytes since the last `take`, as a buffer of their own. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafe(this.pos)
    this.buf.copy(bytes, 0, 0, this.pos)
    this.pos = 0
    return bytes
  }

  string(field: number, value: string): void {
    if (value === '') return
    this.room(value.length * 3)
    this.tag(field, 2)
    const length = Buffer.byteLength(value)
    this.varint(length)
    this.buf.write(value, this.pos)
    this.pos += length
  }

  /** A map<string, string>. */
  map(field: number, values: Readonly<Record<string, string>>): void {
    for (const key in values) {
      this.message(field, () => {
        this.string(1, key)
        this.string(2, values[key]!)
      })
    }
  }

  /** An enum, bool, uint32 or an int32 that is not negative. */
  uint32(field: number, value: number): void {
    if (value === 0) return
    this.room(0)
    this.tag(field, 0)
    this.varint(value)
  }

  /** An int64 or an int32, which the wire knows as the same. */
  int64(field: number, value: bigint): void {
    if (value === 0n) return
    this.room(0)
    this.tag(field, 0)
    const bits = BigInt.asUintN(64, value)
    let low = Number(bits & 0xffff_ffffn)
    let high = Number(bits >> 32n)
    while (high > 0 || low > 127) {
      this.buf[this.pos++] = (low & 127) | 128
      low = ((low >>> 7) | (high << 25)) >>> 0
      high >>>= 7
    }
    this.buf[this.pos++] = low
  }

  /** A message whose fields `write` writes; there even if empty. */
  message(field: number, write: () => void): void {
    this.room(0)
    this.tag(field, 2)
    // One byte for the length, which most messages need; longer ones are moved (256 MiB are 4 bytes).
    const at = this.pos++
    write()
    const length = this.pos - at - 1
    const more = length < 0x80 ? 0 : length < 0x4000 ? 1 : length < 0x20_0000 ? 2 : 3
    this.room(more)
    if (more > 0) this.buf.copyWithin(at + 1 + more, at + 1, this.pos)
    this.pos = at
    this.varint(length)
    this.pos = at + 1 + more + length
  }

  /** Fields that are encoded already. */
  raw(fields: Uint8Array): void {
    this.room(fields.length)
    this.buf.set(fields, this.pos)
    this.pos += fields.length
  }

  private tag(field: number, wireType: number): void {
    this.varint((field << 3) | wireType)
  }

  private varint(value: number): void {
    let rest = value
    while (rest > 127) {
      this.buf[this.pos++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.buf[this.pos++] = rest
  }

  /** Room for `bytes` and a tag and a number. */
  private room(bytes: number): void {
    const needed = this.pos + bytes + 24
    if (needed <= this.buf.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.buf.length * 2))
    this.buf.copy(larger, 0, 0, this.pos)
    this.buf = larger
  }
}
