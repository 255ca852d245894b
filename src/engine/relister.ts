import type { HotRuntime } from '../cri/runtime.js'
import { type Clock, systemClock } from '../model/clock.js'
import { messageOf } from '../model/errors.js'
import type { PodLifecycleEvent } from '../model/event.js'
import type { Health } from '../model/health.js'
import { Lister, type RelistReport } from '../relist/lister.js'
import { Shard } from '../relist/shard.js'
import { shardOfUid } from '../relist/shardOf.js'
import { createThreadCounters, ThreadCounters } from '../ring/threadCounters.js'
import type { EngineStats, PodCache } from './api.js'
import { PodStatusCache } from './cache.js'
import { EventChannel } from './channel.js'
import { Merger } from './merge.js'
import { type Sources, StatsKeeper } from './stats.js'

export interface RelisterOptions {
  readonly runtime: HotRuntime
  readonly clock?: Clock
  readonly shards?: number
  readonly relistPeriodMs?: number
  readonly relistThresholdMs?: number
  readonly channelCapacity?: number
  readonly overflow?: 'sync' | 'discard'
  readonly inspectConcurrency?: number
  readonly random?: () => number
}

/** A relister without threads: for tests, tools that relist once, and tiny nodes. */
export interface Relister {
  readonly cache: PodCache
  /** One relist; resolves when both lists are in and diffed. Inspections may still run: see `settled`. */
  relist(): Promise<RelistReport>
  /** Resolves when no inspection is queued or in flight, but for pods that wait for a retry. */
  settled(): Promise<void>
  /** Takes what the channel holds. */
  takeEvents(): PodLifecycleEvent[]
  requestRelist(uid: string): void
  requestReinspect(uid: string): void
  health(): Health
  stats(): EngineStats
  close(): void
}

/**
 * The engine's own lister, shards, merge, cache and channel on one thread, the caller's: no rings, no timers of its own
 * but those of retries.
 */
export function createRelister(options: RelisterOptions): Relister {
  const clock = options.clock ?? systemClock
  const shardCount = options.shards ?? 1
  const partitionOf = (uid: string) => shardOfUid(uid, shardCount)
  const cache = new PodStatusCache({ clock, partitions: shardCount, partitionOf })
  const channel = new EventChannel({
    capacity: options.channelCapacity ?? 1000,
    overflow: options.overflow ?? 'sync',
  })
  const merger = new Merger({ cache, channel, now: () => clock.now(), shards: shardCount })
  const calls = new ThreadCounters(createThreadCounters(), clock)
  const keeper = new StatsKeeper()
  const { runtime } = options
  const shards = Array.from({ length: shardCount }, (_, index) => {
    return new Shard({
      runtime,
      clock,
      calls,
      inspectConcurrency: options.inspectConcurrency ?? 64,
      publish: (message) => merger.apply(index, message),
      ...(options.random === undefined ? {} : { random: options.random }),
    })
  })
  const lister = new Lister({ runtime, clock, calls, inboxes: shards })
  const sources: Sources = {
    clock,
    startedAt: clock.now(),
    live: [calls],
    threads: [],
    merger,
    channel,
    cache,
    relistPeriodMs: options.relistPeriodMs ?? 1000,
    relistThresholdMs: options.relistThresholdMs ?? 180_000,
  }

  return {
    cache,
    async relist() {
      const start = clock.now()
      calls.set('relistStartedAt', start)
      try {
        const report = await lister.relist()
        calls.set('lastSeenAt', report.stamp)
        keeper.passed(report)
        return report
      } catch (error) {
        keeper.failed(messageOf(error), clock.now() - start)
        throw error
      } finally {
        calls.set('relistStartedAt', 0)
      }
    },
    async settled() {
      while (shards.some((shard) => shard.busy)) await new Promise((resolve) => setImmediate(resolve))
    },
    takeEvents: () => channel.drain(),
    requestRelist: (uid) => shards[partitionOf(uid)]!.command({ t: 'relist', uid }),
    requestReinspect: (uid) => shards[partitionOf(uid)]!.command({ t: 'reinspect', uid }),
    health: () => keeper.health(sources),
    stats: () => keeper.stats(sources),
    close() {
      for (const shard of shards) shard.close()
      channel.close()
      cache.close()
    },
  }
}
