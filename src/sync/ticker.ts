import type { Clock } from '../model/clock.js'

/** Ticks at a fixed pace. Ticks that nobody took are one tick (as Go's time.Ticker). */
export class Ticker {
  private readonly clock: Clock
  private readonly periodMs: number
  private readonly notify: () => void
  private cancel: (() => void) | undefined
  private due = 0
  ticked = false

  constructor(clock: Clock, periodMs: number, notify: () => void) {
    this.clock = clock
    this.periodMs = periodMs
    this.notify = notify
  }

  start(): void {
    this.due = this.clock.now()
    this.arm()
  }

  stop(): void {
    this.cancel?.()
  }

  /** True once per tick. */
  take(): boolean {
    const was = this.ticked
    this.ticked = false
    return was
  }

  private arm(): void {
    const now = this.clock.now()
    this.due += this.periodMs
    // After a pause of the whole process the ticks in between are gone.
    if (this.due <= now) this.due = now + this.periodMs
    this.cancel = this.clock.after(this.due - now, () => {
      this.ticked = true
      this.arm()
      this.notify()
    })
  }
}
