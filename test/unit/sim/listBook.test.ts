import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eachItem, ListBook, type Piece } from '../../../src/sim/listBook.js'
import { ProtoWriter } from '../../../src/sim/protoWriter.js'
import { Random } from '../../../src/sim/random.js'

interface Item {
  readonly id: number
  version: number
}

const writer = new ProtoWriter()
const encode = ({ id, version }: Item) => {
  writer.message(1, () => writer.string(1, `${id}:${version}:${'x'.repeat((id * 37) % 300)}`))
  return writer.take()
}
const bookOf = () => new ListBook(encode)

function read(pieces: readonly Piece[]): string[] {
  const found: string[] = []
  for (const { bytes, items } of pieces) {
    let inPiece = 0
    eachItem(bytes, (start, end) => {
      inPiece++
      const text = bytes.toString('latin1', start, end)
      found.push(/(\d+:\d+):x*$/.exec(text)?.[1] ?? text)
    })
    expect(inPiece).toBe(items)
  }
  return found
}

describe('a list kept encoded', () => {
  it('holds exactly the items there are, as they are, after any history', () => {
    const step = fc.record({ kind: fc.constantFrom('add', 'add', 'change', 'remove', 'read'), pick: fc.nat() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const book = bookOf()
        const live: Item[] = []
        let next = 0
        for (const { kind, pick } of steps) {
          const item = live[pick % Math.max(1, live.length)]
          if (kind === 'add') {
            const added = { id: next++, version: 0 }
            live.push(added)
            book.add(added)
          } else if (kind === 'read') book.pieces(null)
          else if (item !== undefined && kind === 'change') {
            item.version++
            book.changed(item)
          } else if (item !== undefined) {
            live.splice(live.indexOf(item), 1)
            book.remove(item)
          }
        }
        const expected = live.map(({ id, version }) => `${id}:${version}`).sort()
        expect(read(book.pieces(null)).sort()).toEqual(expected)
        expect(book.size).toBe(live.length)
        const even = ({ id }: Item) => id % 2 === 0
        expect(read(book.select(null, even)).sort()).toEqual(
          expected.filter((text) => Number.parseInt(text, 10) % 2 === 0),
        )
      }),
      { numRuns: 200 },
    )
  })

  it('starts elsewhere in the same cycle at each call', () => {
    const book = bookOf()
    for (let id = 0; id < 500; id++) book.add({ id, version: 0 })
    const order = new Random(1)
    const stable = read(book.pieces(null))
    const starts = new Set<string>()
    for (let call = 0; call < 20; call++) {
      const rotated = read(book.pieces(order))
      const at = stable.indexOf(rotated[0]!)
      expect(rotated).toEqual([...stable.slice(at), ...stable.slice(0, at)])
      starts.add(rotated[0]!)
    }
    expect(starts.size).toBeGreaterThan(1)
  })

  it('gives pieces that a later change does not touch', () => {
    const book = bookOf()
    const item = { id: 1, version: 0 }
    book.add(item)
    const before = book.pieces(null)
    item.version = 7
    book.changed(item)
    expect(read(book.pieces(null))).toEqual(['1:7'])
    expect(read(before)).toEqual(['1:0'])
  })
})
