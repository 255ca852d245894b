import type { Clock } from '../model/clock.js'
import type { PodLifecycleEvent } from '../model/event.js'
import type { Health } from '../model/health.js'
import type { Logger } from '../model/logger.js'
import type { InspectError, PodStatus } from '../model/pod.js'
import type { RelistReport } from '../relist/lister.js'
import type { HistogramSnapshot } from '../ring/histogram.js'

/** Everything an engine can be told. Durations in milliseconds. */
export interface EngineOptions {
  /** CRI endpoint: `unix:///run/containerd/containerd.sock`, `unix:/…`, a bare absolute path, or `host:port` (gRPC only). */
  readonly endpoint: string
  /** `h2`: our own framing, for unix sockets (default there); `grpc`: @grpc/grpc-js. */
  readonly transport?: 'h2' | 'grpc'
  /** Pause between the end of a relist and the start of the next. Default 1000 (kubelet constant). */
  readonly relistPeriodMs?: number
  /** Age of the last good list from which the verdict is `stuck`. Default 180000 (kubelet constant). */
  readonly relistThresholdMs?: number
  /** Events held for a consumer that is behind; beyond it pods are marked dirty. Default 1000 (kubelet constant). */
  readonly channelCapacity?: number
  /** When the channel is full: `sync` (default) gives each affected pod one PodSync later; `discard` is the kubelet's rule. */
  readonly overflow?: 'sync' | 'discard'
  /** Shard threads. Default: from the cores, at least 1. */
  readonly shards?: number
  /** Limit of status calls in flight, all shards together. Default 64. */
  readonly inspectConcurrency?: number
  /** Deadline of every CRI call. Default 120000 (kubelet `runtimeRequestTimeout`). */
  readonly runtimeRequestTimeoutMs?: number
  /** Largest message to warn about, bytes. Default 16 MiB, the limit of containerd and of the kubelet's client. */
  readonly messageWarnBytes?: number
  /** Called on the caller's thread after each relist that worked. Must not throw. */
  readonly onRelist?: (report: RelistReport) => void
  readonly logger?: Logger
}

/** What `cache.getNewerThan` and `cache.get` answer. */
export interface CachedPod {
  readonly status: PodStatus
  readonly error: InspectError | null
}

/** The pod cache (kubelet container/cache.go): the last status of each pod, and whether it is fresh. */
export interface PodCache {
  /** Never blocks. A pod that nobody knows has the default status. */
  get(uid: string): CachedPod
  /**
   * Resolves once the pod's status comes from a list that began after `stamp` (a value of `engine.clock.now()`).
   * Rejects with code CACHE_TIMEOUT after `deadlineMs`, and with CACHE_CLOSED when the engine stops.
   */
  getNewerThan(uid: string, stamp: number, deadlineMs: number): Promise<CachedPod>
  list(): IterableIterator<CachedPod>
  readonly size: number
}

export interface ThreadStats {
  /** `main`, `lister`, `shard-0`, … */
  readonly name: string
  readonly alive: boolean
  readonly restarts: number
  /** Event-loop delay, seconds, since the last snapshot but one. */
  readonly loopDelayP50: number
  readonly loopDelayP99: number
  readonly loopDelayMax: number
  /** Bytes waiting in the thread's inbox (lister → shard) and outbox (shard → main), and their sizes. */
  readonly inboxBytes: number
  readonly inboxCapacity: number
  readonly ringBytes: number
  readonly ringCapacity: number
}

export interface CallStats {
  /** CRI operation as the kubelet labels it: list_podsandbox, list_containers, podsandbox_status, container_status. */
  readonly operation: string
  readonly total: number
  readonly errors: number
  readonly duration: HistogramSnapshot
  readonly inflight: number
  /** Age of the oldest call in flight, seconds; 0 when none is. */
  readonly oldestInflight: number
}

/** A cheap snapshot: plain numbers, taken without asking another thread. */
export interface EngineStats {
  readonly uptime: number
  readonly relists: number
  readonly relistFailures: number
  readonly last: RelistReport | null
  readonly relistDuration: HistogramSnapshot
  readonly relistInterval: HistogramSnapshot
  readonly podRelistDuration: HistogramSnapshot
  /** Per phase, seconds: list_sandboxes, list_containers, diff, inspect, publish, merge. */
  readonly phases: Readonly<Record<string, HistogramSnapshot>>
  /** Of the running relist; 0 between two. Moves while a list hangs. */
  readonly relistInProgressSeconds: number
  /** Since the start of the last good list; null before the first. Moves while a list hangs. */
  readonly lastSeenSeconds: number | null
  /** Since the start of the last list that every shard has worked through: how old the view is. Null before the first. */
  readonly viewSeconds: number | null
  readonly runningPods: number
  readonly runningContainers: Readonly<Record<string, number>>
  readonly pods: number
  readonly degradedPods: number
  readonly calls: readonly CallStats[]
  readonly threads: readonly ThreadStats[]
  readonly channelDepth: number
  readonly channelCapacity: number
  readonly dirtyPods: number
  readonly events: number
  /** Events replaced by a PodSync (`sync`) or lost (`discard`) because the channel was full. */
  readonly overflowEvents: number
  readonly discardedEvents: number
  readonly duplicateItems: number
  readonly unidentifiedItems: number
}

/** The engine: relists a runtime on worker threads and delivers what changed. */
export interface Engine {
  readonly clock: Clock
  readonly cache: PodCache
  /** Resolves when the first relist has been started; a runtime that is not there yet is retried for ever. */
  start(): Promise<void>
  /** Ends threads, calls and iterators. Safe to call twice. */
  stop(): Promise<void>
  /** Events, from now on until `stop`. One consumer: a second iterator shares the same channel. */
  events(): AsyncIterableIterator<PodLifecycleEvent>
  health(): Health
  stats(): EngineStats
  /**
   * List and inspect this one pod now, beside any full relist; after an action on the pod, say. Requests for one pod are
   * merged, and what they see is never older than asked for. Its status then counts as newer than `clock.now()` was.
   */
  requestRelist(uid: string): void
  /** Inspect the pod again at the next relist even if nothing changed; gives one PodSync. */
  requestReinspect(uid: string): void
}

export type { HistogramSnapshot, RelistReport }
