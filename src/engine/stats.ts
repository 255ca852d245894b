import { type Clock, systemClock } from '../model/clock.js'
import type { Health } from '../model/health.js'
import { containerStates } from '../model/state.js'
import { type HotCall, hotCalls, type ShardPhase } from '../relist/calls.js'
import { judge } from '../relist/health.js'
import type { RelistReport } from '../relist/lister.js'
import { callBounds, type HistogramSnapshot, phaseBounds, relistBounds, SharedHistogram } from '../ring/histogram.js'
import { createThreadCounters, shardPhases, ThreadCounters } from '../ring/threadCounters.js'
import type { CallStats, EngineStats, PodCache, ThreadStats } from './api.js'
import type { EventChannel } from './channel.js'
import type { Merger } from './merge.js'

/** Relists that the verdict `slow` looks back on. */
const recentRelists = 8

/** kubelet instrumented_services.go: what `operation_type` says for each call. */
const operations: Readonly<Record<HotCall, string>> = {
  ListPodSandbox: 'list_podsandbox',
  ListContainers: 'list_containers',
  PodSandboxStatus: 'podsandbox_status',
  ContainerStatus: 'container_status',
}

/** What a snapshot is taken from. `live` are the counters of the threads that run, the lister's first. */
export interface Sources {
  readonly clock: Clock
  readonly startedAt: number
  readonly live: readonly ThreadCounters[]
  readonly threads: readonly ThreadStats[]
  readonly merger: Merger
  readonly channel: EventChannel
  readonly cache: PodCache
  readonly relistPeriodMs: number
  readonly relistThresholdMs: number
}

/** Counts what the main thread sees, and puts it together with what the threads count in shared memory. */
export class StatsKeeper {
  private lastError = ''
  private retiredLastSeenAt = 0
  private recentRelistMs: number[] = []
  private relists = 0
  private failures = 0
  private last: RelistReport | null = null
  private duplicates = 0
  private unidentified = 0
  private readonly relistDuration = new SharedHistogram(relistBounds)
  private readonly relistInterval = new SharedHistogram(relistBounds)
  private readonly listSandboxes = new SharedHistogram(phaseBounds)
  private readonly listContainers = new SharedHistogram(phaseBounds)
  private readonly merge = new SharedHistogram(phaseBounds)
  /** What threads that are gone have counted. */
  private readonly retired = new ThreadCounters(createThreadCounters(), systemClock)

  passed(pass: RelistReport): void {
    this.relists++
    this.lastError = ''
    this.relistDuration.observe(pass.relistMs / 1000)
    if (this.last !== null) this.relistInterval.observe((pass.stamp - this.last.stamp) / 1000)
    this.listSandboxes.observe(pass.listSandboxesMs / 1000)
    this.listContainers.observe(pass.listContainersMs / 1000)
    this.duplicates += pass.duplicates
    this.unidentified = pass.unidentified
    this.last = pass
    this.recentRelistMs = [...this.recentRelistMs.slice(1 - recentRelists), pass.relistMs]
  }

  failed(message: string, ms: number): void {
    this.failures++
    this.lastError = message
    this.relistDuration.observe(ms / 1000)
  }

  merged(ms: number): void {
    this.merge.observe(ms / 1000)
  }

  /** A thread is gone: keeps what it has counted. */
  retire(counters: ThreadCounters): void {
    this.retired.add(counters)
    this.retiredLastSeenAt = Math.max(this.retiredLastSeenAt, counters.get('lastSeenAt'))
  }

