import { H2Error, ProtocolFault } from './frames.js'

/**
 * Length in bits of each symbol's code; the last one is EOS. The code is canonical (shorter first, then by symbol), so
 * lengths are all there is to know. Source: RFC 7541 appendix B.
 */
// biome-ignore format: a table
const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
]
const EOS = 256
const LONGEST_CODE = 30

/** A binary tree, two cells a node: a positive number is the next node, a negative one `-1 - symbol`. */
const tree = buildTree()

function buildTree(): Int16Array {
  const cells = new Int16Array(2 * codeLengths.length)
  let nodes = 1
  let code = 0
  for (let length = 1; length <= LONGEST_CODE; length++) {
    code <<= 1
    for (let symbol = 0; symbol <= EOS; symbol++) {
      if (codeLengths[symbol] === length) place(symbol, code++, length)
    }
  }
  return cells

  function place(symbol: number, bits: number, length: number): void {
    let node = 0
    for (let bit = length - 1; bit > 0; bit--) {
      const cell = 2 * node + ((bits >>> bit) & 1)
      if (cells[cell] === 0) cells[cell] = nodes++
      node = cells[cell]!
    }
    cells[2 * node + (bits & 1)] = -1 - symbol
  }
}

/**
 * Decodes `buf[start, end)` into latin1 text.
 * @throws ProtocolFault where EOS occurs or the padding isn't the beginning of EOS in under 8 bits (RFC 7541 section 5.2).
 */
export function decodeHuffman(buf: Buffer, start: number, end: number): string {
  // The shortest code has 5 bits.
  const text = Buffer.allocUnsafe(Math.floor(((end - start) * 8) / 5))
  let length = 0
  let node = 0
  let bitsInCode = 0
  let onlyOnes = true
  for (let at = start; at < end; at++) {
    const byte = buf[at]!
    for (let shift = 7; shift >= 0; shift--) {
      const bit = (byte >>> shift) & 1
      const next = tree[2 * node + bit]!
      if (next >= 0) {
        node = next
        bitsInCode++
        onlyOnes &&= bit === 1
        continue
      }
      const symbol = -1 - next
      if (symbol === EOS) throw new ProtocolFault(H2Error.COMPRESSION_ERROR, 'Huffman text holds EOS')
      text[length++] = symbol
      node = 0
      bitsInCode = 0
      onlyOnes = true
    }
  }
  if (bitsInCode > 7 || !onlyOnes) throw new ProtocolFault(H2Error.COMPRESSION_ERROR, 'Huffman text is badly padded')
  return text.toString('latin1', 0, length)
}
