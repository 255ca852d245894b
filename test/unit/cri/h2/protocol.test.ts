import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GrpcCode } from '../../../../src/cri/errors.js'
import { FrameType, H2Error, MAX_WINDOW, Setting } from '../../../../src/cri/h2/frames.js'
import { decodeHeaderBlock } from '../../../../src/cri/h2/hpack.js'
import { type CallSpec, Collector, criErrorOf, TestClient } from './support/client.js'
import { type Peer, ScriptedServer } from './support/scriptedServer.js'
import { answer, frame, grpcHead, literal, message, okTrailers, settings, trailers, uint32 } from './support/wire.js'

const { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION } = FrameType
const END_HEADERS = 0x4
const END_BOTH = 0x5
const payload = Buffer.from('answer')

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

/** Starts a call and brings it to where its request has been received. */
async function begin(spec: CallSpec = {}, entries: Record<number, number> = {}) {
  const consumer = new Collector()
  const done = client.call({ ...spec, consumer: spec.consumer ?? consumer })
  done.catch(() => {})
  const peer = await server.accept()
  peer.send(settings(entries))
  const headers = await peer.next(HEADERS)
  return { done, peer, consumer, headers, id: headers.streamId }
}

describe('what goes out', () => {
  it('opens with SETTINGS that forbid push and dynamic tables, and a wide connection window', async () => {
    const { peer } = await begin()
    const { payload: sent } = await peer.next(SETTINGS)
    const entries = new Map<number, number>()
    for (let at = 0; at < sent.length; at += 6) entries.set(sent.readUInt16BE(at), sent.readUInt32BE(at + 2))
    expect(entries.get(Setting.HEADER_TABLE_SIZE)).toBe(0)
    expect(entries.get(Setting.ENABLE_PUSH)).toBe(0)
    expect(entries.get(Setting.INITIAL_WINDOW_SIZE)).toBe(MAX_WINDOW)
    expect((await peer.next(WINDOW_UPDATE, 0)).payload.readUInt32BE()).toBe(MAX_WINDOW - 65_535)
  })

  it('sends a gRPC request with its deadline', async () => {
    const { peer, headers, id } = await begin({ payload: Buffer.from('abc'), deadlineMs: 1500 })
    const fields = new Map<string, string>()
    decodeHeaderBlock(headers.payload, 0, headers.payload.length, (name, value) => fields.set(name, value))
    expect(Object.fromEntries(fields)).toEqual({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': '/runtime.v1.RuntimeService/ListContainers',
      ':authority': 'localhost',
      'content-type': 'application/grpc',
      'user-agent': 'plegd-h2',
      te: 'trailers',
      'grpc-timeout': '1500m',
    })
    const data = await peer.next(DATA, id)
    expect(data.flags).toBe(1)
    expect(data.payload).toEqual(message(Buffer.from('abc')))
  })

  it('says once, first, that it keeps no dynamic table', async () => {
    const { peer, headers } = await begin()
    const second = client.call()
    second.catch(() => {})
    const blocks = [headers, await peer.next(HEADERS)].map((f) => f.payload)
    expect(blocks[0]![0]).toBe(0x20)
    expect(blocks[1]).toEqual(blocks[0]!.subarray(1))
  })

  it('acknowledges SETTINGS and PING', async () => {
    const { peer } = await begin()
    await peer.next(SETTINGS)
    expect(await peer.next(SETTINGS)).toMatchObject({ flags: 1, payload: Buffer.alloc(0) })
    peer.send(frame(PING, 0, 0, Buffer.from('12345678')))
    expect(await peer.next(PING)).toMatchObject({ flags: 1, payload: Buffer.from('12345678') })
  })

  it('does not answer the acknowledgement of a PING', async () => {
    const { peer } = await begin()
    peer.send(frame(PING, 1, 0, Buffer.from('aaaaaaaa')), frame(PING, 0, 0, Buffer.from('bbbbbbbb')))
    expect((await peer.next(PING)).payload.toString()).toBe('bbbbbbbb')
  })
})

