import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GrpcCode } from '../../../../src/cri/errors.js'
import { FrameType } from '../../../../src/cri/h2/frames.js'
import { Collector, criErrorOf, TestClient } from './support/client.js'
import { type Peer, ScriptedServer } from './support/scriptedServer.js'
import { answer, frame, grpcHead, okTrailers, settings } from './support/wire.js'

const PAYLOAD = Buffer.alloc(16_384, 'x')
/** Far more than one read and the kernel's buffers hold. */
const FRAMES = 400

let server: ScriptedServer
let client: TestClient

beforeEach(async () => {
  server = await new ScriptedServer().listen()
  client = new TestClient(server.socketPath)
})
afterEach(async () => {
  client.channel.close()
  await server.close()
})

/** A consumer that says it is congested from its first byte on, until `ease`. */
class CongestedCollector extends Collector {
  fed = 0
  asked = 0
  ease: () => void = () => {}
  break: (error: Error) => void = () => {}
  #promise: Promise<void> | undefined = new Promise((resolve, reject) => {
    this.ease = () => {
      this.#promise = undefined
      resolve()
    }
    this.break = reject
  })
  override congested = () => {
    if (this.fed > 0) this.asked++
    return this.fed > 0 ? this.#promise : undefined
  }

  override feed(_buf: Buffer, start: number, end: number): number {
    this.fed += end - start
    return end - start
  }
}

async function beginList(consumer: CongestedCollector, deadlineMs = 120_000) {
  const done = client.call({ consumer, deadlineMs })
  done.catch(() => {})
  const peer = await server.accept()
  peer.send(settings())
  const { streamId } = await peer.next(FrameType.HEADERS)
  peer.send(frame(FrameType.HEADERS, 4, streamId, grpcHead))
  for (let i = 0; i < FRAMES; i++) peer.send(frame(FrameType.DATA, 0, streamId, PAYLOAD))
  peer.send(frame(FrameType.HEADERS, 5, streamId, okTrailers))
  while (consumer.asked === 0) await new Promise(setImmediate)
  return { done, peer }
}

/** The client has read nothing more, though many turns of the event loop passed and the server still has bytes. */
async function expectPaused(consumer: CongestedCollector, peer: Peer) {
  const { fed } = consumer
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  expect(consumer.fed).toBe(fed)
  expect(peer.socket.writableLength).toBeGreaterThan(0)
}

describe('a congested sink', () => {
  it('stops the runtime until it is eased, and loses nothing', async () => {
    const consumer = new CongestedCollector()
    const { done, peer } = await beginList(consumer)
    await expectPaused(consumer, peer)
    consumer.ease()
    await done
    expect(consumer.fed).toBe(FRAMES * PAYLOAD.length)
  })

  it('does not outlive its deadline, nor hold up the next call', async () => {
    const consumer = new CongestedCollector()
    const { done, peer } = await beginList(consumer, 1000)
    await client.clock.advance(1000)
    expect((await criErrorOf(done)).grpcCode).toBe(GrpcCode.DEADLINE_EXCEEDED)
    const next = client.call()
    const { streamId } = await peer.next(FrameType.HEADERS)
    peer.send(answer(streamId, Buffer.from('ok')))
    await next
  })

  it('fails the call when it breaks', async () => {
    const consumer = new CongestedCollector()
    const { done } = await beginList(consumer)
    const broken = new Error('the shard is gone')
    consumer.break(broken)
    await expect(done).rejects.toBe(broken)
  })
})
