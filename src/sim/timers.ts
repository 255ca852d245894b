import type { Clock } from '../model/clock.js'

/** Timers of one owner, so that they all end with it. */
export class Timers {
  private readonly clock: Clock
  private readonly running = new Set<() => void>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  after(ms: number, run: () => void): () => void {
    const cancel = this.clock.after(ms, () => {
      this.running.delete(stop)
      run()
    })
    const stop = () => {
      this.running.delete(stop)
      cancel()
    }
    this.running.add(stop)
    return stop
  }

  cancelAll(): void {
    for (const stop of [...this.running]) stop()
  }
}

/** Resolves after `ms` (Infinity: never by itself), or when the signal aborts. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = Number.isFinite(ms) ? timers.after(ms, done) : () => {}
    function done() {
      stop()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
    if (signal?.aborted) done()
  })
}
