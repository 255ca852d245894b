import { CriError, GrpcCode } from '../../src/cri/errors.js'
import type { CallOptions, ItemSink, ListOptions, ListReport, Transport } from '../../src/cri/runtime.js'
import type { ItemKind } from '../../src/model/pod.js'
import { encodeItem, type ScriptedItem, ScriptedRuntime } from './scriptedRuntime.js'

/** A runtime that can't stream, whose answers have a size limit, and whose state a test may change before each of them. */
export class LimitedTransport implements Transport {
  readonly endpoint = 'limited:'
  limitBytes = Number.POSITIVE_INFINITY
  items: readonly ScriptedItem[] = []
  /** Runs before each answer, told the call; may change `items`, or throw. */
  before: (call: string) => void = () => {}
  private readonly statuses = new ScriptedRuntime()

  listPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.list('ListPodSandbox', 'sandbox', sink, options)
  }

  listContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.list('ListContainers', 'container', sink, options)
  }

  streamPodSandboxes(): Promise<ListReport> {
    return unimplemented('StreamPodSandboxes')
  }

  streamContainers(): Promise<ListReport> {
    return unimplemented('StreamContainers')
  }

  podSandboxStatus(id: string, _options?: CallOptions) {
    this.turn('PodSandboxStatus')
    return this.statuses.podSandboxStatus(id)
  }

  containerStatus(id: string, _options?: CallOptions) {
    this.turn('ContainerStatus')
    return this.statuses.containerStatus(id)
  }

  async close(): Promise<void> {}

  private turn(call: string): void {
    this.before(call)
    this.statuses.items = [...this.items]
  }

  private async list(call: string, kind: ItemKind, sink: ItemSink, { filter }: ListOptions): Promise<ListReport> {
    this.turn(call)
    const frames = this.items
      .filter((item) => item.kind === kind)
      .filter((item) => filter?.state === undefined || item.state === filter.state)
      .filter((item) => filter?.id === undefined || item.id === filter.id)
      .filter((item) => filter?.sandboxId === undefined || item.sandboxId === filter.sandboxId)
      .map(encodeItem)
    const bytes = frames.reduce((sum, { length }) => sum + length, 0)
    if (bytes > this.limitBytes) {
      const details = `trying to send message larger than max (${bytes} vs. ${this.limitBytes})`
      throw new CriError(call, GrpcCode.RESOURCE_EXHAUSTED, details)
    }
    for (const frame of frames) sink.item(frame, 0, frame.length)
    return { mode: 'unary', items: frames.length, bytes, largestMessage: bytes }
  }
}

async function unimplemented(call: string): Promise<never> {
  throw new CriError(call, GrpcCode.UNIMPLEMENTED, `unknown method ${call}`)
}
