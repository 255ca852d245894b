import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GrpcCode } from '../../../../src/cri/errors.js'
import { FrameType, H2Error, MAX_WINDOW, Setting } from '../../../../src/cri/h2/frames.js'
import { UnaryConsumer } from '../../../../src/cri/h2/unaryConsumer.js'
import { criErrorOf, TestClient } from './support/client.js'
import { ScriptedServer } from './support/scriptedServer.js'
import { answer, frame, grpcHead, message, okTrailers, settings, uint32 } from './support/wire.js'

const { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION } =
  FrameType

let server: ScriptedServer

beforeEach(async () => {
  server = await new ScriptedServer().listen()
})
afterEach(() => server.close())

/** What a call comes to when the server answers with `bytes` and hangs up. `greet`: behind proper SETTINGS. */
async function outcomeOf(bytes: Uint8Array, greet = true) {
  const client = new TestClient(server.socketPath)
  const consumer = new UnaryConsumer('ContainerStatus', 1000, (buf, start, end) => buf.toString('latin1', start, end))
  const done = client.call({ call: 'ContainerStatus', consumer }).then(
    () => 'ok' as const,
    (error: unknown) => error,
  )
  const peer = await server.accept()
  // After a GOAWAY the call comes back on a second connection.
  server.refusing = true
  if (greet) {
    peer.send(settings())
    await peer.next(HEADERS)
  }
  peer.send(bytes)
  peer.socket.end()
  const outcome = await done
  server.refusing = false
  client.channel.close()
  expect(client.clock.pending).toBe(0)
  return outcome
}

const cut = (bytes: Uint8Array, at: number) => bytes.subarray(0, at)

