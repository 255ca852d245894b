import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ItemKind } from '../../../src/model/pod.js'
import type { ListCommit } from '../../../src/relist/inbox.js'
import { createDoorbell, Doorbell } from '../../../src/ring/doorbell.js'
import { FrameReader, FrameWriter } from '../../../src/ring/frameRing.js'
import { RingInbox, readInbox } from '../../../src/ring/inboxRing.js'
import { createRing, RingReader, RingWriter } from '../../../src/ring/ring.js'

function frameRing(capacity: number) {
  const memory = createRing(capacity)
  const bell = new Doorbell(createDoorbell())
  const writer = new FrameWriter(new RingWriter(memory), bell)
  return { writer, reader: new FrameReader(new RingReader(memory, new Doorbell(bell.buffer))) }
}

function take(reader: FrameReader, max = Number.POSITIVE_INFINITY): string[] {
  const frames: string[] = []
  reader.read(
    (type, bytes, start, end) => frames.push(`${type}:${Buffer.from(bytes.subarray(start, end)).toString('hex')}`),
    max,
  )
  return frames
}

test('frames of any size come whole and in order, however full the ring is', () => {
  const frame = fc.record({ type: fc.nat(127), length: fc.nat(400), readAfter: fc.nat(3) })
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 40 }), (frames) => {
      const { writer, reader } = frameRing(64)
      const written: string[] = []
      const got: string[] = []
      frames.forEach(({ type, length, readAfter }, n) => {
        const bytes = Buffer.alloc(length + 2, n + 1)
        writer.write(type, bytes, 1, 1 + length)
        bytes.fill(0)
        written.push(`${type}:${Buffer.alloc(length, n + 1).toString('hex')}`)
        writer.flush()
        got.push(...take(reader, readAfter))
      })
      while (!writer.flush()) got.push(...take(reader))
      got.push(...take(reader))
      expect(got).toEqual(written)
    }),
  )
})

test('congestion begins below a quarter of room and ends when the reader has made some', async () => {
  const { writer, reader } = frameRing(64)
  const bytes = Buffer.alloc(7)
  expect(writer.congested()).toBeUndefined()
  for (let i = 0; i < 5; i++) writer.write(1, bytes, 0, 7)
  const congested = writer.congested()
  expect(congested).toBeInstanceOf(Promise)
  expect(writer.congested()).toBe(congested)
  expect(take(reader)).toHaveLength(5)
  await congested
  expect(writer.congested()).toBeUndefined()
})

test('a writer whose reader is gone waits for nothing and keeps nothing', async () => {
  const { writer, reader } = frameRing(64)
  for (let i = 0; i < 10; i++) writer.write(1, Buffer.alloc(20), 0, 20)
  const congested = writer.congested()
  writer.close()
  await congested
  expect(writer.congested()).toBeUndefined()
  expect(writer.flush()).toBe(true)
  expect(take(reader).length).toBeLessThan(10)
})

test('an inbox hands on what the lister put into it', () => {
  const { writer, reader } = frameRing(4096)
  const inbox = new RingInbox(writer)
  const commit: ListCommit = { generation: 2 ** 40, stamp: 12345.678, wallMs: 1_764_599_999_123, full: true }
  inbox.frame('sandbox', Buffer.from('xsandboxx'), 1, 8)
  inbox.frame('container', Buffer.from('container'), 0, 9)
  inbox.gone('sandbox', 's-1')
  inbox.gone('container', 'c-1')
  inbox.commit(commit)
  inbox.frame('container', Buffer.alloc(3000, 0x61), 0, 3000)
  inbox.commit({ ...commit, full: false })
  inbox.abort()
  const seen: unknown[] = []
  const count = readInbox(
    reader,
    {
      frame: (kind: ItemKind, buf: Buffer, start: number, end: number) =>
        seen.push([kind, buf.toString('latin1', start, end)]),
      gone: (kind: ItemKind, id: string) => seen.push(['gone', kind, id]),
      commit: (one: ListCommit) => seen.push(one),
      abort: () => seen.push('abort'),
      congested: () => undefined,
      close: () => {},
    },
    100,
  )
  expect(seen).toEqual([
    ['sandbox', 'sandbox'],
    ['container', 'container'],
    ['gone', 'sandbox', 's-1'],
    ['gone', 'container', 'c-1'],
    commit,
    ['container', 'a'.repeat(3000)],
    { ...commit, full: false },
    'abort',
  ])
  expect(count).toBeGreaterThanOrEqual(8)
})
