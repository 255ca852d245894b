const hexDigits = '0123456789abcdef'

/**
 * Seeded xoshiro128** (Blackman and Vigna), its state filled by splitmix32. The same seed and stream give the same
 * numbers on every machine; streams of one seed are independent, so that drawing from one never shifts another.
 */
export class Random {
  private readonly state = new Uint32Array(4)

  constructor(seed: number, stream = 0) {
    let x = (seed ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0
    for (let i = 0; i < 4; i++) {
      x = (x + 0x9e3779b9) >>> 0
      let z = x
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
      this.state[i] = (z ^ (z >>> 15)) >>> 0
    }
  }

  /** 32 uniform bits. */
  u32(): number {
    const s = this.state
    const product = Math.imul(s[1]!, 5)
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0
    const shifted = s[1]! << 9
    s[2]! ^= s[0]!
    s[3]! ^= s[1]!
    s[1]! ^= s[2]!
    s[0]! ^= s[3]!
    s[2]! ^= shifted
    s[3] = (s[3]! << 11) | (s[3]! >>> 21)
    return result
  }

  /** Uniform in [0, 1). */
  fraction(): number {
    return this.u32() / 0x1_0000_0000
  }

  /** Uniform integer in [0, n). */
  below(n: number): number {
    return Math.floor(this.fraction() * n)
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('pick from nothing')
    return item
  }

  /** `digits` lower-case hex digits. */
  hex(digits: number): string {
    const bytes = Buffer.allocUnsafe(Math.ceil(digits / 8) * 4)
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32BE(this.u32(), at)
    return bytes.toString('hex').slice(0, digits)
  }

  /** A version 4 UUID. */
  uuid(): string {
    const h = this.hex(32)
    const variant = hexDigits[8 + this.below(4)]
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20)}`
  }

  /** `length` letters of the alphabet that Kubernetes uses for generated names (apimachinery util/rand). */
  suffix(length: number): string {
    let text = ''
    for (let i = 0; i < length; i++) text += 'bcdfghjklmnpqrstvwxz2456789'[this.below(27)]
    return text
  }
}
