import type { HotRuntime } from '../cri/runtime.js'
import { type Clock, systemClock } from '../model/clock.js'
import { messageOf } from '../model/errors.js'
import type { PodLifecycleEvent } from '../model/event.js'
import type { Health, InflightCall } from '../model/health.js'
import type { CallObserver } from '../relist/calls.js'
import { judge } from '../relist/health.js'
import { Lister, type RelistReport } from '../relist/lister.js'
import { Shard } from '../relist/shard.js'
import { shardOfUid } from '../relist/shardOf.js'
import type { PodCache } from './api.js'
import { PodStatusCache } from './cache.js'
import { EventChannel } from './channel.js'
import { Merger } from './merge.js'

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
  requestReinspect(uid: string): void
  health(): Health
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
    clock,
  })
  const merger = new Merger({ cache, channel, now: () => clock.now(), shards: shardCount })
  const calls = new CallLog(clock, cache)
  const { runtime } = options
  const shards = Array.from({ length: shardCount }, (_, index) => {
    return new Shard({
      runtime,
      clock,
      calls,
      inspectConcurrency: options.inspectConcurrency ?? 32,
      publish: (message) => merger.apply(index, message),
      ...(options.random === undefined ? {} : { random: options.random }),
    })
  })
  const lister = new Lister({ runtime, clock, calls, inboxes: shards })
  const startedAt = clock.now()
  const recentRelistMs: number[] = []
  let attempts = 0
  let lastSeenAt: number | null = null
  let lastError = ''

  return {
    cache,
    async relist() {
      attempts++
      try {
        const pass = await lister.relist()
        lastSeenAt = pass.stamp
        lastError = ''
        recentRelistMs.push(pass.relistMs)
        if (recentRelistMs.length > 8) recentRelistMs.shift()
        return pass
      } catch (error) {
        lastError = messageOf(error)
        throw error
      }
    },
    async settled() {
      while (shards.some((shard) => shard.busy)) await new Promise((resolve) => setImmediate(resolve))
    },
    takeEvents: () => channel.drain(),
    requestReinspect: (uid) => shards[partitionOf(uid)]!.command({ t: 'reinspect', uid }),
    health: () =>
      judge({
        now: clock.now(),
        startedAt,
        lastSeenAt,
        periodMs: options.relistPeriodMs ?? 1000,
        thresholdMs: options.relistThresholdMs ?? 180_000,
        recentRelistMs,
        attempts,
        lastError,
        inflight: calls.inflight(),
        degraded: merger.degraded(),
      }),
    close() {
      for (const shard of shards) shard.close()
      channel.close()
      cache.close()
    },
  }
}

/** Calls in flight, oldest first. */
class CallLog implements CallObserver {
  private readonly clock: Clock
  private readonly cache: PodCache
  private readonly open = new Map<number, { call: string; id: string; uid: string; start: number }>()
  private tokens = 0

  constructor(clock: Clock, cache: PodCache) {
    this.clock = clock
    this.cache = cache
  }

  begin(call: string, id: string, uid: string): number {
    this.open.set(++this.tokens, { call, id, uid, start: this.clock.now() })
    return this.tokens
  }

  end(token: number): void {
    this.open.delete(token)
  }

  inflight(): InflightCall[] {
    const now = this.clock.now()
    return [...this.open.values()].map(({ call, id, uid, start }) => {
      const { namespace, name } = this.cache.get(uid).status
      return { call, id, pod: uid === '' ? null : { uid, namespace, name }, ageMs: now - start }
    })
  }
}
