import { H2Error, ProtocolFault } from './frames.js'
import { decodeHuffman } from './huffman.js'

/** Index 1 is the first. Source: RFC 7541 appendix A. */
const staticTable: readonly (readonly [name: string, value: string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language', ''],
  ['accept-ranges', ''],
  ['accept', ''],
  ['access-control-allow-origin', ''],
  ['age', ''],
  ['allow', ''],
  ['authorization', ''],
  ['cache-control', ''],
  ['content-disposition', ''],
  ['content-encoding', ''],
  ['content-language', ''],
  ['content-length', ''],
  ['content-location', ''],
  ['content-range', ''],
  ['content-type', ''],
  ['cookie', ''],
  ['date', ''],
  ['etag', ''],
  ['expect', ''],
  ['expires', ''],
  ['from', ''],
  ['host', ''],
  ['if-match', ''],
  ['if-modified-since', ''],
  ['if-none-match', ''],
  ['if-range', ''],
  ['if-unmodified-since', ''],
  ['last-modified', ''],
  ['link', ''],
  ['location', ''],
  ['max-forwards', ''],
  ['proxy-authenticate', ''],
  ['proxy-authorization', ''],
  ['range', ''],
  ['referer', ''],
  ['refresh', ''],
  ['retry-after', ''],
  ['server', ''],
  ['set-cookie', ''],
  ['strict-transport-security', ''],
  ['transfer-encoding', ''],
  ['user-agent', ''],
  ['vary', ''],
  ['via', ''],
  ['www-authenticate', ''],
]

export type HeaderVisitor = (name: string, value: string) => void

/**
 * Decodes one whole header block. There is no dynamic table, because our SETTINGS set its size to 0: blocks are
 * independent of each other, and an index into it is an error. Names and values come as latin1 text.
 * @throws ProtocolFault (COMPRESSION_ERROR) for anything that RFC 7541 forbids.
 */
export function decodeHeaderBlock(buf: Buffer, start: number, end: number, visit: HeaderVisitor): void {
  const block = new BlockReader(buf, start, end)
  let fields = 0
  while (!block.atEnd()) {
    const first = block.peek()
    if (first >= 0x80) {
      const [name, value] = staticEntry(block.integer(7))
      visit(name, value)
    } else if (first >= 0x40) visitLiteral(block, 6, visit)
    else if (first >= 0x20) {
      if (fields > 0) fail('a table size update after a field')
      if (block.integer(5) > 0) fail('a table size over the 0 that our SETTINGS allow')
      continue
    } else visitLiteral(block, 4, visit)
    fields++
  }
}

function visitLiteral(block: BlockReader, prefixBits: number, visit: HeaderVisitor): void {
  const index = block.integer(prefixBits)
  const name = index === 0 ? block.text() : staticEntry(index)[0]
  visit(name, block.text())
}

function staticEntry(index: number): readonly [string, string] {
  return staticTable[index - 1] ?? fail(`index ${index} is in no table`)
}

function fail(what: string): never {
  throw new ProtocolFault(H2Error.COMPRESSION_ERROR, `header block: ${what}`)
}

class BlockReader {
  readonly #buf: Buffer
  readonly #end: number
  #at: number

  constructor(buf: Buffer, start: number, end: number) {
    this.#buf = buf
    this.#at = start
    this.#end = end
  }

  atEnd(): boolean {
    return this.#at === this.#end
  }

  peek(): number {
    if (this.atEnd()) fail('it ends in the middle of a field')
    return this.#buf[this.#at]!
  }

  /** RFC 7541 section 5.1. Four continuation bytes hold more than any length that fits a block. */
  integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1
    const prefix = this.#next() & mask
    if (prefix < mask) return prefix
    let value = mask
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#next()
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return fail('an integer is too large')
  }

  /** RFC 7541 section 5.2. */
  text(): string {
    const huffman = this.peek() >= 0x80
    const length = this.integer(7)
    const start = this.#at
    if (length > this.#end - start) fail('a text is longer than what is left')
    this.#at = start + length
    return huffman ? decodeHuffman(this.#buf, start, this.#at) : this.#buf.toString('latin1', start, this.#at)
  }

  #next(): number {
    const byte = this.peek()
    this.#at++
    return byte
  }
}
