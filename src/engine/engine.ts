import type { ListerReport } from '../../workers/protocol.js'
import { systemClock } from '../model/clock.js'
import { messageOf } from '../model/errors.js'
import type { Health } from '../model/health.js'
import { silentLogger } from '../model/logger.js'
import type { ShardCommand } from '../relist/messages.js'
import { shardOfUid } from '../relist/shardOf.js'
import { watchLoopDelay } from '../ring/loopDelay.js'
import { createThreadCounters, ThreadCounters } from '../ring/threadCounters.js'
import type { Engine, EngineOptions, EngineStats, ThreadStats } from './api.js'
import { PodStatusCache } from './cache.js'
import { EventChannel } from './channel.js'
import { Merger } from './merge.js'
import { SizeWarning } from './sizeWarning.js'
import { loopDelay, type Sources, StatsKeeper } from './stats.js'
import { defaultShards, type Link, noRings, WorkerThreads } from './threads.js'

const defaults = {
  relistPeriodMs: 1000,
  relistThresholdMs: 180_000,
  channelCapacity: 1000,
  overflow: 'sync' as 'sync' | 'discard',
  inspectConcurrency: 64,
  runtimeRequestTimeoutMs: 120_000,
  messageWarnBytes: 16 << 20,
} satisfies Partial<EngineOptions>

/** Messages taken from one shard before the next has its turn. */
const batch = 32
/** The main thread drains rings for this long, then lets everything else run. */
const sliceMs = 2
/** The bell wakes the drain loop; this is only the net below it. */
const idleMs = 1000

/**
 * An engine for one runtime. Nothing runs before `start`.
 *
 * @throws EndpointError for an endpoint that can't be one; a runtime that is not there (yet) is no error.
 */
export function createEngine(options: EngineOptions): Engine {
  return new ThreadedEngine({ ...defaults, shards: defaultShards(), logger: silentLogger, ...options })
}

type Settings = EngineOptions & Required<Pick<EngineOptions, keyof typeof defaults | 'shards' | 'logger'>>

class ThreadedEngine implements Engine {
  readonly clock = systemClock
  readonly cache: PodStatusCache
  private readonly settings: Settings
  private readonly channel: EventChannel
  private readonly merger: Merger
  private readonly threads: WorkerThreads
  private readonly keeper: StatsKeeper
  private readonly sizeWarning: SizeWarning
  private readonly mainLoop = new ThreadCounters(createThreadCounters(), systemClock)
  private unwatch = () => {}
  private startedAt = 0
  private draining: Promise<void> | null = null
  private stopped = false

  constructor(settings: Settings) {
    this.settings = settings
    const { clock } = this
    const { shards, channelCapacity, overflow, logger } = settings
    this.cache = new PodStatusCache({ clock, partitions: shards, partitionOf: (uid) => shardOfUid(uid, shards) })
    this.channel = new EventChannel({ capacity: channelCapacity, overflow })
    this.merger = new Merger({ cache: this.cache, channel: this.channel, now: () => clock.now(), shards })
    this.keeper = new StatsKeeper()
    this.sizeWarning = new SizeWarning(settings.messageWarnBytes, logger)
    this.threads = new WorkerThreads({
      runtime: {
        endpoint: settings.endpoint,
        transport: settings.transport,
        requestTimeoutMs: settings.runtimeRequestTimeoutMs,
      },
      shards,
      relistPeriodMs: settings.relistPeriodMs,
      inspectConcurrency: settings.inspectConcurrency,
      clock,
      logger,
      onReport: (report) => this.report(report),
      onDeath: (counters) => this.keeper.retire(counters),
      reseed: (index) => {
        while (this.drainShard(index) > 0);
        this.cache.unobserve(index)
        return this.merger.seeds((uid) => shardOfUid(uid, shards) === index)
      },
    })
  }

  async start(): Promise<void> {
    if (this.draining !== null) return
    this.startedAt = this.clock.now()
    this.unwatch = watchLoopDelay(this.mainLoop)
    this.threads.start()
    this.draining = this.drain()
  }

  async stop(): Promise<void> {
    if (this.stopped) return
    this.stopped = true
    this.unwatch()
    this.threads.bell.ring()
    await this.draining
    await this.threads.stop()
    this.channel.close()
    this.cache.close()
  }

  events() {
    return this.channel.iterate()
  }

  requestRelist(uid: string): void {
    this.command({ t: 'relist', uid })
  }

  requestReinspect(uid: string): void {
    this.command({ t: 'reinspect', uid })
  }

  private command(command: Extract<ShardCommand, { readonly uid: string }>): void {
    const shard = this.threads.shards[shardOfUid(command.uid, this.settings.shards)]!
    shard.commands.post(command)
    shard.commands.flush()
  }

  health(): Health {
    return this.keeper.health(this.sources())
  }

  stats(): EngineStats {
    return this.keeper.stats(this.sources())
  }

  private sources(): Sources {
    const links = [this.threads.lister, ...this.threads.shards]
    const { clock, startedAt, merger, channel, cache } = this
    const { relistPeriodMs, relistThresholdMs } = this.settings
    return {
      clock,
      startedAt,
      live: links.filter((link) => link.alive).map((link) => link.counters),
      threads: [
        { name: 'main', alive: true, restarts: 0, ...loopDelay(this.mainLoop), ...noRings },
        ...links.map(threadStats),
      ],
      merger,
      channel,
      cache,
      relistPeriodMs,
      relistThresholdMs,
    }
  }

  private async drain(): Promise<void> {
    while (!this.stopped) {
      let sliceEnds = this.clock.now() + sliceMs
      let taken: number
      do {
        taken = 0
        for (let index = 0; index < this.threads.shards.length; index++) taken += this.drainShard(index)
        if (taken > 0 && this.clock.now() > sliceEnds) {
          await new Promise(setImmediate)
          sliceEnds = this.clock.now() + sliceMs
        }
      } while (taken > 0 && !this.stopped)
      for (const shard of this.threads.shards) shard.commands.flush()
      await this.threads.bell.wait(idleMs)
    }
  }

  private drainShard(index: number): number {
    const shard = this.threads.shards[index]!
    if (shard.broken) return 0
    const start = this.clock.now()
    let taken = 0
    try {
      taken = shard.messages.read((message) => this.merger.apply(index, message), batch)
    } catch (error) {
      this.settings.logger.error('A shard sent what is no message', { thread: shard.name, err: messageOf(error) })
      this.threads.abandon(shard)
    }
    if (taken > 0) this.keeper.merged(this.clock.now() - start)
    return taken
  }

  private report(report: ListerReport): void {
    if (report.t === 'failed') {
      this.keeper.failed(report.message, report.ms)
      this.settings.logger.error('GenericPLEG: Unable to retrieve pods', { err: report.message })
      return
    }
    this.keeper.passed(report.pass)
    this.sizeWarning.check(report.pass)
    this.settings.onRelist?.(report.pass)
  }
}

function threadStats({ name, alive, restarts, counters, depths }: Link): ThreadStats {
  return { name, alive, restarts, ...loopDelay(counters), ...depths() }
}
