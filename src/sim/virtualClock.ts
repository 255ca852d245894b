import TinyQueue from 'tinyqueue'
import type { Clock } from '../model/clock.js'

interface Alarm {
  readonly at: number
  readonly order: number
  run: (() => void) | null
}

/** Rounds of the micro- and macrotask queues in which what a timer set off comes to rest. */
const settleRounds = 4

/**
 * Time that only moves when told to. Timers run in the order of their time, then of their making; between two of them
 * promises settle, so that code on this clock behaves as on a machine that is infinitely fast.
 */
export class VirtualClock implements Clock {
  private time = 0
  private made = 0
  private wallOffsetMs: number
  private readonly alarms = new TinyQueue<Alarm>([], (a, b) => a.at - b.at || a.order - b.order)

  /** `wallMs`: the wall clock at the start, ms since 1970. */
  constructor(wallMs = Date.UTC(2026, 0, 1)) {
    this.wallOffsetMs = wallMs
  }

  now(): number {
    return this.time
  }

  wallMs(): number {
    return this.wallOffsetMs + this.time
  }

  /** Sets the wall clock forward or back, as an administrator or NTP would; `now` does not move. */
  stepWall(ms: number): void {
    this.wallOffsetMs += ms
  }

  after(ms: number, run: () => void): () => void {
    const alarm: Alarm = { at: this.time + Math.max(0, ms), order: this.made++, run }
    this.alarms.push(alarm)
    return () => {
      alarm.run = null
    }
  }

  /** Lets `ms` milliseconds pass. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms
    await settle()
    for (let next = this.alarms.peek(); next !== undefined && next.at <= end; next = this.alarms.peek()) {
      this.alarms.pop()
      if (next.run === null) continue
      this.time = next.at
      next.run()
      await settle()
    }
    this.time = end
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < settleRounds; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
