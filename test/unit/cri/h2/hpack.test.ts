import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolFault } from '../../../../src/cri/h2/frames.js'
import { decodeHeaderBlock } from '../../../../src/cri/h2/hpack.js'
import { decodeHuffman } from '../../../../src/cri/h2/huffman.js'

function decode(block: Buffer): string[] {
  const fields: string[] = []
  decodeHeaderBlock(block, 0, block.length, (name, value) => fields.push(`${name}: ${value}`))
  return fields
}

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('header blocks of RFC 7541 appendix C', () => {
  const vectors: [section: string, block: string, fields: string[]][] = [
    ['C.2.1', '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key: custom-header']],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', [':path: /sample/path']],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', ['password: secret']],
    ['C.2.4', '82', [':method: GET']],
    [
      'C.3.1',
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    ],
    [
      'C.4.1',
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    ],
    [
      'C.6.1',
      `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
      [
        ':status: 302',
        'cache-control: private',
        'date: Mon, 21 Oct 2013 20:13:21 GMT',
        'location: https://www.example.com',
      ],
    ],
  ]
  it.each(vectors)('%s', (_section, block, fields) => {
    expect(decode(hex(block))).toEqual(fields)
  })
})

describe('header blocks that must be refused', () => {
  it.each([
    ['an index into the dynamic table', 'be'],
    ['index 0', '80'],
    ['a name from the dynamic table', '7e 0161'],
    ['a table size over 0', '3f e1 1f'],
    ['a table size update after a field', '88 20'],
    ['an integer that never ends', 'ff ff ff ff ff ff ff'],
    ['an integer cut short', '7f'],
    ['a text longer than the block', '00 05 61'],
    ['a length of gigabytes', '00 7f ff ff ff 7f'],
    ['a name without a value', '00 01 61'],
    ['Huffman padding of 8 bits', '00 82 1f ff 00'],
    ['Huffman padding with a zero bit', '00 81 18 00'],
    ['EOS inside Huffman text', '00 84 ff ff ff ff 00'],
  ])('%s', (_what, block) => {
    expect(() => decode(hex(block))).toThrow(ProtocolFault)
  })

  it('takes size updates to 0 in front', () => {
    expect(decode(hex('20 20 88'))).toEqual([':status: 200'])
  })

  it('ends every random block with fields or a ProtocolFault', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decode(Buffer.from(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolFault)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('Huffman', () => {
  // Text, and its code as RFC 7541 appendix C prints it.
  it.each([
    ['www.example.com', 'f1e3 c2e5 f23a 6ba0 ab90 f4ff'],
    ['no-cache', 'a8eb 1064 9cbf'],
    ['custom-value', '25a8 49e9 5bb8 e8b4 bf'],
    ['307', '640e ff'],
    ['gzip', '9bd9 ab'],
    [
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
      '94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
    ],
  ])('%s', (text, code) => {
    const bytes = hex(code)
    expect(decodeHuffman(bytes, 0, bytes.length)).toBe(text)
  })
})
