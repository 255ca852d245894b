import { Client, type ClientReadableStream, credentials, type ServiceError } from '@grpc/grpc-js'
import { systemClock } from '../../model/clock.js'
import type { Endpoint } from '../endpoint.js'
import { CriError, GrpcCode } from '../errors.js'

const MIB = 1024 * 1024

/**
 * No size limits: ours is a line to warn at, and the list says how large it was. A wide window, because with the default of
 * 64 KiB each piece of a large answer waits for the event loop. No keepalive: a local socket needs none, and servers that
 * count pings close connections over it. Backoff as the kubelet's client (100 ms to 3 s).
 */
const channelOptions = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc-node.flow_control_window': 16 * MIB,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3000,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
}

const bytesAsTheyAre = (bytes: Buffer): Buffer => bytes

export interface UnaryRequest {
  readonly call: string
  readonly path: string
  readonly message: Buffer
  readonly deadlineMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Calls of bytes for bytes over one grpc-js channel. During an outage a call fails with UNAVAILABLE as soon as connecting
 * failed, and while the channel backs off at once: the next relist is the retry.
 */
export class GrpcChannel {
  readonly #client: Client
  #closed = false

  constructor(target: Endpoint) {
    this.#client = new Client(addressOf(target), credentials.createInsecure(), channelOptions)
  }

  /** The answer's bytes, without prefix. Rejects with CriError. */
  unary(request: UnaryRequest): Promise<Buffer> {
    const { call, path, message, deadlineMs, signal } = request
    const failed = (code: number, details: string) => new CriError(call, code, details)
    if (this.#closed) return Promise.reject(failed(GrpcCode.UNAVAILABLE, 'the client was closed'))
    if (signal?.aborted) return Promise.reject(failed(GrpcCode.CANCELLED, 'the caller gave up'))
    if (!(deadlineMs > 0)) return Promise.reject(failed(GrpcCode.DEADLINE_EXCEEDED, 'no time left for the call'))
    return new Promise((resolve, reject) => {
      const abort = () => pending.cancel()
      const settle = (error: ServiceError | null, answer?: Buffer) => {
        signal?.removeEventListener('abort', abort)
        if (error) reject(failed(error.code, plainReason(error.details)))
        else if (answer) resolve(answer)
        else reject(failed(GrpcCode.INTERNAL, 'an OK without an answer'))
      }
      const deadline = systemClock.wallMs() + deadlineMs
      const pending = this.#client.makeUnaryRequest(path, bytesAsTheyAre, bytesAsTheyAre, message, { deadline }, settle)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /** The messages of a server's stream, without deadline. Throws CriError when it breaks; leaving the loop cancels it. */
  async *stream(call: string, path: string, message: Buffer, signal?: AbortSignal): AsyncGenerator<Buffer> {
    const failed = (code: number, details: string) => new CriError(call, code, details)
    if (this.#closed) throw failed(GrpcCode.UNAVAILABLE, 'the client was closed')
    if (signal?.aborted) throw failed(GrpcCode.CANCELLED, 'the caller gave up')
    const stream: ClientReadableStream<Buffer> = this.#client.makeServerStreamRequest(
      path,
      bytesAsTheyAre,
      bytesAsTheyAre,
      message,
    )
    const abort = () => stream.cancel()
    signal?.addEventListener('abort', abort, { once: true })
    // After the loop was left, cancelling it is an error that nobody waits for any more.
    stream.on('error', () => {})
    try {
      for await (const answer of stream) yield answer as Buffer
    } catch (error) {
      if (error instanceof Error && 'code' in error && 'details' in error)
        throw failed(error.code as number, plainReason(String(error.details)))
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
      stream.cancel()
    }
  }

  close(): void {
    this.#closed = true
    this.#client.close()
  }
}

/** How grpc-js wants it: a path may hold anything, so it goes where no authority can be read into it. */
function addressOf(target: Endpoint): string {
  if (target.kind === 'unix') return `unix:///${target.path.slice(1)}`
  return target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`
}

/** Of `No connection established. Last error: Error: connect ENOENT /run/x.sock. Resolution note: ` the part that says why. */
function plainReason(details: string): string {
  return /^No connection established\. Last error: (?:Error: )?(.*)\. Resolution note: /s.exec(details)?.[1] ?? details
}
