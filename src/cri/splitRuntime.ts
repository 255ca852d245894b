import type { ContainerStatus, SandboxStatus } from '../model/pod.js'
import { CriError, GrpcCode } from './errors.js'
import type {
  CallOptions,
  HotRuntime,
  ItemSink,
  ListOptions,
  ListReport,
  PlainMessage,
  Runtime,
  UnaryCall,
} from './runtime.js'

/** The hot calls over one transport; all others over another, which is opened when the first of them comes. */
export class SplitRuntime implements Runtime {
  readonly #hot: HotRuntime
  readonly #openCold: () => Promise<Runtime>
  #cold: Promise<Runtime> | undefined
  #closed = false

  constructor(hot: HotRuntime, openCold: () => Promise<Runtime>) {
    this.#hot = hot
    this.#openCold = openCold
  }

  get endpoint(): string {
    return this.#hot.endpoint
  }

  listPodSandboxes(sink: ItemSink, options?: ListOptions): Promise<ListReport> {
    return this.#hot.listPodSandboxes(sink, options)
  }

  listContainers(sink: ItemSink, options?: ListOptions): Promise<ListReport> {
    return this.#hot.listContainers(sink, options)
  }

  podSandboxStatus(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#hot.podSandboxStatus(id, options)
  }

  containerStatus(id: string, options?: CallOptions): Promise<ContainerStatus> {
    return this.#hot.containerStatus(id, options)
  }

  async call(method: UnaryCall, request: PlainMessage, options?: CallOptions): Promise<PlainMessage> {
    return (await this.#opened(method)).call(method, request, options)
  }

  async *containerEvents(options?: { signal?: AbortSignal }): AsyncGenerator<PlainMessage> {
    yield* (await this.#opened('GetContainerEvents')).containerEvents(options)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#hot.close(), this.#cold?.then((cold) => cold.close())])
  }

  #opened(call: string): Promise<Runtime> {
    if (this.#closed) {
      const facts = { endpoint: this.endpoint }
      return Promise.reject(new CriError(call, GrpcCode.UNAVAILABLE, 'the client was closed', facts))
    }
    this.#cold ??= this.#openCold()
    return this.#cold
  }
}
