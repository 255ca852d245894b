import { CriError, GrpcCode } from '../cri/errors.js'
import type {
  CallOptions,
  ItemSink,
  ListOptions,
  ListReport,
  PlainMessage,
  Runtime,
  UnaryCall,
} from '../cri/runtime.js'
import { decodeContainerStatusResponse, decodeSandboxStatusResponse } from '../cri/wire/status.js'
import { type Clock, systemClock } from '../model/clock.js'
import type { ContainerStatus, SandboxStatus } from '../model/pod.js'
import { Answers } from './answers.js'
import { drawImages } from './catalogue.js'
import type { Change, ChangeLog } from './changeLog.js'
import { Codec } from './codec.js'
import type { EventFeed } from './eventFeed.js'
import { Faults } from './faults.js'
import { ImageStore } from './images.js'
import { Life } from './life.js'
import { eachItem } from './listBook.js'
import { SimulatedNode } from './node.js'
import type { Parts } from './parts.js'
import { Random } from './random.js'
import { Timers } from './timers.js'

export interface SimulationOptions {
  /** Pods at the start, all running. Default 0. */
  readonly pods?: number
  /** Containers of each pod. Default 2. */
  readonly containersPerPod?: number
  /**
   * Dead predecessors that each container has at the start, and the most that are kept when it restarts. Default 0
   * at the start, 1 kept (the kubelet's own number).
   */
  readonly deadPerContainer?: number
  /** The same seed gives the same node and the same life. Default 1. */
  readonly seed?: number
  /** Changes a second once `start` was called: a container that ends and restarts, or a pod that is replaced. Default 0. */
  readonly churn?: number
  /** `rotated` (default): each list starts elsewhere in one cycle, as the iteration of a Go map does. */
  readonly listOrder?: 'rotated' | 'stable'
  /** Changes that the log holds. Default 100000. */
  readonly logCapacity?: number
  /** Called with every change, those of the start included. */
  readonly onChange?: (change: Change) => void
  readonly clock?: Clock
}

/** Streams of random numbers, so that what one draws never shifts another. */
const stream = { life: 0, ids: 1, stamps: 2, order: 3 } as const
/** Of calls in process; as for a real runtime (kubelet `runtimeRequestTimeout`). */
const defaultDeadlineMs = 120_000
type ListCall = 'ListPodSandbox' | 'ListContainers'

/**
 * A container runtime in memory: a node of pods with the metadata that a kubelet and containerd write, which lives by
 * itself (`start`) or step by step, answers all CRI calls that an agent makes, and fails where it is told to. In
 * process it is a Runtime like any other; `serveSimulatedRuntime` puts it on a socket.
 */
export class SimulatedRuntime implements Runtime {
  readonly endpoint = 'simulated'
  readonly faults: Faults
  readonly codec = new Codec()
  /** CRI as a server speaks it. */
  readonly answers: Answers
  private readonly node: SimulatedNode
  private readonly life: Life
  private readonly parts: Parts
  private readonly clock: Clock

  constructor(options: SimulationOptions = {}) {
    const seed = options.seed ?? 1
    const clock = options.clock ?? systemClock
    const random = new Random(seed, stream.life)
    const images = drawImages(random)
    this.clock = clock
    this.faults = new Faults(clock)
    this.node = new SimulatedNode({
      clock,
      ids: new Random(seed, stream.ids),
      stamps: new Random(seed, stream.stamps),
      logCapacity: options.logCapacity ?? 100_000,
    })
    this.parts = {
      node: this.node,
      codec: this.codec,
      images: new ImageStore(images),
      clock,
      timers: new Timers(clock),
      order: options.listOrder === 'stable' ? null : new Random(seed, stream.order),
    }
    this.answers = new Answers(this.parts, this.faults)
    this.life = new Life(this.parts, random, images, {
      pods: options.pods ?? 0,
      containersPerPod: options.containersPerPod ?? 2,
      deadPerContainer: options.deadPerContainer ?? 0,
      churn: options.churn ?? 0,
    })
    if (options.onChange !== undefined) this.log.listen(options.onChange)
    this.life.populate()
  }

  /** What happened on the node, pods of the start included. */
  get log(): ChangeLog {
    return this.node.log
  }

