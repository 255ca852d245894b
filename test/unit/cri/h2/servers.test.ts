import { once } from 'node:events'
import http2 from 'node:http2'
import grpc from '@grpc/grpc-js'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CriError, GrpcCode } from '../../../../src/cri/errors.js'
import { Channel } from '../../../../src/cri/h2/channel.js'
import { requestHead } from '../../../../src/cri/h2/requestHead.js'
import { UnaryConsumer } from '../../../../src/cri/h2/unaryConsumer.js'
import { systemClock } from '../../../../src/model/clock.js'
import { Collector, criErrorOf } from './support/client.js'
import { temporarySocket } from './support/scriptedServer.js'
import { message } from './support/wire.js'

const PATH = '/runtime.v1.RuntimeService/'
const raw = (bytes: Buffer) => bytes

/** Sends `request` and returns the one message of the answer. */
async function unary(channel: Channel, call: string, request: Buffer, deadlineMs = 20_000): Promise<Buffer> {
  const consumer = new UnaryConsumer(call, 64 * 1024 * 1024, (buf, start, end) => Buffer.from(buf.subarray(start, end)))
  await channel.call({ call, head: requestHead(call), body: message(request) }, consumer, { deadlineMs })
  return consumer.message
}

describe("against grpc-js's server", () => {
  const socketPath = temporarySocket()
  const server = new grpc.Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_concurrent_streams': 5 })
  let channel: Channel
  let cancelled: () => void = () => {}

  beforeAll(async () => {
    const method = (name: string, responseStream: boolean) => ({
      path: PATH + name,
      requestStream: false,
      responseStream,
      requestSerialize: raw,
      requestDeserialize: raw,
      responseSerialize: raw,
      responseDeserialize: raw,
    })
    server.addService(
      {
        Echo: method('Echo', false),
        Fail: method('Fail', false),
        Hang: method('Hang', false),
        Stream: method('Stream', true),
      },
      {
        Echo: (call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) =>
          done(null, call.request),
        Fail: (call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) =>
          done({ code: grpc.status.NOT_FOUND, details: call.request.toString() }),
        Hang: (call: grpc.ServerUnaryCall<Buffer, Buffer>) => {
          call.on('cancelled', () => cancelled())
        },
        Stream: (call: grpc.ServerWritableStream<Buffer, Buffer>) => {
          for (let i = 0; i < 100; i++) call.write(Buffer.alloc(i * 100, i))
          call.end()
        },
      },
    )
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${socketPath}`, grpc.ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      )
    })
    channel = new Channel(socketPath, systemClock)
  })
  afterAll(() => {
    channel.close()
    server.forceShutdown()
  })

  it.each([0, 1, 100, 16_383, 16_384, 70_000, 5_000_000])('echoes %s bytes, under its flow control', async (size) => {
    const sent = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7) % 251))
    const received = await unary(channel, 'Echo', sent)
    expect(received.equals(sent)).toBe(true)
  })

  it('runs 200 calls side by side, over the limit of streams', async () => {
    const calls = Array.from({ length: 200 }, (_, i) => unary(channel, 'Echo', Buffer.from(`call ${i}`)))
    expect((await Promise.all(calls)).map(String)).toEqual(calls.map((_, i) => `call ${i}`))
  })

  it('takes any text of an error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (text) => {
        const error = await criErrorOf(unary(channel, 'Fail', Buffer.from(text)))
        expect(error).toMatchObject({ grpcCode: GrpcCode.NOT_FOUND, details: text })
      }),
      { numRuns: 50 },
    )
  }, 30_000)

  it('learns that a method is not implemented', async () => {
    expect(await criErrorOf(unary(channel, 'Other', Buffer.alloc(0)))).toMatchObject({
      grpcCode: GrpcCode.UNIMPLEMENTED,
    })
  })

  it('takes a stream of messages', async () => {
    const consumer = new Collector()
    const request = { call: 'Stream', head: requestHead('Stream'), body: message(Buffer.alloc(0)) }
    await channel.call(request, consumer, { deadlineMs: 20_000 })
    const expected = Array.from({ length: 100 }, (_, i) => message(Buffer.alloc(i * 100, i)))
    expect(consumer.bytes.equals(Buffer.concat(expected))).toBe(true)
  })

  it('tells the server that a call was given up', async () => {
    const told = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    const abort = new AbortController()
    const request = { call: 'Hang', head: requestHead('Hang'), body: message(Buffer.alloc(0)) }
    const call = channel.call(request, new Collector(), { deadlineMs: 20_000, signal: abort.signal })
    setImmediate(() => abort.abort())
    expect((await criErrorOf(call)).grpcCode).toBe(GrpcCode.CANCELLED)
    expect((await unary(channel, 'Echo', Buffer.from('still there'))).toString()).toBe('still there')
    await told
  })

  it('gives up when the server does not answer in time', async () => {
    expect((await criErrorOf(unary(channel, 'Hang', Buffer.alloc(0), 20))).grpcCode).toBe(GrpcCode.DEADLINE_EXCEEDED)
  })
})

describe("against Node's http2 server", () => {
  const socketPath = temporarySocket()
  let server: http2.Http2Server
  let channel: Channel
  /** What the server does with a stream. */
  let serve: (stream: http2.ServerHttp2Stream) => void = () => {}
  let sessions: http2.ServerHttp2Session[] = []

  beforeAll(async () => {
    server = http2.createServer({ settings: { initialWindowSize: 100, maxConcurrentStreams: 3, headerTableSize: 0 } })
    server.on('stream', (stream) => {
      stream.on('error', () => {})
      serve(stream)
    })
    server.on('session', (session) => sessions.push(session))
    server.listen(socketPath)
    await once(server, 'listening')
    channel = new Channel(socketPath, systemClock)
  })
  afterAll(() => {
    channel.close()
    server.close()
  })
  afterEach(() => {
    sessions = sessions.filter((session) => !session.destroyed)
  })

  function respond(stream: http2.ServerHttp2Stream, body: Buffer, trailers: http2.OutgoingHttpHeaders) {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(body)
  }

  it('sends requests through a window of 100 bytes', async () => {
    serve = (stream) => {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => respond(stream, Buffer.concat(parts), { 'grpc-status': '0' }))
    }
    const sent = Buffer.alloc(20_000, 'q')
    const answers = await Promise.all(Array.from({ length: 10 }, () => unary(channel, 'Echo', sent)))
    expect(answers.every((answer) => answer.equals(sent))).toBe(true)
  })

  it("decodes what nghttp2's Huffman coder writes", async () => {
    await fc.assert(
      // Any visible character; a header's value can't begin or end with a blank.
      fc.asyncProperty(fc.stringMatching(/^[!-~]([ -~]*[!-~])?$/), async (text) => {
        serve = (stream) =>
          respond(stream, Buffer.alloc(0), { 'grpc-status': '9', 'grpc-message': text.replaceAll('%', '%25') })
        const error = await criErrorOf(unary(channel, 'Fail', Buffer.alloc(0)))
        expect(error).toMatchObject({ grpcCode: GrpcCode.FAILED_PRECONDITION, details: text })
      }),
      { numRuns: 200 },
    )
  }, 30_000)

  it('takes headers so long that they need CONTINUATION', async () => {
    const text = 'x~'.repeat(12_000)
    serve = (stream) => respond(stream, Buffer.alloc(0), { 'grpc-status': '13', 'grpc-message': text })
    for (let i = 0; i < 5; i++) {
      expect((await criErrorOf(unary(channel, 'Fail', Buffer.alloc(0)))).details).toBe(text)
    }
  })

  it('goes on after a GOAWAY', async () => {
    serve = (stream) => {
      stream.resume()
      respond(stream, message(Buffer.from('ok')), { 'grpc-status': '0' })
    }
    await unary(channel, 'Echo', Buffer.alloc(0))
    const session = sessions.find((candidate) => !candidate.destroyed)!
    session.close()
    await once(session, 'close')
    // Whether the call meets the old connection or the new one is a matter of microseconds.
    const again = await unary(channel, 'Echo', Buffer.alloc(0)).catch((error: unknown) => error)
    if (again instanceof CriError) expect(again.grpcCode).toBe(GrpcCode.UNAVAILABLE)
    expect((await unary(channel, 'Echo', Buffer.alloc(0))).toString()).toBe('ok')
  })
})
