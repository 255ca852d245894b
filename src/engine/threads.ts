import { availableParallelism } from 'node:os'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { ListerReport, ListerTask, RuntimeTarget, ShardTask, WorkerControl } from '../../workers/protocol.js'
import type { Clock } from '../model/clock.js'
import { messageOf } from '../model/errors.js'
import type { Logger } from '../model/logger.js'
import type { ShardCommand, ShardMessage } from '../relist/messages.js'
import { createDoorbell, Doorbell } from '../ring/doorbell.js'
import { FrameReader, FrameWriter } from '../ring/frameRing.js'
import { MessageReader, MessageWriter } from '../ring/messageRing.js'
import { createRing, RingReader, RingWriter } from '../ring/ring.js'
import { createThreadCounters, ThreadCounters } from '../ring/threadCounters.js'
import type { ThreadStats } from './api.js'

/** Lister → shard. Room for two socket reads of 256 KiB with every frame changed, and more. */
const inboxBytes = 2 << 20
/** Shard → main: some thousand snapshots. */
const outboxBytes = 4 << 20
/** Main → shard: seeds, when it restarts. */
const commandBytes = 1 << 20
/** A dead thread is started again after this long, doubling up to the last while it keeps dying. */
const firstRestartMs = 100
const lastRestartMs = 5000
const stableAfterMs = 60_000
/** Thread ends that do not happen by themselves are forced after this long. */
const stopMs = 3000

const entry = (name: string) => new URL(`../../workers/${name}.js`, import.meta.url).href

/** Main's end of one thread, whatever incarnation of it is running. */
export interface Link {
  readonly name: string
  readonly bell: SharedArrayBuffer
  counters: ThreadCounters
  control: MessagePort | null
  alive: boolean
  restarts: number
  startedAt: number
  recentDeaths: number
  /** Ends the thread that runs; it is then started again like one that died. */
  end: () => void
  /** Bytes waiting for the thread and from it, and the sizes of those rings. */
  depths(): Pick<ThreadStats, 'inboxBytes' | 'inboxCapacity' | 'ringBytes' | 'ringCapacity'>
}

export const noRings = { inboxBytes: 0, inboxCapacity: 0, ringBytes: 0, ringCapacity: 0 } as const

interface Rings {
  inboxMemory: SharedArrayBuffer
  outboxMemory: SharedArrayBuffer
  commandMemory: SharedArrayBuffer
  inbox: RingReader
  outbox: RingReader
  messages: MessageReader<ShardMessage>
  commands: MessageWriter<ShardCommand>
}

export interface ShardLink extends Link, Rings {
  /** Its outbox holds what is no message: nothing more is taken from it. */
  broken: boolean
}

export interface ThreadsOptions {
  readonly runtime: RuntimeTarget
  readonly shards: number
  readonly relistPeriodMs: number
  readonly inspectConcurrency: number
  readonly clock: Clock
  readonly logger: Logger
  readonly onReport: (report: ListerReport) => void
  /** A shard has died: takes what its outbox still holds and gives what the next one has to know. */
  readonly reseed: (index: number) => Iterable<ShardCommand>
  /** Called before the counters of a thread that died are replaced. */
  readonly onDeath: (counters: ThreadCounters) => void
}

/** One shard for each core but one, which the lister and the main thread share; never less than one. */
export function defaultShards(): number {
  return Math.max(1, Math.min(8, availableParallelism() - 1))
}

/**
 * The worker threads: one lister, S shards, each a long task of one piscina pool. A thread that dies is started again;
 * the others go on meanwhile.
 */
export class WorkerThreads {
  readonly bell = new Doorbell(createDoorbell())
  readonly shards: ShardLink[]
  readonly lister: Link
  private readonly options: ThreadsOptions
  private readonly pool: Piscina
  private readonly running = new Set<Promise<void>>()
  private stopping = false

  constructor(options: ThreadsOptions) {
    this.options = options
    const threads = options.shards + 1
    this.pool = new Piscina({
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // Piscina's default parks a worker between tasks, and with it the worker's sockets and timers.
      atomics: 'disabled',
      // Workers allocate for what changed, not for what is listed; less than V8's default for it.
      resourceLimits: { maxYoungGenerationSizeMb: 32 },
    })
    this.lister = this.link('lister')
    this.shards = Array.from({ length: options.shards }, (_, index) => this.shardLink(index))
  }

  start(): void {
    this.shards.forEach((_, index) => {
      this.startShard(index, [{ t: 'seeded' }])
    })
    this.startLister()
  }

  /** Asks every thread to end, and ends what does not. */
  async stop(): Promise<void> {
    this.stopping = true
    for (const link of [this.lister, ...this.shards]) this.tell(link, { t: 'stop' })
    const forced = new Promise<void>((resolve) => {
      const cancel = this.options.clock.after(stopMs, resolve)
      void Promise.allSettled(this.running).then(() => {
        cancel()
        resolve()
      })
    })
    await forced
    await this.pool.destroy()
    this.bell.close()
  }