describe('answers', () => {
  it('takes head, data and trailers', async () => {
    const { done, peer, consumer, id } = await begin()
    peer.send(answer(id, payload))
    await done
    expect(consumer.bytes).toEqual(message(payload))
    expect(consumer.finished).toBe(true)
  })

  it('takes padding, priority, CONTINUATION and frames that nobody knows', async () => {
    const { done, peer, consumer, id } = await begin()
    const head = Buffer.concat([
      Buffer.from([2]),
      uint32(0),
      Buffer.from([16]),
      grpcHead.subarray(0, 3),
      Buffer.alloc(2),
    ])
    peer.send(
      frame(HEADERS, 0x8 | 0x20, id, head),
      frame(CONTINUATION, 0, id, grpcHead.subarray(3, 9)),
      frame(CONTINUATION, END_HEADERS, id, grpcHead.subarray(9)),
      frame(PRIORITY, 0, id, Buffer.alloc(5)),
      frame(0xfa, 0xff, id, Buffer.from('ignored')),
      frame(DATA, 0x8, id, Buffer.concat([Buffer.from([3]), message(payload), Buffer.alloc(3)])),
      frame(DATA, 0x8, id, Buffer.from([0])),
      frame(DATA, 0x8, id, Buffer.concat([Buffer.from([255]), Buffer.alloc(255)])),
      frame(DATA, 0, id),
      frame(HEADERS, END_BOTH, id, okTrailers),
    )
    await done
    expect(consumer.bytes).toEqual(message(payload))
  })

  it('skips informational heads', async () => {
    const { done, peer, id } = await begin()
    peer.send(frame(HEADERS, END_HEADERS, id, literal(':status', '103')), answer(id, payload))
    await done
  })

  it('is indifferent to where reads end', async () => {
    const { peer, done, id } = await begin()
    peer.send(answer(id, payload))
    await done
    const ping = frame(PING, 0, 0, Buffer.alloc(8))
    const length = answer(id, payload).length
    for (let cut = 0; cut < length; cut++) {
      const consumer = new Collector()
      const call = client.call({ consumer })
      const { streamId } = await peer.next(HEADERS)
      const bytes = answer(streamId, payload)
      peer.send(ping, bytes.subarray(0, cut))
      // Its acknowledgement shows that the first part was read on its own.
      await peer.next(PING)
      peer.send(bytes.subarray(cut))
      await call
      expect(consumer.bytes).toEqual(message(payload))
    }
  })

  it('keeps answers of streams that run side by side apart', async () => {
    const { peer, done, consumer, id } = await begin()
    const other = new Collector(7)
    const second = client.call({ consumer: other })
    const { streamId } = await peer.next(HEADERS)
    const mine = message(Buffer.from(Array.from({ length: 40_000 }, (_, i) => i % 251)))
    const theirs = message(Buffer.from(Array.from({ length: 40_000 }, (_, i) => i % 241)))
    peer.send(frame(HEADERS, END_HEADERS, id, grpcHead), frame(HEADERS, END_HEADERS, streamId, grpcHead))
    for (let at = 0; at < mine.length; at += 1000) {
      peer.send(frame(DATA, 0, id, mine.subarray(at, at + 1000)))
      peer.send(frame(DATA, 0, streamId, theirs.subarray(at, at + 1000)))
    }
    peer.send(frame(HEADERS, END_BOTH, streamId, okTrailers), frame(HEADERS, END_BOTH, id, okTrailers))
    await Promise.all([done, second])
    expect(consumer.bytes.equals(mine)).toBe(true)
    expect(other.bytes.equals(theirs)).toBe(true)
  })
})

