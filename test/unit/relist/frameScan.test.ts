import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeItem } from '../../../src/cri/wire/item.js'
import { FrameScan } from '../../../src/relist/frameScan.js'
import { encodeItem } from '../../support/scriptedRuntime.js'

const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)])
const bytes = (field: number, body: Uint8Array) =>
  Buffer.from([...varint((field << 3) | 2), ...varint(body.length), ...body])
const int = (field: number, value: number) => Buffer.from([...varint(field << 3), ...varint(value)])

/** Fields of an item in any order, with unknown ones among them, and none of them sure to be there. */
const anyItem = fc
  .record({
    kind: fc.constantFrom('sandbox' as const, 'container' as const),
    id: fc.option(fc.stringMatching(/^[0-9a-f]{64}$|^[a-z]{0,200}$/)),
    state: fc.option(fc.integer({ min: 0, max: 200 })),
    createdAt: fc.option(fc.integer({ min: 0, max: 2 ** 31 - 1 })),
    labels: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 3 }),
    unknown: fc.array(fc.tuple(fc.integer({ min: 20, max: 500 }), fc.uint8Array({ maxLength: 40 })), { maxLength: 3 }),
    order: fc.infiniteStream(fc.nat()),
  })
  .map(({ kind, id, state, createdAt, labels, unknown, order }) => {
    const at = kind === 'sandbox' ? { state: 3, created: 4, labels: 5 } : { state: 6, created: 7, labels: 8 }
    const fields = [
      ...(id === null ? [] : [bytes(1, Buffer.from(id))]),
      ...(state === null ? [] : [int(at.state, state)]),
      ...(createdAt === null ? [] : [int(at.created, createdAt)]),
      ...labels.map((label) => bytes(at.labels, bytes(1, label))),
      ...unknown.map(([field, body]) => bytes(field, body)),
    ]
    const shuffled = fields.map((field) => [order.next().value, field] as const).sort(([a], [b]) => a - b)
    return { kind, frame: Buffer.concat(shuffled.map(([, field]) => field)) }
  })

function scan(scanner: FrameScan, frame: Buffer): { ok: boolean; id: string; state: number } {
  const ok = scanner.scan(frame, 0, frame.length)
  return { ok, id: frame.toString('utf8', scanner.idStart, scanner.idEnd), state: scanner.state }
}

describe('FrameScan', () => {
  it('agrees with the decoder on items of any order, once it has seen one out of order', () => {
    fc.assert(
      fc.property(anyItem, ({ kind, frame }) => {
        const { item } = decodeItem(kind, frame, 0, frame.length)
        expect(scan(new FrameScan(kind), frame)).toEqual({ ok: true, id: item.id, state: item.criState })
      }),
      { numRuns: 1000 },
    )
  })

  it('takes the shortcut where fields are in order, and gives it up for good where one is not', () => {
    const scanner = new FrameScan('container')
    scanner.audit = false
    const ordered = encodeItem({ kind: 'container', id: 'a'.repeat(64), podUid: 'p', name: 'c', state: 2 })
    expect(scan(scanner, ordered)).toEqual({ ok: true, id: 'a'.repeat(64), state: 2 })
    const disordered = Buffer.concat([bytes(8, Buffer.alloc(4)), bytes(1, Buffer.from('b')), int(6, 1)])
    // Behind the labels the shortcut has stopped: such a runtime is found out by the audit.
    expect(scan(scanner, disordered).state).toBe(0)
    scanner.audit = true
    expect(scan(scanner, disordered)).toEqual({ ok: true, id: 'b', state: 1 })
    scanner.audit = false
    expect(scan(scanner, disordered)).toEqual({ ok: true, id: 'b', state: 1 })
  })

  it('never reads past its end, whatever the bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.boolean(),
        fc.constantFrom('sandbox', 'container'),
        (raw, audit, kind) => {
          const buf = Buffer.concat([Buffer.from(raw), Buffer.alloc(64, 0x0a)])
          const scanner = new FrameScan(kind as 'sandbox')
          scanner.audit = audit
          if (scanner.scan(buf, 0, raw.length)) expect(scanner.idEnd).toBeLessThanOrEqual(raw.length)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
