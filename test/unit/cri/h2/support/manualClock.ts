import type { Clock } from '../../../../../src/model/clock.js'

/** Time that passes when a test says so. */
export class ManualClock implements Clock {
  #now = 1000
  /** Time passes, but no timer has run yet: what a busy thread sees. */
  freezeTimers = false
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>()

  now(): number {
    return this.#now
  }

  wallMs(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  advance(ms: number): void {
    this.#now += ms
    if (this.freezeTimers) return
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue
      timer.run()
    }
  }
}
