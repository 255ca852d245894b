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
const headers: OutgoingHttpHeaders = { ':status': 200, 'content-type': 'application/grpc' }

/**
 * One gRPC call over HTTP/2 (grpc/grpc doc/PROTOCOL-HTTP2.md): one request message in, one or more out, its status in
 * the trailers. Uncompressed only, as CRI clients send.
 */
export function grpcStream(
  sim: SimulatedRuntime,
  limits: GrpcLimits,
  stream: ServerHttp2Stream,
  { ':path': path = '' }: IncomingHttpHeaders,
): void {
  const [, service = '', call = ''] = path.split('/')
  const reply = new Reply(call, stream, limits.maxSendBytes)
  const run = async () => {
    const request = await readMessage(call, stream, limits.maxReceiveBytes)
    if (!sim.codec.has(service, call)) {
      throw new CriError(call, GrpcCode.UNIMPLEMENTED, `unknown method ${call} for service ${service}`)
    }
    if (!sim.answers.streams(call)) {
      reply.send(await sim.answers.answer(call, request, reply.gone))
      return
    }
    // An event stream says that it stands before its first event comes.
    if (call === 'GetContainerEvents') reply.begin()
    for await (const pieces of sim.answers.stream(call, request, reply.gone)) {
      // Never further ahead of the reader than the stream's own buffer: what it can't take waits at its source.
      if (!reply.send(pieces)) await reply.drained()
      if (reply.gone.aborted) return
    }
  }
  run().then(
    () => reply.end({ 'grpc-status': `${GrpcCode.OK}` }),
    (error: unknown) => reply.end(statusOf(error)),
  )
}

/** The answer to one call. */
class Reply {
  private readonly call: string
  private readonly stream: ServerHttp2Stream
  private readonly maxBytes: number
  private readonly abort = new AbortController()
  private trailers: OutgoingHttpHeaders = {}

  constructor(call: string, stream: ServerHttp2Stream, maxBytes: number) {
    this.call = call
    this.stream = stream
    this.maxBytes = maxBytes
    stream.on('close', () => this.abort.abort())
    // Resets and lost connections: the call is over, which `close` tells.
    stream.on('error', () => {})
  }

  /** Aborts when the caller has gone, or the call is over. */
  get gone(): AbortSignal {
    return this.abort.signal
  }

  /** Sends the headers, unless they are sent. */
  begin(): void {
    if (this.stream.headersSent || this.stream.destroyed) return
    this.stream.respond(headers, { waitForTrailers: true })
    this.stream.on('wantTrailers', () => this.stream.sendTrailers(this.trailers))
  }

  /** Sends one message; false where the reader is behind. Throws CriError, in grpc-go's words, where it is too large. */
  send(pieces: readonly Buffer[]): boolean {
    if (this.gone.aborted) return true
    let length = 0
    for (const piece of pieces) length += piece.length
    if (length > this.maxBytes) {
      const details = `trying to send message larger than max (${length} vs. ${this.maxBytes})`
      throw new CriError(this.call, GrpcCode.RESOURCE_EXHAUSTED, details)
    }
    const prefix = Buffer.alloc(prefixBytes)
    prefix.writeUInt32BE(length, 1)
    this.begin()
    // Corked, so that the pieces of a long list go to the session in one write.
    this.stream.cork()
    let more = this.stream.write(prefix)
    for (const piece of pieces) more = this.stream.write(piece)
    this.stream.uncork()
    return more
  }

  /** Resolves when the reader has caught up, or has gone. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.stream.off('drain', done)
        this.gone.removeEventListener('abort', done)
        resolve()
      }
      this.stream.once('drain', done)
      this.gone.addEventListener('abort', done, { once: true })
      if (this.gone.aborted) done()
    })
  }

  end(status: OutgoingHttpHeaders): void {
    if (this.stream.destroyed) return
    if (this.stream.headersSent) {
      this.trailers = status
      this.stream.end()
    } else {
      this.stream.respond({ ...headers, ...status }, { endStream: true })
    }
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
