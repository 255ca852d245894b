import type { Clock } from '../../model/clock.js'
import type { ContainerStatus, ItemKind, SandboxStatus } from '../../model/pod.js'
import { withFacts } from '../failure.js'
import type { CallOptions, ItemSink, ListMode, ListOptions, ListReport, Transport } from '../runtime.js'
import { encodeListRequest, encodeStatusRequest } from '../wire/request.js'
import { decodeContainerStatusResponse, decodeSandboxStatusResponse } from '../wire/status.js'
import { Channel } from './channel.js'
import type { Request, ResponseConsumer } from './exchange.js'
import { ListConsumer } from './listConsumer.js'
import { requestHead } from './requestHead.js'
import { UnaryConsumer } from './unaryConsumer.js'

/** What the kubelet takes and containerd sends at most; a status has a few kilobytes. */
const LARGEST_STATUS = 16 * 1024 * 1024

interface Method<T> {
  readonly call: string
  readonly head: Buffer
  readonly decode: (buf: Buffer, start: number, end: number) => T
}

const sandboxStatus: Method<SandboxStatus> = {
  call: 'PodSandboxStatus',
  head: requestHead('PodSandboxStatus'),
  decode: decodeSandboxStatusResponse,
}
const containerStatus: Method<ContainerStatus> = {
  call: 'ContainerStatus',
  head: requestHead('ContainerStatus'),
  decode: decodeContainerStatusResponse,
}
interface ListMethod {
  readonly kind: ItemKind
  readonly mode: ListMode
  readonly call: string
  readonly head: Buffer
}

function list(kind: ItemKind, mode: ListMode, call: string): ListMethod {
  return { kind, mode, call, head: requestHead(call) }
}
const listPodSandbox = list('sandbox', 'unary', 'ListPodSandbox')
const listContainers = list('container', 'unary', 'ListContainers')
const streamPodSandboxes = list('sandbox', 'streaming', 'StreamPodSandboxes')
const streamContainers = list('container', 'streaming', 'StreamContainers')

/**
 * The four hot calls over our own HTTP/2 framing, on a unix socket (docs/decisions/0002-own-http2.md). Each list has a
 * connection to itself, so that neither waits behind the other's bytes; all statuses share one.
 */
export class H2Runtime implements Transport {
  readonly endpoint: string
  readonly #clock: Clock
  readonly #deadlineMs: number
  readonly #lists: Readonly<Record<ItemKind, Channel>>
  readonly #statuses: Channel

  /** `deadlineMs`: for calls that name none. */
  constructor(options: { endpoint: string; socketPath: string; clock: Clock; deadlineMs: number }) {
    const { endpoint, socketPath, clock, deadlineMs } = options
    this.endpoint = endpoint
    this.#clock = clock
    this.#deadlineMs = deadlineMs
    this.#lists = { sandbox: new Channel(socketPath, clock), container: new Channel(socketPath, clock) }
    this.#statuses = new Channel(socketPath, clock)
  }

  listPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#list(listPodSandbox, sink, options)
  }

  listContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#list(listContainers, sink, options)
  }

  streamPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#list(streamPodSandboxes, sink, options)
  }

  streamContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#list(streamContainers, sink, options)
  }

  podSandboxStatus(id: string, options: CallOptions = {}): Promise<SandboxStatus> {
    return this.#status(sandboxStatus, id, options)
  }

  containerStatus(id: string, options: CallOptions = {}): Promise<ContainerStatus> {
    return this.#status(containerStatus, id, options)
  }

  async close(): Promise<void> {
    for (const channel of [this.#lists.sandbox, this.#lists.container, this.#statuses]) channel.close()
  }

  async #list({ kind, mode, call, head }: ListMethod, sink: ItemSink, options: ListOptions): Promise<ListReport> {
    const consumer = new ListConsumer(call, mode, sink)
    const body = encodeListRequest(kind, options.filter)
    await this.#ask(this.#lists[kind], { call, head, body }, '', consumer, options)
    return consumer.report()
  }

  async #status<T>({ call, head, decode }: Method<T>, id: string, options: CallOptions): Promise<T> {
    const consumer = new UnaryConsumer(call, LARGEST_STATUS, decode)
    await this.#ask(this.#statuses, { call, head, body: encodeStatusRequest(id) }, id, consumer, options)
    return consumer.message
  }

  async #ask(channel: Channel, request: Request, id: string, consumer: ResponseConsumer, options: CallOptions) {
    const deadlineMs = options.deadlineMs ?? this.#deadlineMs
    await withFacts(this.#clock, { endpoint: this.endpoint, id }, () =>
      channel.call(request, consumer, { ...options, deadlineMs }),
    )
  }
}