  get events(): EventFeed {
    return this.node.feed
  }

  get sandboxCount(): number {
    return this.node.sandboxes.size
  }

  get containerCount(): number {
    return this.node.containers.size
  }

  /** Lets the node's life go on by the clock, at the rate of `churn`. */
  start(): void {
    this.life.start()
  }

  /** Ends the node's life as it is; what is asked of it over CRI still happens. */
  pause(): void {
    this.life.stop()
  }

  /** One change of life now. */
  step(): void {
    this.life.step()
  }

  /** Restarts so many containers now, each of another pod where there are enough; answers how many could be. */
  restart(count: number): number {
    return this.life.restart(count)
  }

  listPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.list('ListPodSandbox', sink, options)
  }

  listContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.list('ListContainers', sink, options)
  }

  async podSandboxStatus(id: string, options: CallOptions = {}): Promise<SandboxStatus> {
    const bytes = Buffer.concat(await this.unary('PodSandboxStatus', { pod_sandbox_id: id }, options))
    return decodeSandboxStatusResponse(bytes, 0, bytes.length)
  }

  async containerStatus(id: string, options: CallOptions = {}): Promise<ContainerStatus> {
    const bytes = Buffer.concat(await this.unary('ContainerStatus', { container_id: id }, options))
    return decodeContainerStatusResponse(bytes, 0, bytes.length)
  }

  async call(method: UnaryCall, request: PlainMessage, options: CallOptions = {}): Promise<PlainMessage> {
    const bytes = await this.unary(method, request, options)
    return this.codec.decodeResponse(method, Buffer.concat(bytes))
  }

  async *containerEvents(options: { signal?: AbortSignal } = {}): AsyncIterable<PlainMessage> {
    const call = 'GetContainerEvents'
    for await (const bytes of this.answers.stream(call, this.codec.encodeRequest(call, {}), options.signal)) {
      yield this.codec.decodeResponse(call, Buffer.concat(bytes))
    }
  }

  /** Ends the node's life, its processes and its event streams; calls that hang answer. */
  async close(): Promise<void> {
    this.life.stop()
    this.parts.timers.cancelAll()
    this.faults.clear()
    this.events.closeAll()
  }

  private async list(call: ListCall, sink: ItemSink, options: ListOptions): Promise<ListReport> {
    const pieces = await this.unary(call, { filter: filterMessage(call, options) }, options)
    let items = 0
    let bytes = 0
    for (const piece of pieces) {
      await sink.congested?.()
      eachItem(piece, (start, end) => {
        items++
        sink.item(piece, start, end)
      })
      bytes += piece.length
    }
    return { mode: 'unary', items, bytes, largestMessage: bytes }
  }

  /** A call as a client makes it: its request goes over the codec, so that it means the same as on a socket. */
  private async unary(call: string, request: PlainMessage, options: CallOptions): Promise<readonly Buffer[]> {
    const deadlineMs = options.deadlineMs ?? defaultDeadlineMs
    if (deadlineMs <= 0) throw deadlineExceeded(call)
    if (options.signal?.aborted) throw new CriError(call, GrpcCode.CANCELLED, 'the caller gave up')
    const encoded = this.codec.encodeRequest(call, request)
    const abort = new AbortController()
    const giveUp = () => abort.abort()
    options.signal?.addEventListener('abort', giveUp, { once: true })
    const stopTimer = this.clock.after(deadlineMs, giveUp)
    try {
      return await this.answers.answer(call, encoded, abort.signal)
    } catch (error) {
      if (abort.signal.aborted && !options.signal?.aborted) throw deadlineExceeded(call)
      throw error
    } finally {
      stopTimer()
      options.signal?.removeEventListener('abort', giveUp)
    }
  }
}

function deadlineExceeded(call: string): CriError {
  return new CriError(call, GrpcCode.DEADLINE_EXCEEDED, 'deadline exceeded')
}

function filterMessage(call: ListCall, { filter }: ListOptions): PlainMessage | null {
  if (filter === undefined) return null
  return {
    id: filter.id ?? '',
    state: filter.state === undefined ? null : { state: filter.state },
    ...(call === 'ListContainers' ? { pod_sandbox_id: filter.sandboxId ?? '' } : {}),
    label_selector: filter.labels ?? {},
  }
}