describe('calls that fail', () => {
  it.each([
    [trailers(5, 'no such container: %C3%BC 100%'), GrpcCode.NOT_FOUND, 'no such container: ü 100%'],
    [trailers(8, 'received message larger than max'), GrpcCode.RESOURCE_EXHAUSTED, 'received message larger than max'],
    [literal('grpc-status', 'x'), GrpcCode.UNKNOWN, 'grpc-status "x" is not a number'],
    [literal('other', 'x'), GrpcCode.INTERNAL, 'the runtime ended the call without a grpc-status'],
  ])('by trailers (%#)', async (block, grpcCode, details) => {
    const { done, peer, id } = await begin()
    peer.send(frame(HEADERS, END_HEADERS, id, grpcHead), frame(HEADERS, END_BOTH, id, block))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode, details, call: 'ListContainers' })
  })

  it('by trailers alone', async () => {
    const { done, peer, id } = await begin()
    peer.send(frame(HEADERS, END_BOTH, id, Buffer.concat([grpcHead, trailers(12, 'unknown service')])))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.UNIMPLEMENTED, details: 'unknown service' })
  })

  it.each([
    ['400', GrpcCode.INTERNAL],
    ['401', GrpcCode.UNAUTHENTICATED],
    ['403', GrpcCode.PERMISSION_DENIED],
    ['404', GrpcCode.UNIMPLEMENTED],
    ['429', GrpcCode.UNAVAILABLE],
    ['503', GrpcCode.UNAVAILABLE],
    ['500', GrpcCode.UNKNOWN],
    ['zero', GrpcCode.UNKNOWN],
  ])('by HTTP status %s', async (status, grpcCode) => {
    const { done, peer, id } = await begin()
    peer.send(frame(HEADERS, END_HEADERS, id, literal(':status', status)))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode })
    expect((await peer.next(RST_STREAM, id)).payload.readUInt32BE()).toBe(H2Error.CANCEL)
  })

  it("by gRPC's status rather than HTTP's where there are both", async () => {
    const { done, peer, id } = await begin()
    peer.send(frame(HEADERS, END_BOTH, id, Buffer.concat([literal(':status', '503'), trailers(7, 'no')])))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.PERMISSION_DENIED, details: 'no' })
  })

  it('by a content type that is not gRPC', async () => {
    const { done, peer, id } = await begin()
    const head = Buffer.concat([Buffer.from([0x88]), literal('content-type', 'application/grpcish')])
    peer.send(frame(HEADERS, END_HEADERS, id, head))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.UNKNOWN })
  })

  it.each([
    ['NO_ERROR', GrpcCode.INTERNAL],
    ['PROTOCOL_ERROR', GrpcCode.INTERNAL],
    ['REFUSED_STREAM', GrpcCode.UNAVAILABLE],
    ['CANCEL', GrpcCode.CANCELLED],
    ['ENHANCE_YOUR_CALM', GrpcCode.RESOURCE_EXHAUSTED],
    ['INADEQUATE_SECURITY', GrpcCode.PERMISSION_DENIED],
    ['STREAM_CLOSED', GrpcCode.UNKNOWN],
  ] as const)('by RST_STREAM %s', async (name, grpcCode) => {
    const { done, peer, id } = await begin()
    peer.send(frame(RST_STREAM, 0, id, uint32(H2Error[name])))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode, facts: { h2Error: name } })
  })

  it('not by RST_STREAM after the whole answer', async () => {
    const { done, peer, id } = await begin()
    peer.send(answer(id, payload), frame(RST_STREAM, 0, id, uint32(H2Error.NO_ERROR)))
    await done
  })

  it('tells "bandwidth exhausted" from a message that is too large', async () => {
    const { done, peer, id } = await begin()
    peer.send(frame(RST_STREAM, 0, id, uint32(H2Error.ENHANCE_YOUR_CALM)))
    expect((await criErrorOf(done)).details).toMatch(/^bandwidth exhausted/)
  })

  it.each([
    ['data before a head', (id: number) => frame(DATA, 0, id, payload)],
    ['an end without trailers', (id: number) => Buffer.concat([frame(HEADERS, 4, id, grpcHead), frame(DATA, 1, id)])],
    [
      'trailers that do not end the stream',
      (id: number) => Buffer.concat([frame(HEADERS, 4, id, grpcHead), frame(HEADERS, 4, id, okTrailers)]),
    ],
    ['a window update of 0', (id: number) => frame(WINDOW_UPDATE, 0, id, uint32(0))],
    ['a window that overflows', (id: number) => frame(WINDOW_UPDATE, 0, id, uint32(MAX_WINDOW))],
  ])('by %s, and the connection lives on', async (_what, bytes) => {
    const { done, peer, id } = await begin()
    peer.send(bytes(id))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.INTERNAL })
    const next = client.call()
    const { streamId } = await peer.next(HEADERS)
    peer.send(answer(streamId, payload))
    await next
  })

  it('with what the consumer throws', async () => {
    const broken = new Error('the sink is broken')
    const consumer = new Collector()
    consumer.feed = () => {
      throw broken
    }
    const { done, peer, id } = await begin({ consumer })
    peer.send(answer(id, payload))
    await expect(done).rejects.toBe(broken)
  })
})

