import { systemClock } from '../model/clock.js'
import { containerStates } from '../model/state.js'
import { type HotCall, hotCalls } from '../relist/calls.js'
import type { RelistReport } from '../relist/lister.js'
import { phaseBounds, relistBounds, SharedHistogram } from '../ring/histogram.js'
import { createThreadCounters, type ShardPhase, shardPhases, ThreadCounters } from '../ring/threadCounters.js'
import type { CallStats, EngineStats, ThreadStats } from './api.js'
import type { EventChannel } from './channel.js'
import type { Merger } from './merge.js'
import type { Link, WorkerThreads } from './threads.js'

/** kubelet instrumented_services.go: what `operation_type` says for each call. */
const operations: Readonly<Record<HotCall, string>> = {
  ListPodSandbox: 'list_podsandbox',
  ListContainers: 'list_containers',
  PodSandboxStatus: 'podsandbox_status',
  ContainerStatus: 'container_status',
}

interface Sources {
  readonly now: number
  readonly startedAt: number
  readonly lastSeenAt: number | null
  readonly threads: WorkerThreads
  readonly merger: Merger
  readonly channel: EventChannel
  readonly mainLoop: ThreadCounters
}

/** Counts what the main thread sees, and puts it together with what the threads count in shared memory. */
export class StatsKeeper {
  lastError = ''
  /** Of listers that are gone. */
  lastSeenAt = 0
  private relists = 0
  private failures = 0
  private last: RelistReport | null = null
  private duplicates = 0
  private unidentified = 0
  private readonly relistDuration = new SharedHistogram(relistBounds)
  private readonly relistInterval = new SharedHistogram(relistBounds)
  private readonly podRelistDuration = new SharedHistogram(relistBounds)
  private readonly listSandboxes = new SharedHistogram(phaseBounds)
  private readonly listContainers = new SharedHistogram(phaseBounds)
  private readonly merge = new SharedHistogram(phaseBounds)
  /** What threads that are gone have counted. */
  private readonly retired = new ThreadCounters(createThreadCounters(), systemClock)

  get attempts(): number {
    return this.relists + this.failures
  }

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
    this.lastSeenAt = Math.max(this.lastSeenAt, counters.get('lastSeenAt'))
  }

  snapshot(sources: Sources): EngineStats {
    const { now, threads, merger, channel, lastSeenAt } = sources
    const relistStartedAt = threads.lister.counters.get('relistStartedAt')
    const inProgress = threads.lister.alive && relistStartedAt > 0
    return {
      uptime: (now - sources.startedAt) / 1000,
      relists: this.relists,
      relistFailures: this.failures,
      last: this.last,
      relistDuration: this.relistDuration.snapshot(),
      relistInterval: this.relistInterval.snapshot(),
      podRelistDuration: this.podRelistDuration.snapshot(),
      phases: {
        list_sandboxes: this.listSandboxes.snapshot(),
        list_containers: this.listContainers.snapshot(),
        ...Object.fromEntries(shardPhases.map((phase) => [phase, this.phase(phase, threads).snapshot()])),
        merge: this.merge.snapshot(),
      },
      relistInProgressSeconds: inProgress ? (now - relistStartedAt) / 1000 : 0,
      lastSeenSeconds: lastSeenAt === null ? null : (now - lastSeenAt) / 1000,
      runningPods: merger.runningPods,
      runningContainers: Object.fromEntries(
        containerStates.map((state, i) => [state, this.last?.containerStates[i] ?? 0]),
      ),
      pods: merger.pods,
      degradedPods: merger.degradedCount,
      calls: hotCalls.map((call) => this.call(call, threads, now)),
      threads: [mainThread(sources.mainLoop), threadStats(threads.lister), ...threads.shards.map(threadStats)],
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

  private phase(phase: ShardPhase, threads: WorkerThreads): SharedHistogram {
    const sum = new SharedHistogram(phaseBounds)
    for (const counters of this.all(threads)) sum.add(counters.phaseDuration(phase))
    return sum
  }

  private call(call: HotCall, threads: WorkerThreads, now: number): CallStats {
    const all = this.all(threads)
    const [first, ...rest] = all.map((counters) => counters.duration(call).snapshot())
    const duration = rest.reduce((sum, one) => {
      const counts = sum.counts.map((count, i) => count + one.counts[i]!)
      return { bounds: sum.bounds, counts, sum: sum.sum + one.sum, count: sum.count + one.count }
    }, first!)
    const inflight = liveLinks(threads)
      .flatMap((link) => link.counters.inflight())
      .filter((seen) => seen.call === call)
    return {
      operation: operations[call],
      total: duration.count,
      errors: all.reduce((sum, counters) => sum + counters.errors(call), 0),
      duration,
      inflight: inflight.length,
      oldestInflight: inflight.reduce((oldest, seen) => Math.max(oldest, (now - seen.startedAt) / 1000), 0),
    }
  }

  private all(threads: WorkerThreads): ThreadCounters[] {
    return [this.retired, threads.lister.counters, ...threads.shards.map((shard) => shard.counters)]
  }
}

export function liveLinks(threads: WorkerThreads): Link[] {
  return [threads.lister, ...threads.shards].filter((link) => link.alive)
}

function mainThread(counters: ThreadCounters): ThreadStats {
  return { name: 'main', alive: true, restarts: 0, ...loopDelay(counters), ...noRings }
}

function threadStats(link: Link): ThreadStats {
  const { name, alive, restarts, counters } = link
  return { name, alive, restarts, ...loopDelay(counters), ...link.depths() }
}

const noRings = { inboxBytes: 0, inboxCapacity: 0, ringBytes: 0, ringCapacity: 0 }

function loopDelay(counters: ThreadCounters) {
  return {
    loopDelayP50: counters.get('loopDelayP50'),
    loopDelayP99: counters.get('loopDelayP99'),
    loopDelayMax: counters.get('loopDelayMax'),
  }
}
