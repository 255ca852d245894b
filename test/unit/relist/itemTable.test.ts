import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ItemTable, noState } from '../../../src/relist/itemTable.js'

/** Real ids, ids that share all but their end, short ones, and one of zero bytes. */
const ids = [
  ...Array.from({ length: 12 }, (_, i) => `${i}`.padStart(64, 'a')),
  ...Array.from({ length: 6 }, (_, i) => `${i.toString(16)}${'c0ffee'.repeat(11)}`.slice(0, 64)),
  'short',
  'x'.repeat(65),
  '\0'.repeat(64),
]

const list = fc.record({
  shown: fc.shuffledSubarray(ids),
  states: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: ids.length, maxLength: ids.length }),
  repeated: fc.subarray(ids),
  laterStates: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: ids.length, maxLength: ids.length }),
  breaks: fc.boolean(),
})

/** Ids are shown in the middle of a buffer, at an odd offset, as in a socket's. */
function show(table: ItemTable, id: string): number {
  const buf = Buffer.from(`###${id}##`, 'latin1')
  return table.see(buf, 3, 3 + id.length)
}

describe('ItemTable', () => {
  it('is a map of ids to the states of the last complete list', () => {
    fc.assert(
      fc.property(fc.array(list, { maxLength: 30 }), (lists) => {
        const table = new ItemTable()
        let known = new Map<string, number>()
        for (const { shown, states, repeated, laterStates, breaks } of lists) {
          table.begin()
          const seen = new Map<string, number>()
          for (const id of shown) {
            const record = show(table, id)
            expect(record, id).toBeGreaterThanOrEqual(0)
            expect(table.state(record), id).toBe(known.get(id) ?? noState)
            const state = states[ids.indexOf(id)]!
            seen.set(id, state)
            expect(table.repeated, id).toBe(false)
            expect(table.staged(record), id).toBe(table.state(record))
            if (state !== table.state(record)) table.stage(record, state)
          }
          const again = repeated.filter((id) => seen.has(id))
          for (const id of again) {
            const record = show(table, id)
            expect(table.repeated, id).toBe(true)
            expect(table.staged(record), id).toBe(seen.get(id))
            const state = laterStates[ids.indexOf(id)]!
            seen.set(id, state)
            if (state !== table.staged(record)) table.stage(record, state)
          }
          expect(table.duplicates).toBe(again.length)
          const unseen = table.unseen().filter((record) => table.assigned(record))
          expect(unseen.map((record) => table.idOf(record)).sort()).toEqual(
            [...known.keys()].filter((id) => !seen.has(id)).sort(),
          )
          if (breaks) table.abort()
          else {
            table.commit()
            known = seen
          }
          expect(table.live).toBe(known.size)
          for (const id of ids) {
            const buf = Buffer.from(id, 'latin1')
            expect(table.find(buf, 0, buf.length) >= 0, id).toBe(known.has(id))
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('finds each item without hashing while the order stays the same cycle', () => {
    const table = new ItemTable()
    const many = Array.from({ length: 3000 }, (_, i) => i.toString(16).padStart(64, '0'))
    const relist = (first: number) => {
      table.begin()
      for (let i = 0; i < many.length; i++) {
        const record = show(table, many[(first + i) % many.length]!)
        if (table.state(record) !== 1) table.stage(record, 1)
      }
      table.commit()
      return table.misses
    }
    expect(relist(0)).toBe(0)
    // No list has gone round yet: each one misses where it goes over the end of the first.
    expect(relist(1000)).toBe(2)
    expect(relist(2500)).toBe(1)
    expect(relist(2500)).toBe(0)
  })

  it('stops predicting where each list has another order, and finds out when that ends', () => {
    const table = new ItemTable()
    const many = Array.from({ length: 499 }, (_, i) => i.toString(16).padStart(64, '0'))
    const relist = (order: readonly string[]) => {
      table.begin()
      for (const id of order) show(table, id)
      table.commit()
      return table.misses
    }
    // A prime: each stride is another order of all of them.
    for (let i = 0; i < 40; i++) relist(many.map((_, at) => many[(at * (i + 2)) % many.length]!))
    for (let i = 0; i < 20; i++) relist(many)
    expect(relist(many)).toBe(0)
  })
})
