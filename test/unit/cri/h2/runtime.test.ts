import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GrpcCode } from '../../../../src/cri/errors.js'
import { FrameType } from '../../../../src/cri/h2/frames.js'
import { H2Runtime } from '../../../../src/cri/h2/runtime.js'
import { FakeClock } from '../../../support/fakeClock.js'
import { criErrorOf } from './support/client.js'
import { type Peer, ScriptedServer } from './support/scriptedServer.js'
import { answer, frame, grpcHead, message, okTrailers, settings, trailers, uint32 } from './support/wire.js'

const ignore = { item: () => {} }

let server: ScriptedServer
let clock: FakeClock
let runtime: H2Runtime

beforeEach(async () => {
  server = await new ScriptedServer().listen()
  clock = new FakeClock()
  const { socketPath } = server
  runtime = new H2Runtime({ endpoint: `unix://${socketPath}`, socketPath, clock, deadlineMs: 1000 })
})
afterEach(async () => {
  await runtime.close()
  await server.close()
})

async function accept(): Promise<{ peer: Peer; streamId: number }> {
  const peer = await server.accept()
  peer.send(settings())
  const { streamId } = await peer.next(FrameType.HEADERS)
  return { peer, streamId }
}

describe('H2Runtime', () => {
  it('runs the two lists and the statuses on connections of their own', async () => {
    const calls = Promise.allSettled([
      runtime.listPodSandboxes(ignore),
      runtime.listContainers(ignore),
      runtime.podSandboxStatus('a'),
      runtime.containerStatus('b'),
    ])
    const accepted = [await accept(), await accept(), await accept()]
    for (const { peer, streamId } of accepted) {
      expect(streamId).toBe(1)
      peer.socket.destroy()
    }
    await calls
    server.refusing = true
  })

  it('says what a call that failed was about', async () => {
    const failure = criErrorOf(runtime.containerStatus('abc'))
    const { peer, streamId } = await accept()
    await clock.advance(20)
    peer.send(
      frame(FrameType.HEADERS, 4, streamId, grpcHead),
      frame(FrameType.HEADERS, 5, streamId, trailers(5, 'no such container')),
    )
    expect((await failure).toJSON()).toEqual({
      code: 'CRI_NOT_FOUND',
      message: 'ContainerStatus: NOT_FOUND: no such container',
      facts: { call: 'ContainerStatus', grpcCode: 5, endpoint: runtime.endpoint, id: 'abc', durationMs: 20 },
    })
  })

  it('tells what was exhausted', async () => {
    const failure = criErrorOf(runtime.listContainers(ignore))
    const { peer, streamId } = await accept()
    const block = trailers(8, 'trying to send message larger than max (20006505 vs. 16777216)')
    peer.send(frame(FrameType.HEADERS, 4, streamId, grpcHead), frame(FrameType.HEADERS, 5, streamId, block))
    expect((await failure).facts['cause']).toBe('answer_too_large')
    const calm = criErrorOf(runtime.listContainers(ignore))
    peer.send(frame(FrameType.RST_STREAM, 0, (await peer.next(FrameType.HEADERS)).streamId, uint32(11)))
    expect((await calm).facts['cause']).toBe('enhance_your_calm')
  })

  it('gives each call the deadline that it was made with, or else its own', async () => {
    const own = criErrorOf(runtime.containerStatus('abc'))
    const longer = criErrorOf(runtime.containerStatus('abc', { deadlineMs: 5000 }))
    await accept()
    await clock.advance(1000)
    expect(await own).toMatchObject({ grpcCode: GrpcCode.DEADLINE_EXCEEDED, facts: { deadlineMs: 1000 } })
    await clock.advance(4000)
    expect(await longer).toMatchObject({ grpcCode: GrpcCode.DEADLINE_EXCEEDED, facts: { deadlineMs: 5000 } })
  })

  it('reports what a list took', async () => {
    const list = runtime.listContainers(ignore)
    const { peer, streamId } = await accept()
    const items = Buffer.from([0x0a, 3, 0x0a, 1, 0x61, 0x0a, 3, 0x0a, 1, 0x62])
    peer.send(answer(streamId, items))
    expect(await list).toEqual({ mode: 'unary', items: 2, bytes: 10, largestMessage: 10 })
  })

  it.each([0, 2])('refuses a list of %s messages', async (count) => {
    const failure = criErrorOf(runtime.listContainers(ignore))
    const { peer, streamId } = await accept()
    const messages = Array.from({ length: count }, () => message(Buffer.alloc(0)))
    peer.send(
      frame(FrameType.HEADERS, 4, streamId, grpcHead),
      frame(FrameType.DATA, 0, streamId, Buffer.concat(messages)),
      frame(FrameType.HEADERS, 5, streamId, okTrailers),
    )
    expect(await failure).toMatchObject({ grpcCode: GrpcCode.INTERNAL, details: `${count} messages in a unary answer` })
  })
})
