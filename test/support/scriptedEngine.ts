import type { CachedPod, Engine, EngineStats, PodCache } from '../../src/engine/api.js'
import { type Clock, systemClock } from '../../src/model/clock.js'
import type { PodLifecycleEvent } from '../../src/model/event.js'
import type { Health } from '../../src/model/health.js'
import { emptyPodStatus } from '../../src/model/pod.js'
import { engineStats, healthOf } from './stats.js'

/** An engine that says what a test tells it to. */
export class ScriptedEngine implements Engine {
  readonly clock: Clock
  pods: CachedPod[] = []
  currentHealth: Health = healthOf()
  currentStats: EngineStats = engineStats()
  started = false
  stopped = false
  private readonly queue: PodLifecycleEvent[] = []
  private waiting: ((result: IteratorResult<PodLifecycleEvent>) => void) | undefined

  constructor(clock: Clock = systemClock) {
    this.clock = clock
  }

  get cache(): PodCache {
    const find = (uid: string): CachedPod =>
      this.pods.find(({ status }) => status.uid === uid) ?? { status: emptyPodStatus(uid), error: null }
    return {
      get: find,
      getNewerThan: async (uid) => find(uid),
      list: () => this.pods.values(),
      size: this.pods.length,
    }
  }

  async start(): Promise<void> {
    this.started = true
  }

  async stop(): Promise<void> {
    this.stopped = true
    this.waiting?.({ done: true, value: undefined })
  }

  push(event: PodLifecycleEvent): void {
    this.queue.push(event)
    this.serve()
  }

  events(): AsyncIterableIterator<PodLifecycleEvent> {
    return {
      next: () =>
        new Promise((resolve) => {
          this.waiting = resolve
          this.serve()
        }),
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  health(): Health {
    return this.currentHealth
  }

  stats(): EngineStats {
    return this.currentStats
  }

  requestRelist(): void {}

  requestReinspect(): void {}

  private serve(): void {
    const value = this.waiting === undefined ? undefined : this.queue.shift()
    if (value === undefined) return
    const resolve = this.waiting
    this.waiting = undefined
    resolve?.({ done: false, value })
  }
}