describe('deadlines and abort', () => {
  it('gives up at the deadline and says so on the wire', async () => {
    const { done, peer, id } = await begin({ deadlineMs: 1000 })
    await client.clock.advance(999)
    peer.send(frame(PING, 0, 0, Buffer.alloc(8)))
    await peer.next(PING)
    await client.clock.advance(1)
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.DEADLINE_EXCEEDED, facts: { deadlineMs: 1000 } })
    expect((await peer.next(RST_STREAM, id)).payload.readUInt32BE()).toBe(H2Error.CANCEL)
  })

  it('ignores what still comes for a call that it gave up', async () => {
    const { done, peer, id } = await begin({ deadlineMs: 1000 })
    await client.clock.advance(1000)
    await criErrorOf(done)
    const next = client.call()
    const { streamId } = await peer.next(HEADERS)
    peer.send(answer(id, payload), answer(streamId, payload))
    await next
  })

  it.each([0, -1])('fails at once with a deadline of %s', async (deadlineMs) => {
    const { grpcCode } = await client.failure({ deadlineMs })
    expect(grpcCode).toBe(GrpcCode.DEADLINE_EXCEEDED)
    expect(client.clock.pending).toBe(0)
  })

  it('takes a reset by the runtime at the deadline for the deadline', async () => {
    const { done, peer, id } = await begin({ deadlineMs: 1000 })
    vi.spyOn(client.clock, 'now').mockReturnValue(client.clock.now() + 1000)
    peer.send(frame(RST_STREAM, 0, id, uint32(H2Error.CANCEL)))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.DEADLINE_EXCEEDED })
  })

  it('gives up when the caller does', async () => {
    const abort = new AbortController()
    const { done, peer, id } = await begin({ signal: abort.signal })
    abort.abort(new Error('enough'))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.CANCELLED, cause: new Error('enough') })
    await peer.next(RST_STREAM, id)
    const { grpcCode } = await client.failure({ signal: abort.signal })
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
    expect(grpcCode).toBe(GrpcCode.CANCELLED)
  })

  it('leaves no timer behind', async () => {
    const { done, peer, id } = await begin()
    peer.send(answer(id, payload))
    await done
    expect(client.clock.pending).toBe(0)
  })
})

describe('flow control of requests', () => {
  const request = Buffer.alloc(100, 'r')

  it('sends as much as the windows allow, and the rest as they open', async () => {
    const { done, peer, id } = await begin({ payload: request }, { [Setting.INITIAL_WINDOW_SIZE]: 10 })
    expect((await peer.next(DATA, id)).payload).toHaveLength(10)
    peer.send(frame(WINDOW_UPDATE, 0, id, uint32(20)))
    expect(await peer.next(DATA, id)).toMatchObject({ flags: 0, payload: { length: 20 } })
    peer.send(settings({ [Setting.INITIAL_WINDOW_SIZE]: 1000 }))
    expect(await peer.next(DATA, id)).toMatchObject({ flags: 1, payload: { length: 75 } })
    peer.send(answer(id, payload))
    await done
  })

  it('honours a window that shrinks below zero', async () => {
    const { peer, id } = await begin({ payload: request }, { [Setting.INITIAL_WINDOW_SIZE]: 50 })
    expect((await peer.next(DATA, id)).payload).toHaveLength(50)
    peer.send(settings({ [Setting.INITIAL_WINDOW_SIZE]: 0 }), frame(WINDOW_UPDATE, 0, id, uint32(50)))
    peer.send(frame(PING, 0, 0, Buffer.alloc(8)))
    await peer.next(PING)
    expect(peer.frames.filter((f) => f.type === DATA)).toEqual([])
    peer.send(frame(WINDOW_UPDATE, 0, id, uint32(55)))
    expect((await peer.next(DATA, id)).payload).toHaveLength(55)
  })

  it('shares the connection window', async () => {
    const large = Buffer.alloc(70_000)
    const { peer, id } = await begin({ payload: large }, { [Setting.INITIAL_WINDOW_SIZE]: 1_000_000 })
    let sent = 0
    while (sent < 65_535) {
      const { payload: piece } = await peer.next(DATA, id)
      expect(piece.length).toBeLessThanOrEqual(16_384)
      sent += piece.length
    }
    expect(sent).toBe(65_535)
    peer.send(frame(WINDOW_UPDATE, 0, 0, uint32(100_000)))
    expect(await peer.next(DATA, id)).toMatchObject({ flags: 1, payload: { length: 70_005 - 65_535 } })
  })

  it('uses the larger frames that the peer takes', async () => {
    const large = Buffer.from(Array.from({ length: 60_000 }, (_, i) => i % 251))
    const { peer, id } = await begin({ payload: large }, { [Setting.MAX_FRAME_SIZE]: 100_000 })
    const data = await peer.next(DATA, id)
    expect(data.payload.equals(message(large))).toBe(true)
  })

  it('resets a request that was answered before it was sent', async () => {
    const { done, peer, id } = await begin({ payload: request }, { [Setting.INITIAL_WINDOW_SIZE]: 10 })
    peer.send(answer(id, payload))
    await done
    await peer.next(RST_STREAM, id)
  })

  it('keeps to MAX_CONCURRENT_STREAMS', async () => {
    const { done, peer, id } = await begin({}, { [Setting.MAX_CONCURRENT_STREAMS]: 1 })
    const second = client.call()
    peer.send(frame(PING, 0, 0, Buffer.alloc(8)))
    await peer.next(PING)
    expect(peer.frames.filter((f) => f.type === HEADERS)).toEqual([])
    peer.send(answer(id, payload))
    await done
    const { streamId } = await peer.next(HEADERS)
    peer.send(answer(streamId, payload))
    await second
  })

  it('forgets a waiting call whose deadline passes', async () => {
    const { peer, id, done } = await begin({}, { [Setting.MAX_CONCURRENT_STREAMS]: 1 })
    const late = client.failure({ deadlineMs: 10 })
    await client.clock.advance(10)
    const { grpcCode } = await late
    expect(grpcCode).toBe(GrpcCode.DEADLINE_EXCEEDED)
    const third = client.call()
    peer.send(answer(id, payload))
    await done
    const { streamId } = await peer.next(HEADERS)
    expect(streamId).toBe(id + 2)
    peer.send(answer(streamId, payload))
    await third
  })
})

