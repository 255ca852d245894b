import type { Clock } from '../../src/model/clock.js'

interface Timer {
  readonly due: number
  readonly run: () => void
}

/** Lets everything that is ready run: microtasks, and what they put into the macro queue. */
async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Virtual time. Timers run in order of their due time, then of their making; nothing else moves it. */
export class FakeClock implements Clock {
  private readonly timers = new Set<Timer>()
  private time = 0
  private readonly wallStart: number
  /** A step of the wall clock, ms; `now` does not feel it. */
  wallStep = 0

  constructor(wallStart: number = Date.UTC(2026, 11, 1)) {
    this.wallStart = wallStart
  }

  now(): number {
    return this.time
  }

  wallMs(): number {
    return this.wallStart + this.time + this.wallStep
  }

  after(ms: number, run: () => void): () => void {
    const timer = { due: this.time + Math.max(0, ms), run }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** Timers that have not run yet. */
  get pending(): number {
    return this.timers.size
  }

  /** Moves time, running what falls due on the way and what that sets going. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms
    await settle()
    for (let next = this.next(end); next !== undefined; next = this.next(end)) {
      this.timers.delete(next)
      this.time = next.due
      next.run()
      await settle()
    }
    this.time = end
    await settle()
  }

  private next(end: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.timers) {
      if (timer.due <= end && (first === undefined || timer.due < first.due)) first = timer
    }
    return first
  }
}