  stats(sources: Sources): EngineStats {
    const { live, merger, channel } = sources
    const now = sources.clock.now()
    const relistStartedAt = live[0]?.get('relistStartedAt') ?? 0
    const lastSeenAt = this.lastSeen(live)
    return {
      uptime: (now - sources.startedAt) / 1000,
      relists: this.relists,
      relistFailures: this.failures,
      last: this.last,
      relistDuration: this.relistDuration.snapshot(),
      relistInterval: this.relistInterval.snapshot(),
      podRelistDuration: this.phase('pod_relist', live),
      phases: {
        list_sandboxes: this.listSandboxes.snapshot(),
        list_containers: this.listContainers.snapshot(),
        ...Object.fromEntries(shardPhases.map((phase) => [phase, this.phase(phase, live)])),
        merge: this.merge.snapshot(),
      },
      relistInProgressSeconds: relistStartedAt > 0 ? (now - relistStartedAt) / 1000 : 0,
      lastSeenSeconds: lastSeenAt === null ? null : (now - lastSeenAt) / 1000,
      viewSeconds: merger.observed === 0 ? null : (now - merger.observed) / 1000,
      runningPods: merger.runningPods,
      runningContainers: Object.fromEntries(
        containerStates.map((state, i) => [state, this.last?.containerStates[i] ?? 0]),
      ),
      pods: merger.pods,
      degradedPods: merger.degradedCount,
      calls: hotCalls.map((call) => this.call(call, live, now)),
      threads: sources.threads,
      channelDepth: channel.depth,
      channelCapacity: channel.capacity,
      dirtyPods: channel.dirtyPods,
      events: merger.events,
      overflowEvents: channel.overflowed,
      discardedEvents: channel.discarded,
      duplicateItems: this.duplicates,
      unidentifiedItems: this.unidentified,
    }
  }

  health(sources: Sources): Health {
    const { clock, startedAt, live, merger, cache, relistPeriodMs, relistThresholdMs } = sources
    const now = clock.now()
    const inflight = live
      .flatMap((counters) => counters.inflight())
      .map(({ call, id, podUid, startedAt }) => {
        const { namespace, name } = cache.get(podUid).status
        return { call, id, pod: podUid === '' ? null : { uid: podUid, namespace, name }, ageMs: now - startedAt }
      })
      .sort((a, b) => b.ageMs - a.ageMs)
    return judge({
      now,
      startedAt,
      lastSeenAt: this.lastSeen(live),
      periodMs: relistPeriodMs,
      thresholdMs: relistThresholdMs,
      recentRelistMs: this.recentRelistMs,
      attempts: this.relists + this.failures,
      lastError: this.lastError,
      inflight,
      degraded: merger.degraded(),
    })
  }

  /** Start of the last good list, also where the thread that made it is gone; null before the first. */
  private lastSeen(live: readonly ThreadCounters[]): number | null {
    const seen = Math.max(this.retiredLastSeenAt, ...live.map((counters) => counters.get('lastSeenAt')))
    return seen === 0 ? null : seen
  }

  private phase(phase: ShardPhase, live: readonly ThreadCounters[]): HistogramSnapshot {
    const sum = new SharedHistogram(phaseBounds)
    for (const counters of [this.retired, ...live]) sum.add(counters.phaseDuration(phase))
    return sum.snapshot()
  }

  private call(call: HotCall, live: readonly ThreadCounters[], now: number): CallStats {
    const sum = new SharedHistogram(callBounds)
    const all = [this.retired, ...live]
    for (const counters of all) sum.add(counters.duration(call))
    const duration = sum.snapshot()
    const inflight = live.flatMap((counters) => counters.inflight()).filter((seen) => seen.call === call)
    return {
      operation: operations[call],
      total: duration.count,
      errors: all.reduce((errors, counters) => errors + counters.errors(call), 0),
      duration,
      inflight: inflight.length,
      oldestInflight: inflight.reduce((oldest, seen) => Math.max(oldest, (now - seen.startedAt) / 1000), 0),
    }
  }
}

export function loopDelay(
  counters: ThreadCounters,
): Pick<ThreadStats, 'loopDelayP50' | 'loopDelayP99' | 'loopDelayMax'> {
  return {
    loopDelayP50: counters.get('loopDelayP50'),
    loopDelayP99: counters.get('loopDelayP99'),
    loopDelayMax: counters.get('loopDelayMax'),
  }
}
