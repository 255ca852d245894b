import { type Clock, sleep } from '../model/clock.js'
import type { PodLifecycleEvent } from '../model/event.js'
import type { Logger } from '../model/logger.js'
import type { PodRef } from '../model/pod.js'
import type { PodUpdate, ProbeResult, SyncHandler } from './api.js'
import { dispatchDue, dispatchEvent, dispatchProbe, dispatchUpdate } from './dispatch.js'
import { HealthGate } from './gate.js'
import { Housekeeping } from './housekeeping.js'
import { Mailbox } from './mailbox.js'
import type { RuntimeProblem } from './runtimeState.js'
import type { SyncSource, SyncStats } from './stats.js'
import { Ticker } from './ticker.js'
import { Wake } from './wake.js'

export interface SyncLoopOptions<Pod extends PodRef> {
  readonly handler: SyncHandler<Pod>
  readonly events: AsyncIterator<PodLifecycleEvent>
  /** What stops the loop; asked before each iteration. */
  readonly problems: () => readonly RuntimeProblem[]
  readonly clock: Clock
  readonly logger: Logger
  readonly housekeepingPeriodMs?: number
}

const tickMs = 1_000
/** A loop that has not turned for so long is hung (kubelet: the larger of this and twice syncFrequency). */
const hungMs = 300_000
/** Iterations without a rest for the rest of the process. */
const burst = 32

interface Source {
  readonly name: SyncSource
  ready(): boolean
  run(): void
}

/**
 * The kubelet's syncLoop: one loop over everything that can make a pod change. Ready sources take turns, so that no burst
 * of one starves another (the kubelet's select picks at random).
 */
export class SyncLoop<Pod extends PodRef = PodRef> {
  /** Capacities as in the kubelet. */
  readonly updates = new Mailbox<PodUpdate<Pod>>(50)
  readonly probes = new Mailbox<ProbeResult>(20)
  private readonly options: SyncLoopOptions<Pod>
  private readonly wake = new Wake()
  private readonly gate: HealthGate
  private readonly housekeeping: Housekeeping
  private readonly syncTick: Ticker
  private readonly housekeepingTick: Ticker
  private readonly seen = new Set<string>()
  private readonly taken: Record<SyncSource, number> = { config: 0, pleg: 0, sync: 0, probe: 0, housekeeping: 0 }
  private event: PodLifecycleEvent | undefined
  private eventsFailed: { readonly error: unknown } | undefined
  private eventsEnded = false
  private lastIteration: number | undefined
  private lastTurn: number | undefined

  constructor(options: SyncLoopOptions<Pod>) {
    this.options = options
    const { clock, logger, handler } = options
    const notify = () => this.wake.notify()
    this.gate = new HealthGate(clock, options.problems, logger)
    this.housekeeping = new Housekeeping((signal) => handler.onHousekeeping(signal), clock, logger)
    this.syncTick = new Ticker(clock, tickMs, notify)
    this.housekeepingTick = new Ticker(clock, options.housekeepingPeriodMs ?? 2_000, notify)
    this.updates.onChange(notify)
    this.probes.onChange(notify)
  }

