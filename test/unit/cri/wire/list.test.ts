import fc from 'fast-check'
import protobuf from 'protobufjs'
import { describe, expect, it } from 'vitest'
import { CriError } from '../../../../src/cri/errors.js'
import { ListScanner, MAX_ITEM_BYTES } from '../../../../src/cri/wire/list.js'
import { framed, lengthField } from '../../../support/criMessages.js'
import { disordered, fieldsOf } from './support.js'

/** Feeds `stream` as a socket would: pieces at the cuts, the rest carried over, the buffer only as large as is needed. */
function scan(stream: Buffer, cuts: readonly number[]): { items: string[]; scanner: ListScanner } {
  const items: string[] = []
  const scanner = new ListScanner({ item: (buf, start, end) => items.push(buf.toString('hex', start, end)) })
  let rest = Buffer.alloc(0)
  for (const [from, to] of pieces(stream.length, cuts)) {
    const window = Buffer.concat([rest, stream.subarray(from, to)])
    const consumed = scanner.feed(window, 0, window.length)
    rest = window.subarray(consumed)
    // `needed` never asks for more than there is to come, nor for what it has been given.
    if (rest.length > 0) expect(scanner.needed).toBeGreaterThan(rest.length)
  }
  scanner.finish()
  expect(rest.length).toBe(0)
  return { items, scanner }
}

function pieces(length: number, cuts: readonly number[]): [number, number][] {
  const bounds = [0, ...[...new Set(cuts)].filter((cut) => cut > 0 && cut < length).toSorted((a, b) => a - b), length]
  return bounds.slice(1).map((to, i) => [bounds[i]!, to])
}

const item = fc.uint8Array({ maxLength: 300 })
const message = fc
  .array(item, { maxLength: 8 })
  .chain((items) => disordered(Buffer.concat(items.map((bytes) => lengthField(1, bytes)))))

/** The items of a message in the order they stand in. */
function itemsOf(bytes: Buffer): string[] {
  const items = fieldsOf(bytes).filter((field) => field[0] === 0x0a)
  return items.map((field) => Buffer.from(protobuf.Reader.create(field.subarray(1)).bytes()).toString('hex'))
}

