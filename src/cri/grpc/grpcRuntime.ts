import { systemClock } from '../../model/clock.js'
import { messageOf } from '../../model/errors.js'
import type { ContainerStatus, ItemKind, SandboxStatus } from '../../model/pod.js'
import { deadlineOf } from '../deadline.js'
import type { Endpoint } from '../endpoint.js'
import { CriError, GrpcCode } from '../errors.js'
import { withFacts } from '../failure.js'
import type {
  CallOptions,
  ItemSink,
  ListOptions,
  ListReport,
  PlainMessage,
  Runtime,
  Transport,
  UnaryCall,
} from '../runtime.js'
import { encodeListRequest, encodeStatusRequest, PREFIX_BYTES } from '../wire/request.js'
import { decodeContainerStatusResponse, decodeSandboxStatusResponse } from '../wire/status.js'
import { GrpcChannel } from './channel.js'
import { criMethods, type Method } from './methods.js'
import { ListScan } from './scan.js'

const SERVICE = '/runtime.v1.RuntimeService'

/** A runtime over @grpc/grpc-js: all calls, any endpoint. */
export class GrpcRuntime implements Runtime, Transport {
  readonly endpoint: string
  readonly #deadlineMs: number
  readonly #channel: GrpcChannel

  constructor(endpoint: string, target: Endpoint, deadlineMs: number) {
    this.endpoint = endpoint
    this.#deadlineMs = deadlineMs
    this.#channel = new GrpcChannel(target)
  }

  listPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#list('ListPodSandbox', 'sandbox', sink, options)
  }

  listContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#list('ListContainers', 'container', sink, options)
  }

  streamPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#streamedList('StreamPodSandboxes', 'sandbox', sink, options)
  }

  streamContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#streamedList('StreamContainers', 'container', sink, options)
  }

  podSandboxStatus(id: string, options: CallOptions = {}): Promise<SandboxStatus> {
    return this.#hot('PodSandboxStatus', id, encodeStatusRequest(id), options, (answer) =>
      decodeSandboxStatusResponse(answer, 0, answer.length),
    )
  }

  containerStatus(id: string, options: CallOptions = {}): Promise<ContainerStatus> {
    return this.#hot('ContainerStatus', id, encodeStatusRequest(id), options, (answer) =>
      decodeContainerStatusResponse(answer, 0, answer.length),
    )
  }

  call(call: UnaryCall, request: PlainMessage, options: CallOptions = {}): Promise<PlainMessage> {
    const id = request['container_id'] ?? request['pod_sandbox_id']
    return withFacts(systemClock, { endpoint: this.endpoint, id: typeof id === 'string' ? id : '' }, async () => {
      const method = await methodOf(call)
      const deadlineMs = deadlineOf(call, request, this.#deadlineMs, options)
      const message = serialized(call, method, request)
      const { path } = method
      const answer = await this.#channel.unary({ call, path, message, deadlineMs, signal: options.signal })
      return deserialized(call, method, answer)
    })
  }

  async *containerEvents(options: { signal?: AbortSignal } = {}): AsyncGenerator<PlainMessage> {
    const call = 'GetContainerEvents'
    const method = await methodOf(call)
    const request = { call, path: method.path, message: Buffer.alloc(0), signal: options.signal }
    const events = this.#channel.stream(request)
    try {
      for (;;) {
        const event = await withFacts(systemClock, { endpoint: this.endpoint, id: '' }, () => events.next())
        if (event.done) return
        yield deserialized(call, method, event.value)
      }
    } finally {
      await events.return(undefined)
    }
  }

  async close(): Promise<void> {
    this.#channel.close()
  }

  #list(call: string, kind: ItemKind, sink: ItemSink, options: ListOptions): Promise<ListReport> {
    return this.#hot(call, '', encodeListRequest(kind, options.filter), options, async (answer) => {
      const scan = new ListScan(call, 'unary', sink, options.signal)
      await scan.take(answer)
      return scan.report()
    })
  }

  #streamedList(call: string, kind: ItemKind, sink: ItemSink, options: ListOptions): Promise<ListReport> {
    const { signal, filter, deadlineMs = this.#deadlineMs } = options
    const message = encodeListRequest(kind, filter).subarray(PREFIX_BYTES)
    return withFacts(systemClock, { endpoint: this.endpoint, id: '' }, async () => {
      const scan = new ListScan(call, 'streaming', sink, signal)
      const messages = this.#channel.stream({ call, path: `${SERVICE}/${call}`, message, deadlineMs, signal })
      for await (const part of messages) await scan.take(part)
      return scan.report()
    })
  }

  /** `request` has gRPC's prefix, which grpc-js puts there itself. */
  #hot<T>(
    call: string,
    id: string,
    request: Buffer,
    options: CallOptions,
    read: (answer: Buffer) => T | Promise<T>,
  ): Promise<T> {
    const message = request.subarray(PREFIX_BYTES)
    const deadlineMs = options.deadlineMs ?? this.#deadlineMs
    const { signal } = options
    return withFacts(systemClock, { endpoint: this.endpoint, id }, async () =>
      read(await this.#channel.unary({ call, path: `${SERVICE}/${call}`, message, deadlineMs, signal })),
    )
  }
}

async function methodOf(call: string): Promise<Method> {
  const method = (await criMethods()).get(call)
  if (method) return method
  throw new CriError(call, GrpcCode.UNIMPLEMENTED, 'CRI v1 has no such call')
}

function serialized(call: string, method: Method, request: PlainMessage): Buffer {
  try {
    return method.requestSerialize(request)
  } catch (error) {
    throw new CriError(call, GrpcCode.INVALID_ARGUMENT, messageOf(error), {}, { cause: error })
  }
}

function deserialized(call: string, method: Method, answer: Buffer): PlainMessage {
  try {
    return method.responseDeserialize(answer) as PlainMessage
  } catch (error) {
    throw new CriError(call, GrpcCode.INTERNAL, 'the answer is not a valid protobuf message', {}, { cause: error })
  }
}
