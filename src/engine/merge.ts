import type { PodLifecycleEvent } from '../model/event.js'
import type { DegradedPod } from '../model/health.js'
import type { ContainerStatus, InspectError, PodRef, PodStatus, SandboxStatus } from '../model/pod.js'
import { emptyPodStatus } from '../model/pod.js'
import { keepIps } from '../relist/ips.js'
import type { CarriedEvent, ShardCommand, ShardMessage } from '../relist/messages.js'
import { statusIsSettled } from '../relist/settled.js'
import type { PodStatusCache } from './cache.js'
import type { EventChannel } from './channel.js'

interface ShardView {
  pods: number
  runningPods: number
  /** Stamp of the last list that the shard has worked through. */
  observed: number
}

/**
 * The main thread's half: puts what shards publish into the cache, and only then sends the events. Knows which pods
 * can't be inspected.
 */
export class Merger {
  private readonly cache: PodStatusCache
  private readonly channel: EventChannel
  private readonly now: () => number
  private readonly views: ShardView[]
  private readonly failing = new Map<string, DegradedPod & { readonly sinceStamp: number }>()
  events = 0

  constructor(options: { cache: PodStatusCache; channel: EventChannel; now: () => number; shards: number }) {
    this.cache = options.cache
    this.channel = options.channel
    this.now = options.now
    this.views = Array.from({ length: options.shards }, () => ({ pods: 0, runningPods: 0, observed: 0 }))
  }

  get pods(): number {
    return this.views.reduce((sum, view) => sum + view.pods, 0)
  }

  get runningPods(): number {
    return this.views.reduce((sum, view) => sum + view.runningPods, 0)
  }

  /** Stamp up to which every shard has worked. */
  get observed(): number {
    return Math.min(...this.views.map((view) => view.observed))
  }

  /** Pods whose inspection fails, longest first. */
  degraded(): DegradedPod[] {
    const now = this.now()
    return [...this.failing.values()]
      .map(({ sinceStamp, ...pod }) => ({ ...pod, sinceMs: now - sinceStamp }))
      .sort((a, b) => b.sinceMs - a.sinceMs)
  }

  get degradedCount(): number {
    return this.failing.size
  }

  apply(shard: number, message: ShardMessage): void {
    switch (message.t) {
      case 'pending':
        for (const uid of message.uids) this.cache.markPending(uid, message.stamp)
        return
      case 'observed': {
        const { pods, runningPods, stamp } = message
        this.views[shard] = { pods, runningPods, observed: stamp }
        this.cache.observe(shard, stamp)
        return
      }
      case 'observedPod':
        this.cache.observePod(message.uid, message.stamp)
        return
      case 'listed':
        this.cache.set(
          message.pod.uid,
          { ...emptyPodStatus(''), ...message.pod, listed: message.listed },
          null,
          message.stamp,
        )
        this.cache.markPending(message.pod.uid, message.stamp)
        return
      case 'inspected':
        this.inspected(message)
        return
      case 'failed':
        this.failed(message)
        return
      case 'gone':
        this.cache.delete(message.pod.uid)
        this.failing.delete(message.pod.uid)
        this.send(message.pod, message.events, [])
        return
    }
  }

  /**
   * What a shard that starts has to know: the inspected pods of `owns`, as their events left them. Pods that were only
   * listed are forgotten: the shard will see them as new.
   */
  *seeds(owns: (uid: string) => boolean): Iterable<ShardCommand> {
    for (const { status, error } of this.cache.list()) {
      if (!owns(status.uid)) continue
      if (!status.inspected) {
        this.cache.delete(status.uid)
        continue
      }
      const { uid, namespace, name, listed } = status
      const items = new Map(listed.map((item) => [item.id, item]))
      const kept = [...status.sandboxes, ...status.containers]
        .filter((one) => items.has(one.id) && statusIsSettled(items.get(one.id)!, one))
        .map((one) => one.id)
      yield {
        t: 'seed',
        pod: { uid, namespace, name },
        listed,
        kept,
        reinspect: error !== null || this.cache.isPending(uid),
      }
    }
    yield { t: 'seeded' }
  }

  private inspected(message: Extract<ShardMessage, { t: 'inspected' }>): void {
    const { pod, stamp, listed } = message
    const cached = this.cache.get(pod.uid).status
    const kept = new Set(message.kept)
    const sandboxes = withKept(message.sandboxes, cached.sandboxes, kept)
    const containers = withKept(message.containers, cached.containers, kept)
    const newest = sandboxes[0]
    const fresh: PodStatus = {
      ...pod,
      inspected: true,
      ips: newest?.state === 'ready' ? newest.ips : [],
      listed,
      sandboxes,
      containers,
    }
    this.cache.set(pod.uid, { ...fresh, ips: keepIps(fresh, cached) }, null, stamp)
    if (!message.settled) this.cache.markPending(pod.uid, stamp)
    this.failing.delete(pod.uid)
    this.send(pod, message.events, containers)
  }

  private failed(message: Extract<ShardMessage, { t: 'failed' }>): void {
    const { pod, stamp, error, failures, sinceStamp } = message
    const { status } = this.cache.get(pod.uid)
    this.cache.set(pod.uid, { ...status, ...pod }, error, stamp)
    this.cache.markPending(pod.uid, stamp)
    const { call, id } = error
    this.failing.set(pod.uid, { pod, call, id, sinceStamp, sinceMs: 0, failures, lastError: describe(error) })
  }

  private send(pod: PodRef, events: readonly CarriedEvent[], containers: readonly ContainerStatus[]): void {
    for (const { type, kind, id, name, time } of events) {
      const event: PodLifecycleEvent = { type, pod, kind, id, name, time }
      const exited =
        type === 'ContainerDied' && kind === 'container' ? containers.find((one) => one.id === id) : undefined
      this.events++
      this.channel.push(exited?.state === 'exited' ? { ...event, exitCode: exited.exitCode } : event)
    }
  }
}

function describe(error: InspectError): string {
  return `${error.code}: ${error.message}`
}

/** What was asked for and what could not have changed, newest first; no longer than it is, since the cache holds it. */
function withKept<T extends SandboxStatus | ContainerStatus>(
  asked: readonly T[],
  cached: readonly T[],
  kept: ReadonlySet<string>,
): readonly T[] {
  return asked.concat(cached.filter((one) => kept.has(one.id))).sort(newestFirst)
}

/** By attempt, then time, then id: never by the wall clock alone (k/k#83050, #130551). */
function newestFirst(a: SandboxStatus | ContainerStatus, b: SandboxStatus | ContainerStatus): number {
  if (a.attempt !== b.attempt) return b.attempt - a.attempt
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