describe('broken protocol ends the connection, with its code, and the call with UNAVAILABLE', () => {
  const whole = Buffer.concat([grpcHead])
  it.each<[string, number, Uint8Array]>([
    ['a frame over the size that we allow', H2Error.FRAME_SIZE_ERROR, frame(DATA, 0, 1, Buffer.alloc(16_385))],
    ['DATA of stream 0', H2Error.PROTOCOL_ERROR, frame(DATA, 0, 0, Buffer.alloc(5))],
    ['DATA of a stream that is not open', H2Error.PROTOCOL_ERROR, frame(DATA, 0, 3)],
    ['HEADERS of a stream of the server', H2Error.PROTOCOL_ERROR, frame(HEADERS, 4, 2, whole)],
    ['RST_STREAM of an idle stream', H2Error.PROTOCOL_ERROR, frame(RST_STREAM, 0, 99, uint32(0))],
    ['RST_STREAM of 5 bytes', H2Error.FRAME_SIZE_ERROR, frame(RST_STREAM, 0, 1, Buffer.alloc(5))],
    ['a push', H2Error.PROTOCOL_ERROR, frame(PUSH_PROMISE, 4, 1, Buffer.alloc(5))],
    ['a CONTINUATION of nothing', H2Error.PROTOCOL_ERROR, frame(CONTINUATION, 4, 1, whole)],
    [
      'a frame inside a header block',
      H2Error.PROTOCOL_ERROR,
      Buffer.concat([frame(HEADERS, 0, 1, whole), frame(PING, 0, 0, Buffer.alloc(8))]),
    ],
    [
      'a header block without end',
      H2Error.ENHANCE_YOUR_CALM,
      Buffer.concat([frame(HEADERS, 0, 1), ...Array<Buffer>(10_000).fill(frame(CONTINUATION, 0, 1))]),
    ],
    ['more padding than payload', H2Error.PROTOCOL_ERROR, frame(DATA, 8, 1, Buffer.from([5, 1, 2]))],
    ['a padded DATA frame of 0 bytes', H2Error.FRAME_SIZE_ERROR, frame(DATA, 8, 1)],
    ['a padded HEADERS frame of 0 bytes', H2Error.PROTOCOL_ERROR, frame(HEADERS, 0xc, 1)],
    ['a HEADERS frame that is all padding', H2Error.PROTOCOL_ERROR, frame(HEADERS, 0xc, 1, Buffer.from([9]))],
    ['a HEADERS frame without its priority', H2Error.PROTOCOL_ERROR, frame(HEADERS, 0x24, 1, Buffer.from([9]))],
    ['a header block that is none', H2Error.COMPRESSION_ERROR, frame(HEADERS, 4, 1, Buffer.from([0xff, 0xff]))],
    ['SETTINGS of a stream', H2Error.PROTOCOL_ERROR, frame(SETTINGS, 0, 1)],
    ['SETTINGS of 7 bytes', H2Error.FRAME_SIZE_ERROR, frame(SETTINGS, 0, 0, Buffer.alloc(7))],
    ['an acknowledgement with SETTINGS in it', H2Error.FRAME_SIZE_ERROR, frame(SETTINGS, 1, 0, Buffer.alloc(6))],
    ['a window of 4 GiB', H2Error.FLOW_CONTROL_ERROR, settings({ [Setting.INITIAL_WINDOW_SIZE]: 0xffff_ffff })],
    ['frames of 1 byte', H2Error.PROTOCOL_ERROR, settings({ [Setting.MAX_FRAME_SIZE]: 1 })],
    ['push switched on', H2Error.PROTOCOL_ERROR, settings({ [Setting.ENABLE_PUSH]: 1 })],
    ['PING of a stream', H2Error.PROTOCOL_ERROR, frame(PING, 0, 1, Buffer.alloc(8))],
    ['PING of 7 bytes', H2Error.FRAME_SIZE_ERROR, frame(PING, 0, 0, Buffer.alloc(7))],
    ['GOAWAY of a stream', H2Error.PROTOCOL_ERROR, frame(GOAWAY, 0, 1, Buffer.alloc(8))],
    ['GOAWAY of 7 bytes', H2Error.FRAME_SIZE_ERROR, frame(GOAWAY, 0, 0, Buffer.alloc(7))],
    ['a connection window update of 0', H2Error.PROTOCOL_ERROR, frame(WINDOW_UPDATE, 0, 0, uint32(0))],
    ['a connection window that overflows', H2Error.FLOW_CONTROL_ERROR, frame(WINDOW_UPDATE, 0, 0, uint32(MAX_WINDOW))],
    ['WINDOW_UPDATE of 3 bytes', H2Error.FRAME_SIZE_ERROR, frame(WINDOW_UPDATE, 0, 1, Buffer.alloc(3))],
    ['WINDOW_UPDATE of an idle stream', H2Error.PROTOCOL_ERROR, frame(WINDOW_UPDATE, 0, 7, uint32(1))],
    ['PRIORITY of the connection', H2Error.PROTOCOL_ERROR, frame(PRIORITY, 0, 0, Buffer.alloc(5))],
    ['PRIORITY of 4 bytes', H2Error.FRAME_SIZE_ERROR, frame(PRIORITY, 0, 1, Buffer.alloc(4))],
  ])('%s', async (_what, h2Code, bytes) => {
    const client = new TestClient(server.socketPath)
    const failure = client.failure()
    const peer = await server.accept()
    peer.send(settings())
    await peer.next(HEADERS)
    peer.send(bytes)
    expect(await failure).toMatchObject({ grpcCode: GrpcCode.UNAVAILABLE, cause: { h2Code } })
    expect((await peer.next(GOAWAY)).payload.readUInt32BE(4)).toBe(h2Code)
    await peer.untilClosed()
    client.channel.close()
  })

  it.each([
    ['HTTP/1.1 answers', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a server that begins with something else', frame(PING, 0, 0, Buffer.alloc(8))],
    ['a server that begins with an acknowledgement', frame(SETTINGS, 1, 0)],
  ])('%s', async (_what, bytes) => {
    expect(await outcomeOf(bytes, false)).toMatchObject({
      grpcCode: GrpcCode.UNAVAILABLE,
      details: expect.stringContaining('is it a gRPC server?'),
    })
  })
})

describe('messages that a status may not have', () => {
  const sent = (...payloads: Uint8Array[]) =>
    Buffer.concat([
      frame(HEADERS, 4, 1, grpcHead),
      ...payloads.map((payload) => frame(DATA, 0, 1, payload)),
      frame(HEADERS, 5, 1, okTrailers),
    ])
  it.each([
    ['a declared length over the limit', Buffer.concat([Buffer.from([0]), uint32(0xffff_ffff)]), 'RESOURCE_EXHAUSTED'],
    ['one byte over the limit', message(Buffer.alloc(1001)), 'RESOURCE_EXHAUSTED'],
    ['compression', Buffer.from([1, 0, 0, 0, 0]), 'INTERNAL'],
    ['two messages', Buffer.concat([message(Buffer.alloc(2)), message(Buffer.alloc(2))]), 'INTERNAL'],
    ['half a message', message(Buffer.alloc(20)).subarray(0, 9), 'INTERNAL'],
    ['half a prefix', Buffer.from([0, 0]), 'INTERNAL'],
    ['nothing', Buffer.alloc(0), 'INTERNAL'],
  ] as const)('%s', async (_what, bytes, code) => {
    expect(await outcomeOf(sent(bytes))).toMatchObject({ grpcCode: GrpcCode[code] })
  })

  it('two messages in two frames', async () => {
    const bytes = sent(message(Buffer.alloc(2)), message(Buffer.alloc(2)))
    expect(await outcomeOf(bytes)).toMatchObject({ grpcCode: GrpcCode.INTERNAL })
  })

  it('takes one at the limit', async () => {
    expect(await outcomeOf(sent(message(Buffer.alloc(1000))))).toBe('ok')
  })
})

describe('whatever comes, a call ends with an answer or a CriError', () => {
  const good = Buffer.concat([settings({ [Setting.MAX_CONCURRENT_STREAMS]: 10 }), answer(1, Buffer.from('status'))])

  it('cut off at each offset', async () => {
    for (let at = 0; at < good.length; at++) {
      expect(await outcomeOf(cut(good, at), false)).toMatchObject({ grpcCode: GrpcCode.UNAVAILABLE })
    }
    expect(await outcomeOf(good, false)).toBe('ok')
  }, 30_000)

  const wellFormed = fc
    .record({
      type: fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 255 })),
      flags: fc.oneof(fc.constantFrom(0, 1, 4, 5, 8, 0xd), fc.integer({ min: 0, max: 255 })),
      streamId: fc.constantFrom(0, 1, 1, 1, 2, 3, MAX_WINDOW),
      payload: fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc.constantFrom(grpcHead, okTrailers, message(Buffer.from('x')), uint32(5), Buffer.alloc(8)),
      ),
    })
    .map((f) => frame(f.type, f.flags, f.streamId, f.payload))

  it.each<[string, boolean, fc.Arbitrary<Uint8Array>]>([
    ['random bytes', false, fc.uint8Array({ maxLength: 300 })],
    ['random bytes behind SETTINGS', true, fc.uint8Array({ maxLength: 300 })],
    ['random frames', true, fc.array(wellFormed, { maxLength: 12 }).map((frames) => Buffer.concat(frames))],
    [
      'a good answer with bytes changed',
      false,
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }).map((changes) => {
        const bytes = Buffer.from(good)
        for (const [at, value] of changes) bytes[at] = value
        return bytes
      }),
    ],
  ])(
    '%s',
    async (_what, greet, arbitrary) => {
      await fc.assert(
        fc.asyncProperty(arbitrary, async (bytes) => {
          const outcome = await outcomeOf(bytes, greet)
          if (outcome !== 'ok') await criErrorOf(Promise.reject(outcome))
        }),
        { numRuns: 200 },
      )
    },
    30_000,
  )
})

describe('floods', () => {
  it('gives up a peer that asks for answers and does not read them', async () => {
    const client = new TestClient(server.socketPath)
    const failure = client.failure()
    const peer = await server.accept()
    peer.send(settings())
    await peer.next(HEADERS)
    peer.socket.pause()
    const pings = Buffer.concat(Array<Buffer>(10_000).fill(frame(PING, 0, 0, Buffer.alloc(8))))
    const flood = setInterval(() => peer.socket.writableLength < 10_000_000 && peer.send(pings), 1)
    expect(await failure).toMatchObject({ details: 'the runtime does not read what it is sent' })
    clearInterval(flood)
    client.channel.close()
  })

  it('takes no more calls than it can keep', async () => {
    const client = new TestClient(server.socketPath)
    const calls = Array.from({ length: 4097 }, () => client.failure())
    expect(await calls.at(-1)).toMatchObject({ grpcCode: GrpcCode.RESOURCE_EXHAUSTED })
    client.channel.close()
    const closed = await Promise.all(calls.slice(0, -1))
    expect(closed.every((error) => error.grpcCode === GrpcCode.UNAVAILABLE)).toBe(true)
  })
})