describe('GOAWAY', () => {
  const goAway = (lastId: number, code = 0, text = '') =>
    frame(GOAWAY, 0, 0, Buffer.concat([uint32(lastId), uint32(code), Buffer.from(text)]))

  async function serveOn(peer: Peer) {
    peer.send(settings())
    const { streamId } = await peer.next(HEADERS)
    peer.send(answer(streamId, payload))
  }

  it('lets processed calls finish, tries the others again elsewhere, and closes', async () => {
    const { done, peer, id } = await begin()
    const second = client.call()
    await peer.next(HEADERS)
    peer.send(goAway(id))
    await serveOn(await server.accept())
    await second
    peer.send(answer(id, payload))
    await done
    await peer.untilClosed()
  })

  it('is followed by new calls on a new connection', async () => {
    const { peer, id, done } = await begin()
    peer.send(goAway(MAX_WINDOW), frame(PING, 0, 0, Buffer.alloc(8)))
    await peer.next(PING)
    const next = client.call()
    await serveOn(await server.accept())
    await next
    peer.send(goAway(id), answer(id, payload))
    await done
  })

  it('fails a call that two connections refused', async () => {
    const { peer, done } = await begin()
    peer.send(goAway(0))
    const again = await server.accept()
    again.send(settings())
    await again.next(HEADERS)
    again.send(goAway(0, H2Error.ENHANCE_YOUR_CALM, 'too_many_pings'))
    expect(await criErrorOf(done)).toMatchObject({
      grpcCode: GrpcCode.UNAVAILABLE,
      details: 'GOAWAY: ENHANCE_YOUR_CALM: too_many_pings',
    })
  })

  it('fails a call that two connections never began', async () => {
    const failure = client.failure()
    for (let i = 0; i < 2; i++) {
      const peer = await server.accept()
      peer.send(settings({ [Setting.MAX_CONCURRENT_STREAMS]: 0 }), goAway(0, H2Error.ENHANCE_YOUR_CALM))
    }
    expect(await failure).toMatchObject({
      grpcCode: GrpcCode.UNAVAILABLE,
      details: 'GOAWAY: ENHANCE_YOUR_CALM',
    })
  })

  it('fails a call that was answered and then disowned', async () => {
    const { peer, id, done } = await begin()
    peer.send(frame(HEADERS, END_HEADERS, id, grpcHead), goAway(0))
    expect(await criErrorOf(done)).toMatchObject({ grpcCode: GrpcCode.UNAVAILABLE })
  })

  it('gives its reason to the calls that break with the connection', async () => {
    const { peer, id, done } = await begin()
    peer.send(goAway(id, H2Error.INTERNAL_ERROR, 'bye'))
    peer.socket.end()
    expect(await criErrorOf(done)).toMatchObject({
      grpcCode: GrpcCode.UNAVAILABLE,
      details: 'GOAWAY: INTERNAL_ERROR: bye',
    })
  })
})