describe('ListScanner', () => {
  it('finds the items between unknown fields', () => {
    const bytes = Buffer.concat([
      lengthField(1, Buffer.from('ab')),
      lengthField(7, Buffer.alloc(1000, 0x0a)),
      Buffer.from([0x10, 0x96, 0x01]),
      Buffer.from([0x19, 1, 2, 3, 4, 5, 6, 7, 8]),
      lengthField(1, Buffer.alloc(0)),
      Buffer.from([0x25, 1, 2, 3, 4]),
      // Field 1 with a tag that takes two bytes: not canonical, but valid.
      Buffer.from([0x8a, 0x00, 1, 0x63]),
      // Field 1, but a number: some later version's business.
      Buffer.from([0x08, 0x05]),
    ])
    const { items, scanner } = scan(framed(bytes), [])
    expect(items).toEqual(['6162', '', '63'])
    expect(scanner).toMatchObject({ items: 3, messages: 1, bytes: bytes.length, largestMessage: bytes.length })
  })

  it('finds the same items in many messages, however the bytes are cut', () => {
    const property = fc.property(
      fc.array(message, { maxLength: 4 }),
      fc.array(fc.nat({ max: 4000 })),
      (messages, cuts) => {
        const stream = Buffer.concat(messages.map(framed))
        const { items, scanner } = scan(stream, cuts)
        expect(items).toEqual(messages.flatMap(itemsOf))
        expect(scanner.items).toBe(items.length)
        expect(scanner.messages).toBe(messages.length)
        expect(scanner.bytes).toBe(stream.length - 5 * messages.length)
        expect(scanner.largestMessage).toBe(Math.max(0, ...messages.map(({ length }) => length)))
      },
    )
    fc.assert(property, { numRuns: 300 })
  })

  it('bears a cut at every offset, and every byte alone', () => {
    const bytes = Buffer.concat([
      lengthField(1, Buffer.alloc(200, 1)),
      lengthField(900, Buffer.alloc(300)),
      lengthField(1, Buffer.from('z')),
    ])
    const stream = Buffer.concat([framed(bytes), framed(Buffer.alloc(0)), framed(bytes)])
    const whole = scan(stream, []).items
    expect(whole).toHaveLength(4)
    for (let cut = 1; cut < stream.length; cut++) expect(scan(stream, [cut]).items).toEqual(whole)
    expect(
      scan(
        stream,
        Array.from(stream, (_byte, i) => i),
      ).items,
    ).toEqual(whole)
  })

  it('says how large a buffer an item needs', () => {
    const stream = framed(lengthField(1, Buffer.alloc(70_000)))
    const scanner = new ListScanner({ item: () => {} })
    expect(scanner.needed).toBe(5)
    expect(scanner.feed(stream, 0, 1000)).toBe(5)
    expect(scanner.needed).toBe(70_000 + 4)
  })

  it('knows that a list ended early, at every offset', () => {
    const stream = framed(Buffer.concat([lengthField(1, Buffer.alloc(20)), lengthField(9, Buffer.alloc(20))]))
    for (let end = 5; end < stream.length; end++) {
      const scanner = new ListScanner({ item: () => {} }, 'ListContainers')
      scanner.feed(stream, 0, end)
      expect(() => scanner.finish()).toThrow('ListContainers: INTERNAL: the answer ends inside a message')
    }
  })

  it.each([
    ['a compressed message', 'compressed', [1, 0, 0, 0, 0]],
    ['an item beyond its message', 'an item is longer', [0, 0, 0, 0, 3, 0x0a, 2, 1]],
    ['an item beyond all bounds', 'an item has more than', [0, 0xff, 0xff, 0xff, 0xff, 0x0a, 0x81, 0x80, 0x80, 0x08]],
    ['an item length of 2^63', 'an item is longer', [0, 0, 0, 0, 20, 0x0a, ...Array<number>(9).fill(0x80), 1]],
    ['an endless item length', 'malformed', [0, 0, 0, 0, 20, 0x0a, ...Array<number>(10).fill(0xff), 1]],
    ['an endless tag', 'malformed', [0, 0, 0, 0, 20, ...Array<number>(10).fill(0xff), 1]],
    ['a skipped field beyond its message', 'a field is longer', [0, 0, 0, 0, 3, 0x12, 2, 1]],
    ['a fixed64 beyond its message', 'a field is longer', [0, 0, 0, 0, 3, 0x11, 2, 1]],
    ['a varint beyond its message', 'goes beyond its message', [0, 0, 0, 0, 2, 0x10, 0x80]],
    ['a tag beyond its message', 'goes beyond its message', [0, 0, 0, 0, 1, 0x80]],
    ['an item without a length', 'goes beyond its message', [0, 0, 0, 0, 1, 0x0a]],
    ['field 0', 'no valid number', [0, 0, 0, 0, 2, 0x02, 0]],
    ['a group', 'malformed', [0, 0, 0, 0, 2, 0x13, 0x14]],
    ['a field number over 2^29', 'no valid number', [0, 0, 0, 0, 9, 0x92, 0x80, 0x80, 0x80, 0x10, 3, 0, 0, 0]],
  ])('refuses %s, wherever it is cut, whatever follows', (_what, why, bytes) => {
    const stream = Buffer.from([...bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    for (let cut = 0; cut <= stream.length; cut++) expect(() => scan(stream, [cut])).toThrow(why)
  })

  it('takes an item at the limit', () => {
    const largest = framed(lengthField(1, Buffer.alloc(MAX_ITEM_BYTES)))
    expect(scan(largest, []).scanner.items).toBe(1)
    expect(() => scan(framed(lengthField(1, Buffer.alloc(MAX_ITEM_BYTES + 1))), [])).toThrow(/an item has more than/)
  })

  it('never does anything but move on or fail, whatever the bytes', () => {
    const property = fc.property(
      fc.uint8Array({ minLength: 5, maxLength: 200 }),
      fc.array(fc.nat({ max: 200 })),
      (bytes, cuts) => {
        const stream = Buffer.from(bytes)
        stream[0] = 0
        stream.fill(0, 1, 4)
        try {
          const scanner = new ListScanner({ item: (_buf, start, end) => expect(end).toBeGreaterThanOrEqual(start) })
          let rest = Buffer.alloc(0)
          for (const [from, to] of pieces(stream.length, cuts)) {
            const window = Buffer.concat([rest, stream.subarray(from, to)])
            const consumed = scanner.feed(window, 0, window.length)
            expect(consumed).toBeGreaterThanOrEqual(0)
            rest = window.subarray(consumed)
            expect(scanner.needed).toBeLessThanOrEqual(MAX_ITEM_BYTES + 20)
          }
          scanner.finish()
        } catch (error) {
          expect(error).toBeInstanceOf(CriError)
        }
      },
    )
    fc.assert(property, { numRuns: 1000 })
  })

  it('lets an error of the sink through', () => {
    const scanner = new ListScanner({
      item: () => {
        throw new RangeError('full')
      },
    })
    const stream = framed(lengthField(1, Buffer.from('a')))
    expect(() => scanner.feed(stream, 0, stream.length)).toThrow(new RangeError('full'))
  })
})