  /** Runs until the signal aborts, the configuration or the events end. Rejects with what broke the events. */
  async run(signal: AbortSignal): Promise<void> {
    const { logger, clock } = this.options
    const stop = () => this.wake.notify()
    signal.addEventListener('abort', stop)
    const sources = this.sources(signal)
    logger.info('Starting kubelet main sync loop')
    this.syncTick.start()
    this.housekeepingTick.start()
    this.nextEvent()
    try {
      for (let next = 0, since = 0; !signal.aborted; ) {
        this.lastTurn = clock.now()
        const delay = this.gate.delayMs()
        if (delay > 0) {
          await sleep(clock, delay, signal)
          continue
        }
        this.lastIteration = clock.now()
        const index = await this.ready(sources, next, signal)
        if (index === undefined) break
        const source = sources[index]
        source?.run()
        if (source !== undefined) this.taken[source.name]++
        this.lastIteration = clock.now()
        next = index + 1
        since = (since + 1) % burst
        if (since === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      signal.removeEventListener('abort', stop)
      this.syncTick.stop()
      this.housekeepingTick.stop()
      this.updates.close()
      this.probes.close()
      await this.housekeeping.ended()
    }
  }

  /**
   * '' or why the loop counts as hung. Waiting for the health gate is not hanging: unlike in the kubelet, an agent is not
   * restarted because its runtime is down.
   */
  healthCheck(): string {
    const hung = this.lastTurn !== undefined && this.options.clock.now() - this.lastTurn > hungMs
    return hung ? 'sync Loop took longer than expected' : ''
  }

  stats(): SyncStats {
    const { clock } = this.options
    return {
      taken: { ...this.taken },
      skipped: this.gate.skipped,
      skippingSeconds: this.gate.skippingMs / 1_000,
      lastIterationSeconds: this.lastIteration === undefined ? null : (clock.now() - this.lastIteration) / 1_000,
      configDepth: this.updates.depth,
      configCapacity: this.updates.capacity,
      probeDepth: this.probes.depth,
      probeCapacity: this.probes.capacity,
      housekeepings: this.housekeeping.passes,
      housekeepingSeconds: this.housekeeping.runningMs / 1_000,
    }
  }

  private sources(signal: AbortSignal): readonly Source[] {
    const { handler, logger } = this.options
    return [
      { name: 'config', ready: () => this.updates.depth > 0, run: () => this.takeUpdate() },
      { name: 'pleg', ready: () => this.event !== undefined, run: () => this.takeEvent() },
      {
        name: 'sync',
        ready: () => this.syncTick.ticked,
        run: () => this.syncTick.take() && dispatchDue(handler, logger),
      },
      { name: 'probe', ready: () => this.probes.depth > 0, run: () => this.takeProbe() },
      { name: 'housekeeping', ready: () => this.housekeepingTick.ticked, run: () => this.takeHousekeeping(signal) },
    ]
  }

  /** The first source that is ready, from `next` on; undefined when the loop is to end. */
  private async ready(sources: readonly Source[], next: number, signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      for (let i = 0; i < sources.length; i++) {
        const index = (next + i) % sources.length
        if (sources[index]?.ready()) return index
      }
      if (this.eventsFailed !== undefined) throw this.eventsFailed.error
      if (this.updates.drained) {
        this.options.logger.error('Update channel is closed, exiting the sync loop')
        return undefined
      }
      if (this.eventsEnded) return undefined
      await this.wake.wait()
    }
    return undefined
  }

  private takeUpdate(): void {
    const update = this.updates.take()
    if (update === undefined) return
    dispatchUpdate(update, this.options.handler, this.options.logger)
    this.seen.add(update.source)
  }

  private takeEvent(): void {
    const { event } = this
    this.event = undefined
    if (event !== undefined) dispatchEvent(event, this.options.handler, this.options.logger)
    this.nextEvent()
  }

  private takeProbe(): void {
    const result = this.probes.take()
    if (result !== undefined) dispatchProbe(result, this.options.handler, this.options.logger)
  }

  private takeHousekeeping(signal: AbortSignal): void {
    this.housekeepingTick.take()
    if (this.options.handler.sourcesReady(this.seen)) this.housekeeping.tick(signal)
    else this.options.logger.v(4, "SyncLoop (housekeeping, skipped): sources aren't ready yet")
  }

  /** Holds one event at a time: the queue is the engine's channel, which knows what to do when it is full. */
  private nextEvent(): void {
    this.options.events.next().then(
      (result) => {
        if (result.done === true) this.eventsEnded = true
        else this.event = result.value
        this.wake.notify()
      },
      (error: unknown) => {
        this.eventsFailed = { error }
        this.wake.notify()
      },
    )
  }
}
