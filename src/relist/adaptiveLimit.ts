import type { Clock } from '../model/clock.js'

/** A call that takes longer than this no longer counts against the limit: a hung object must not eat the room of the others. */
const overdueMs = 1000
/** However many calls hang, never more than this at once. */
const hardLimit = 512
/** Windows of this many answers are compared with the long-term latency. */
const window = 16
/** The short-term latency may be this much above the long-term one before the limit shrinks. */
const tolerance = 2

/**
 * How many status calls may be in flight, from the latency gradient (the idea of TCP Vegas and of Netflix's
 * concurrency-limits): while answers take as long as ever the limit grows by about its square root, and when they slow
 * down together the runtime is saturated or serialises, and the limit shrinks with the ratio.
 */
export class AdaptiveLimit {
  private readonly clock: Clock
  private readonly min: number
  private readonly max: number
  /** Start time by token, oldest first. */
  private readonly inflight = new Map<number, number>()
  private readonly overdue = new Set<number>()
  private tokens = 0
  private current: number
  private longTerm = 0
  private windowSum = 0
  private windowCount = 0

  constructor(options: { clock: Clock; max: number; min?: number }) {
    this.clock = options.clock
    this.max = options.max
    this.min = Math.min(options.min ?? 2, options.max)
    this.current = Math.min(options.max, 32)
  }

  get limit(): number {
    return Math.floor(this.current)
  }

  get inUse(): number {
    return this.inflight.size
  }

  /** A token, or -1 where the limit is reached. */
  acquire(): number {
    this.ageOut()
    if (this.inflight.size - this.overdue.size >= this.limit || this.inflight.size >= hardLimit) return -1
    const token = this.tokens++
    this.inflight.set(token, this.clock.now())
    return token
  }

  release(token: number): void {
    const start = this.inflight.get(token)
    if (start === undefined) return
    const busy = this.inflight.size - this.overdue.size
    this.inflight.delete(token)
    if (this.overdue.delete(token)) return
    this.sample(this.clock.now() - start, busy)
  }

  /** Milliseconds until the oldest call stops counting; null where none does. */
  untilOverdue(): number | null {
    for (const [token, start] of this.inflight) {
      if (!this.overdue.has(token)) return Math.max(0, start + overdueMs - this.clock.now())
    }
    return null
  }

  private ageOut(): void {
    const before = this.clock.now() - overdueMs
    for (const [token, start] of this.inflight) {
      if (start > before) return
      this.overdue.add(token)
    }
  }

  private sample(ms: number, busy: number): void {
    this.windowSum += ms
    this.windowCount++
    if (this.windowCount < window) return
    const short = this.windowSum / this.windowCount
    this.windowSum = this.windowCount = 0
    // A faster answer is believed at once, a slower one over some hundred windows.
    this.longTerm = this.longTerm === 0 || short < this.longTerm ? short : this.longTerm * 0.99 + short * 0.01
    // An idle limit says nothing about the runtime.
    if (busy < this.current / 2) return
    const gradient = Math.max(0.5, Math.min(1, (tolerance * this.longTerm) / short))
    const wanted = this.current * gradient + Math.sqrt(this.current)
    this.current = Math.max(this.min, Math.min(this.max, this.current * 0.8 + wanted * 0.2))
  }
}
