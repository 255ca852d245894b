import { describe, expect, it } from 'vitest'
import { Exchange } from '../../../../src/cri/h2/exchange.js'
import { MAX_FRAME } from '../../../../src/cri/h2/frames.js'
import { FrameWriter } from '../../../../src/cri/h2/frameWriter.js'
import { requestHead } from '../../../../src/cri/h2/requestHead.js'
import { Session } from '../../../../src/cri/h2/session.js'
import { FakeClock } from '../../../support/fakeClock.js'
import { Collector } from './support/client.js'
import { message } from './support/wire.js'

const GIB = 2 ** 30

describe('Session', () => {
  it('gives the peer as much window as it used, before half of 2 GiB is gone', () => {
    let written: Buffer[] = []
    const writer = new FrameWriter((bytes) => written.push(Buffer.from(bytes)))
    const events = { ready: () => {}, draining: () => {}, unprocessed: () => {}, drained: () => {} }
    const session = new Session(writer, events)
    session.settings(Buffer.alloc(0), 0, 0)
    const request = { call: 'ListContainers', head: requestHead('ListContainers'), body: message(Buffer.alloc(0)) }
    session.start(new Exchange(request, new Collector(), new FakeClock(), { deadlineMs: 1000 }))
    writer.flush()
    written = []
    let received = 0
    while (written.length === 0 && received < 2 * GIB) {
      session.dataStart(1, MAX_FRAME)
      received += MAX_FRAME
      writer.flush()
    }
    const updates = Buffer.concat(written)
    const increments = new Map([0, 13].map((at) => [updates.readUInt32BE(at + 5), updates.readUInt32BE(at + 9)]))
    expect(updates).toHaveLength(2 * 13)
    expect(increments).toEqual(
      new Map([
        [0, received],
        [1, received],
      ]),
    )
    expect(received).toBeLessThanOrEqual(GIB + MAX_FRAME)
  })
})
