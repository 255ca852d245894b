import { CriError, isNotFound } from '../cri/errors.js'
import type { HotRuntime } from '../cri/runtime.js'
import type { Clock } from '../model/clock.js'
import { messageOf, PlegdError } from '../model/errors.js'
import type { ContainerStatus, InspectError, ListedItem, SandboxStatus } from '../model/pod.js'
import { PlegState } from '../model/state.js'
import { AdaptiveLimit } from './adaptiveLimit.js'
import type { CallObserver, HotCall } from './calls.js'
import type { Batch, ItemRecord, PodRecord } from './podRecord.js'
import { statusIsSettled } from './settled.js'

const firstRetryMs = 1000
const lastRetryMs = 60_000

/** What the runtime said about one pod. With an `error` nothing else holds. */
export interface Inspection {
  readonly pod: PodRecord
  readonly batch: Batch
  readonly stamp: number
  readonly sandboxes: SandboxStatus[]
  readonly containers: ContainerStatus[]
  /** Ids that were not asked for: their status can't have changed. */
  readonly kept: string[]
  error: InspectError | null
}

interface Running extends Inspection {
  readonly startedAt: number
  readonly targets: readonly ItemRecord[]
  next: number
  outstanding: number
}

export interface InspectorOptions {
  readonly runtime: HotRuntime
  readonly clock: Clock
  readonly calls: CallObserver
  readonly concurrency: number
  /** Stamp of the last complete list: what an inspection that begins now stands on. */
  readonly stamp: () => number
  /** In [0, 1): the jitter of retries. */
  readonly random: () => number
  /** An inspection ended; the pod may be queued again from inside. */
  readonly done: (inspection: Inspection) => void
  /** Whether results can be taken now; asked before each pod. */
  readonly ready: () => boolean
}

/**
 * Asks for the statuses of changed pods, many at once. Each pod stands for itself: one whose calls hang or fail keeps
 * its own turn waiting and nobody else's. Never two calls in flight for one object.
 */
export class Inspector {
  private readonly options: InspectorOptions
  private readonly limit: AdaptiveLimit
  /**
   * Taken in this order: pods that changed since they were first seen (an exit code is there only until the container is
   * removed), new pods that run, new pods that don't, pods that failed before.
   */
  private readonly queues = [0, 1, 2, 3].map(() => new Set<PodRecord>())
  private readonly retries = new Map<PodRecord, () => void>()
  private running = 0
  private head: Running | null = null
  private cancelWake: (() => void) | null = null
  private closed = false

  constructor(options: InspectorOptions) {
    this.options = options
    this.limit = new AdaptiveLimit({ clock: options.clock, max: options.concurrency })
  }

  get busy(): boolean {
    return this.queued > 0 || this.running > 0
  }

  /** Pods that wait for their turn. */
  get queued(): number {
    return this.queues.reduce((sum, queue) => sum + queue.size, 0)
  }

  /** Queues a pod that changed, unless it is being inspected: then `done` finds out that there is more. */
  add(pod: PodRecord): void {
    if (pod.inspecting) return
    this.drop(pod)
    this.queues[pod.failures > 0 ? 3 : pod.seenBefore ? 0 : pod.running ? 1 : 2]!.add(pod)
  }

  /** Queues a pod whose inspection failed, once its backoff is over. */
  retry(pod: PodRecord): void {
    const ms = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(pod.failures - 1, 10))
    this.drop(pod)
    const cancel = this.options.clock.after(ms * (0.5 + this.options.random() / 2), () => {
      this.retries.delete(pod)
      this.add(pod)
      this.pump()
    })
    this.retries.set(pod, cancel)
  }

  /** The pod is gone: it waits for nothing any more. */
  drop(pod: PodRecord): void {
    for (const queue of this.queues) queue.delete(pod)
    this.retries.get(pod)?.()
    this.retries.delete(pod)
  }

  /** Starts as many calls as may run now. */
  pump(): void {
    this.cancelWake?.()
    this.cancelWake = null
    while (!this.closed) {
      this.head ??= this.nextPod()
      if (this.head === null) return
      if (this.head.next === this.head.targets.length || this.head.error !== null) {
        const running = this.head
        this.head = null
        if (running.outstanding === 0) this.finish(running)
        continue
      }
      const token = this.limit.acquire()
      if (token < 0) {
        const ms = this.limit.untilOverdue()
        if (ms !== null) this.cancelWake = this.options.clock.after(ms + 1, () => this.pump())
        return
      }
      const target = this.head.targets[this.head.next++]!
      this.head.outstanding++
      void this.ask(this.head, target, token)
    }
  }

  close(): void {
    this.closed = true
    this.cancelWake?.()
    for (const cancel of this.retries.values()) cancel()
    this.retries.clear()
  }

  private nextPod(): Running | null {
    if (this.queued === 0 || !this.options.ready()) return null
    for (const queue of this.queues) {
      for (const pod of queue) {
        queue.delete(pod)
        return this.begin(pod)
      }
    }
    return null
  }

  private begin(pod: PodRecord): Running {
    pod.inspecting = true
    this.running++
    const { reinspect } = pod
    const targets: ItemRecord[] = []
    const kept: string[] = []
    for (const item of pod.items.values()) {
      if (item.diffed === PlegState.nonExistent) continue
      if (item.kept && (isFinal(item) || !reinspect)) kept.push(item.listed.id)
      else targets.push(item)
    }
    const stamp = Math.max(this.options.stamp(), pod.relistedAt)
    const startedAt = this.options.clock.now()
    return {
      pod,
      batch: pod.take(),
      stamp,
      startedAt,
      sandboxes: [],
      containers: [],
      kept,
      error: null,
      targets,
      next: 0,
      outstanding: 0,
    }
  }

  private async ask(running: Running, item: ItemRecord, token: number): Promise<void> {
    const { runtime, calls } = this.options
    const { listed } = item
    const { kind, id } = listed
    const call: HotCall = kind === 'sandbox' ? 'PodSandboxStatus' : 'ContainerStatus'
    const seen = calls.begin(call, id, running.pod.uid)
    try {
      if (kind === 'sandbox') {
        const status = await runtime.podSandboxStatus(id)
        keep(item, listed, statusIsSettled(listed, status))
        running.sandboxes.push(status)
      } else {
        const status = await runtime.containerStatus(id)
        keep(item, listed, statusIsSettled(listed, status))
        running.containers.push(status)
      }
      calls.end(seen, true)
    } catch (error) {
      calls.end(seen, false)
      // Removed between list and status: the next list says so; until then the pod is what is left of it.
      if (!isNotFound(error)) running.error ??= describe(error, call, id)
    }
    this.limit.release(token)
    running.outstanding--
    const launched = running.next === running.targets.length || running.error !== null
    if (running.outstanding === 0 && launched && running !== this.head) this.finish(running)
    this.pump()
  }

  private finish(running: Running): void {
    running.pod.inspecting = false
    this.running--
    this.options.calls.phase('inspect', this.options.clock.now() - running.startedAt)
    if (running.error !== null) for (const item of running.targets) item.kept = false
    this.options.done(running)
  }
}

/** The status need not be asked for again, unless a list has shown something new since. */
function keep(item: ItemRecord, listed: ListedItem, settled: boolean): void {
  item.kept = settled && item.listed === listed
}

function isFinal(item: ItemRecord): boolean {
  return item.current === PlegState.exited
}

function describe(error: unknown, call: string, id: string): InspectError {
  const code = error instanceof PlegdError ? error.code : 'INTERNAL'
  const message = error instanceof CriError ? error.details : messageOf(error)
  return { code, message: message.slice(0, 1024), call, id }
}
