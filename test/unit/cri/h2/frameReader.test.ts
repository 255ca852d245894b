import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FrameHandler, FrameReader } from '../../../../src/cri/h2/frameReader.js'
import { frame } from './support/wire.js'

/** Writes down what it is told, pieces of DATA joined. */
class Log implements FrameHandler {
  readonly lines: string[] = []
  #data = ''

  frame(type: number, flags: number, streamId: number, length: number): void {
    this.lines.push(`frame ${type} ${flags} ${streamId} ${length}`)
  }

  data(streamId: number, buf: Buffer, start: number, end: number): void {
    expect(end).toBeGreaterThan(start)
    this.#data += `${streamId}:${buf.toString('hex', start, end)}`.slice(this.#data === '' ? 0 : `${streamId}:`.length)
  }

  dataEnd(streamId: number, flags: number): void {
    this.lines.push(`data ${this.#data} end ${streamId} ${flags}`)
    this.#data = ''
  }

  payload(type: number, flags: number, streamId: number, buf: Buffer, start: number, end: number): void {
    this.lines.push(`payload ${type} ${flags} ${streamId} ${buf.toString('hex', start, end)}`)
  }
}

const PADDED = 0x8
const anyFrame = fc
  .record({
    type: fc.integer({ min: 0, max: 12 }),
    flags: fc.constantFrom(0, 1, 4, 5),
    streamId: fc.integer({ min: 0, max: 5 }),
    payload: fc.uint8Array({ maxLength: 60 }),
    padding: fc.option(fc.integer({ min: 0, max: 20 })),
  })
  .map(({ type, flags, streamId, payload, padding }) => {
    if (type !== 0 || padding === null) return { type, flags, streamId, payload, wire: payload }
    const wire = Buffer.concat([Buffer.from([padding]), payload, Buffer.alloc(padding, 0xaa)])
    return { type, flags: flags | PADDED, streamId, payload, wire }
  })

describe('FrameReader', () => {
  it('finds the same frames wherever reads end', () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 15 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 }),
        (frames, chunkSizes) => {
          const log = new Log()
          const reader = new FrameReader(log)
          const bytes = Buffer.concat(frames.map((f) => frame(f.type, f.flags, f.streamId, f.wire)))
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const chunk = Buffer.from(bytes.subarray(at, at + chunkSizes[i % chunkSizes.length]!))
            reader.read(chunk, 0, chunk.length)
            at += chunk.length
          }
          const expected = frames.flatMap(({ type, flags, streamId, payload, wire }) => {
            const hex = Buffer.from(payload).toString('hex')
            const data = hex === '' ? '' : `${streamId}:${hex}`
            const what =
              type === 0 ? `data ${data} end ${streamId} ${flags}` : `payload ${type} ${flags} ${streamId} ${hex}`
            return [`frame ${type} ${flags} ${streamId} ${wire.length}`, what]
          })
          expect(log.lines).toEqual(expected)
        },
      ),
      { numRuns: 300 },
    )
  })
})
