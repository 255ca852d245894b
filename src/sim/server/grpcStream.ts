import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { CriError, GrpcCode } from '../../cri/errors.js'
import { messageOf } from '../../model/errors.js'
import type { SimulatedRuntime } from '../simulatedRuntime.js'

/** Message limits of a gRPC server, bytes. */
export interface GrpcLimits {
  /** Largest answer (containerd: 16 MiB). */
  readonly maxSendBytes: number
  /** Largest request. */
  readonly maxReceiveBytes: number
}

/** A gRPC message's prefix: one byte that says whether it is compressed, four of its length. */
const prefixBytes = 5
const streamingCalls = new Set(['GetContainerEvents', 'StreamPodSandboxes', 'StreamContainers'])

/**
 * One gRPC call over HTTP/2 (grpc/grpc doc/PROTOCOL-HTTP2.md): one request message in, one or more out, its status in
 * the trailers. Uncompressed only, as CRI clients send.
 */
export function grpcStream(
  sim: SimulatedRuntime,
  limits: GrpcLimits,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): void {
  const gone = new AbortController()
  stream.on('close', () => gone.abort())
  // Resets and lost connections: the call is over, which `close` tells.
  stream.on('error', () => {})
  const [, service = '', call = ''] = (headers[':path'] ?? '').split('/')
  const status = (error: unknown) => end(stream, statusOf(error))
  readMessage(call, stream, limits.maxReceiveBytes)
    .then(async (request) => {
      if (!sim.codec.has(service, call)) throw unknownCall(service, call)
      if (streamingCalls.has(call)) return answerStream(sim, limits, stream, call, request, gone.signal)
      const pieces = await sim.answer(call, request, gone.signal)
      if (gone.signal.aborted) return
      const prefix = messagePrefix(call, pieces, limits)
      begin(stream)
      // Corked, so that the pieces of a long list go to the session in one write.
      stream.cork()
      stream.write(prefix)
      for (const piece of pieces) stream.write(piece)
      stream.uncork()
      stream.end()
    })
    .catch(status)
}

/** Never further ahead of the reader than the stream's own buffer: whatever the reader can't take waits with its source. */
async function answerStream(
  sim: SimulatedRuntime,
  limits: GrpcLimits,
  stream: ServerHttp2Stream,
  call: string,
  request: Buffer,
  gone: AbortSignal,
): Promise<void> {
  const messages = sim.stream(call, request, gone)
  // An event stream says that it stands before the first event comes.
  if (call === 'GetContainerEvents') begin(stream)
  for await (const pieces of messages) {
    if (gone.aborted) return
    const prefix = messagePrefix(call, pieces, limits)
    begin(stream)
    stream.cork()
    stream.write(prefix)
    let more = true
    for (const piece of pieces) more = stream.write(piece)
    stream.uncork()
    if (!more) await drained(stream, gone)
  }
  stream.end()
}

/** The answer's headers, once; OK is the status in its trailers unless `end` says otherwise. */
function begin(stream: ServerHttp2Stream): void {
  if (stream.headersSent || stream.destroyed) return
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(pendingStatus.get(stream) ?? { 'grpc-status': '0' }))
}

const pendingStatus = new WeakMap<ServerHttp2Stream, OutgoingHttpHeaders>()

function end(stream: ServerHttp2Stream, status: OutgoingHttpHeaders): void {
  if (stream.destroyed) return
  if (stream.headersSent) {
    pendingStatus.set(stream, status)
    stream.end()
  } else {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true })
  }
}

function statusOf(error: unknown): OutgoingHttpHeaders {
  const code = error instanceof CriError ? error.grpcCode : GrpcCode.UNKNOWN
  const details = error instanceof CriError ? error.details : messageOf(error)
  return { 'grpc-status': `${code}`, 'grpc-message': percentEncoded(details) }
}

/** gRPC's Percent-Encoded: printable ASCII stays, but for the percent sign. */
function percentEncoded(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent)
}

function unknownCall(service: string, call: string): CriError {
  return new CriError(call, GrpcCode.UNIMPLEMENTED, `unknown method ${call} for service ${service}`)
}

/** The prefix of a message of these pieces; grpc-go's words where its server may not send so much. */
function messagePrefix(call: string, pieces: readonly Buffer[], { maxSendBytes }: GrpcLimits): Buffer {
  let length = 0
  for (const piece of pieces) length += piece.length
  if (length > maxSendBytes) {
    const details = `trying to send message larger than max (${length} vs. ${maxSendBytes})`
    throw new CriError(call, GrpcCode.RESOURCE_EXHAUSTED, details)
  }
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(length, 1)
  return prefix
}

function readMessage(call: string, stream: ServerHttp2Stream, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let received = 0
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received <= maxBytes + prefixBytes) return void chunks.push(chunk)
      chunks.length = 0
      const details = `received message larger than max (${received - prefixBytes} vs. ${maxBytes})`
      reject(new CriError(call, GrpcCode.RESOURCE_EXHAUSTED, details))
    })
    stream.on('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      if (bytes.length < prefixBytes || bytes.length - prefixBytes !== bytes.readUInt32BE(1)) {
        return reject(new CriError(call, GrpcCode.INTERNAL, 'the request is not one whole message'))
      }
      if (bytes[0] !== 0) return reject(new CriError(call, GrpcCode.UNIMPLEMENTED, 'compression is not supported'))
      resolve(bytes.subarray(prefixBytes))
    })
  })
}

function drained(stream: ServerHttp2Stream, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    stream.once('drain', done)
    gone.addEventListener('abort', done, { once: true })
    if (gone.aborted) done()
  })
}
