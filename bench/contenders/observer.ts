import { sleep, systemClock } from '../../src/model/clock.js'
import type { Hooks, Relisted } from './contender.js'

/** A contender that brings nothing for so long has lost it. */
const patienceMs = 120_000

/** Counts what a contender tells, and waits for it. */
export class Observer implements Hooks {
  events = 0
  firstEventAt: number | null = null
  lastEventAt = 0
  last: Relisted | null = null
  private wake: (() => void)[] = []
  private target: (() => void) | null = null

  relisted(relist: Relisted): void {
    this.last = relist
    for (const wake of this.wake.splice(0)) wake()
  }

  event(): void {
    this.events++
    this.lastEventAt = systemClock.now()
    this.firstEventAt ??= this.lastEventAt
    this.target?.()
  }

  /** The next relist that ends, begun after `after`. Throws when none does. */
  async next(after = Number.NEGATIVE_INFINITY): Promise<Relisted> {
    for (;;) {
      const came = await this.within((done) => this.wake.push(done))
      if (!came || this.last === null) throw new Error(`no relist within ${patienceMs} ms`)
      if (this.last.stamp > after) return this.last
    }
  }

  /** False when that many events, all in all, did not come. */
  async reach(events: number): Promise<boolean> {
    if (this.events >= events) return true
    const came = await this.within((done) => {
      this.target = () => {
        if (this.events >= events) done()
      }
    })
    this.target = null
    return came
  }

  private async within(wait: (done: () => void) => void): Promise<boolean> {
    const over = new AbortController()
    const came = new Promise<boolean>((resolve) => wait(() => resolve(true)))
    const result = await Promise.race([came, sleep(systemClock, patienceMs, over.signal).then(() => false)])
    over.abort()
    return result
  }
}
