import { type CallOptions, Client, type ClientReadableStream, credentials, type ServiceError } from '@grpc/grpc-js'
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

interface StreamRequest {
  readonly call: string
  readonly path: string
  readonly message: Buffer
  /** Of the whole stream. Absent: none. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal | undefined
}

type UnaryRequest = StreamRequest & { readonly deadlineMs: number }

/**
 * Calls of bytes for bytes over one grpc-js channel. During an outage a call fails with UNAVAILABLE as soon as connecting
 * failed, and while the channel backs off at once: the next relist is the retry.
 */
export class GrpcChannel {
  readonly #client: Client
  /** Calls in flight, to be cancelled on close: grpc-js would let them run on. */
  readonly #pending = new Set<Cancellable>()
  #closed = false

  constructor(target: Endpoint) {
    this.#client = new Client(addressOf(target), credentials.createInsecure(), channelOptions)
  }

  /** The answer's bytes, without prefix. Rejects with CriError. */
  unary({ call, path, message, deadlineMs, signal }: UnaryRequest): Promise<Buffer> {
    const refused = this.#refusal(call, deadlineMs, signal)
    if (refused) return Promise.reject(refused)
    return new Promise((resolve, reject) => {
      const settle = (error: ServiceError | null, answer?: Buffer) => {
        unwatch()
        if (error) reject(this.#failure(call, error, signal))
        else if (answer) resolve(answer)
        else reject(new CriError(call, GrpcCode.INTERNAL, 'an OK without an answer'))
      }
      const options = until(deadlineMs)
      const pending = this.#client.makeUnaryRequest(path, bytesAsTheyAre, bytesAsTheyAre, message, options, settle)
      const unwatch = this.#watch(pending, signal)
    })
  }

  /** The messages of a server's stream. Throws CriError when it breaks; leaving the loop cancels it. */
  async *stream({ call, path, message, deadlineMs, signal }: StreamRequest): AsyncGenerator<Buffer> {
    const refused = this.#refusal(call, deadlineMs, signal)
    if (refused) throw refused
    const stream: ClientReadableStream<Buffer> = this.#client.makeServerStreamRequest(
      path,
      bytesAsTheyAre,
      bytesAsTheyAre,
      message,
      until(deadlineMs),
    )
    const unwatch = this.#watch(stream, signal)
    // After the loop was left, cancelling it is an error that nobody waits for any more.
    stream.on('error', () => {})
    try {
      for await (const answer of stream) yield answer as Buffer
    } catch (error) {
      throw isServiceError(error) ? this.#failure(call, error, signal) : error
    } finally {
      unwatch()
      stream.cancel()
    }
  }

  close(): void {
    this.#closed = true
    for (const pending of this.#pending) pending.cancel()
    this.#client.close()
  }

  #refusal(call: string, deadlineMs: number | undefined, signal: AbortSignal | undefined): CriError | undefined {
    if (this.#closed) return new CriError(call, GrpcCode.UNAVAILABLE, 'the client was closed')
    if (signal?.aborted) return new CriError(call, GrpcCode.CANCELLED, 'the caller gave up')
    if (deadlineMs === undefined || deadlineMs > 0) return undefined
    return new CriError(call, GrpcCode.DEADLINE_EXCEEDED, 'no time left for the call')
  }

  /** Cancels a call when its caller gives up or the channel is closed. */
  #watch(pending: Cancellable, signal: AbortSignal | undefined): () => void {
    const cancel = () => pending.cancel()
    this.#pending.add(pending)
    signal?.addEventListener('abort', cancel, { once: true })
    return () => {
      this.#pending.delete(pending)
      signal?.removeEventListener('abort', cancel)
    }
  }

  #failure(call: string, error: ServiceError, signal: AbortSignal | undefined): CriError {
    // What grpc-js says of a stream that was reset with CANCEL, whoever did it: the runtime's death as well as our wish.
    const reset = error.code === GrpcCode.CANCELLED && /^(Call cancelled|Cancelled on client)$/.test(error.details)
    if (!reset) return new CriError(call, error.code, plainReason(error.details))
    if (signal?.aborted) return new CriError(call, GrpcCode.CANCELLED, 'the caller gave up')
    const why = this.#closed ? 'the client was closed' : 'the runtime broke the call off'
    return new CriError(call, GrpcCode.UNAVAILABLE, why)
  }
}

function until(deadlineMs: number | undefined): CallOptions {
  return deadlineMs === undefined ? {} : { deadline: systemClock.wallMs() + deadlineMs }
}

interface Cancellable {
  cancel(): void
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'details' in error
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