  /** What a shard sends can't be read: ends its thread, so that a new one starts from what the cache holds. */
  abandon(shard: ShardLink): void {
    shard.broken = true
    shard.end()
  }

  private startLister(): void {
    const link = this.lister
    const { port1, port2 } = new MessageChannel()
    port1.on('message', this.options.onReport)
    const counters = createThreadCounters()
    link.counters = new ThreadCounters(counters, this.options.clock)
    const task: ListerTask = {
      runtime: this.options.runtime,
      relistPeriodMs: this.options.relistPeriodMs,
      inboxes: this.shards.map((shard) => ({ ring: shard.inboxMemory, bell: shard.bell })),
      bell: link.bell,
      counters,
      control: port2,
    }
    this.run(link, 'lister', task, port1, port2, () => this.startLister())
  }

  private startShard(index: number, seeds: Iterable<ShardCommand>): void {
    const link = this.shards[index]!
    const { port1, port2 } = new MessageChannel()
    const counters = createThreadCounters()
    if (link.startedAt > 0) Object.assign(link, this.rings(link.bell), { broken: false })
    link.counters = new ThreadCounters(counters, this.options.clock)
    for (const seed of seeds) link.commands.post(seed)
    link.commands.flush()
    const task: ShardTask = {
      runtime: this.options.runtime,
      inspectConcurrency: Math.max(1, Math.ceil(this.options.inspectConcurrency / this.options.shards)),
      inbox: link.inboxMemory,
      commands: link.commandMemory,
      outbox: link.outboxMemory,
      bell: link.bell,
      listerBell: this.lister.bell,
      mainBell: this.bell.buffer,
      counters,
      control: port2,
    }
    this.run(link, 'shard', task, port1, port2, () => {
      this.startShard(index, [...this.options.reseed(index)])
      this.tell(this.lister, { t: 'attach', shard: index, inbox: { ring: link.inboxMemory, bell: link.bell } })
    })
  }

  private run(
    link: Link,
    file: string,
    task: unknown,
    mine: MessagePort,
    theirs: MessagePort,
    again: () => void,
  ): void {
    link.control = mine
    link.alive = true
    link.startedAt = this.options.clock.now()
    const ending = new AbortController()
    link.end = () => ending.abort()
    // The port closes with its thread, also where piscina does not settle the task (process.exit in a worker).
    const closed = new Promise<void>((resolve) => mine.once('close', resolve))
    const ended = Promise.race([
      this.pool.run(task, { filename: entry(file), transferList: [theirs], signal: ending.signal }).then(
        () => 'it ended',
        (error: unknown) => messageOf(error),
      ),
      closed.then(() => 'its thread is gone'),
    ]).then((why) => {
      mine.close()
      link.alive = false
      this.options.onDeath(link.counters)
      this.running.delete(ended)
      if (!this.stopping) this.restart(link, why, again)
    })
    this.running.add(ended)
  }

  private restart(link: Link, why: string, again: () => void): void {
    const { clock, logger } = this.options
    if (clock.now() - link.startedAt > stableAfterMs) link.recentDeaths = 0
    const afterMs = Math.min(lastRestartMs, firstRestartMs * 2 ** link.recentDeaths++)
    link.restarts++
    logger.error('Worker thread died, starting it again', { thread: link.name, err: why, afterMs })
    clock.after(afterMs, () => {
      if (!this.stopping) again()
    })
  }

  private tell(link: Link, message: WorkerControl): void {
    link.control?.postMessage(message)
  }

  private link(name: string): Link {
    return {
      name,
      bell: createDoorbell(),
      counters: new ThreadCounters(createThreadCounters(), this.options.clock),
      control: null,
      alive: false,
      restarts: 0,
      startedAt: 0,
      recentDeaths: 0,
      end: () => {},
      depths: () => noRings,
    }
  }

  private shardLink(index: number): ShardLink {
    const link = this.link(`shard-${index}`)
    const shard: ShardLink = {
      ...link,
      ...this.rings(link.bell),
      broken: false,
      depths: () => ({
        inboxBytes: shard.inbox.used(),
        inboxCapacity: shard.inbox.capacity,
        ringBytes: shard.outbox.used(),
        ringCapacity: shard.outbox.capacity,
      }),
    }
    return shard
  }

  /** Rings of one incarnation of a shard: a thread that died may have left anything in those of the last. */
  private rings(bell: SharedArrayBuffer): Rings {
    const inboxMemory = createRing(inboxBytes)
    const outboxMemory = createRing(outboxBytes)
    const commandMemory = createRing(commandBytes)
    const outbox = new RingReader(outboxMemory, new Doorbell(bell))
    return {
      inboxMemory,
      outboxMemory,
      commandMemory,
      inbox: new RingReader(inboxMemory),
      outbox,
      messages: new MessageReader(new FrameReader(outbox)),
      commands: new MessageWriter(new FrameWriter(new RingWriter(commandMemory, new Doorbell(bell)), this.bell)),
    }
  }
}
