import { UsageError } from '../model/errors.js'
import type { PodLifecycleEvent } from '../model/event.js'

interface ChannelOptions {
  /** Events held for a consumer that is behind. */
  readonly capacity: number
  /** `sync`: a pod whose event finds no room gets one PodSync later. `discard`: the event is lost (the kubelet's rule). */
  readonly overflow: 'sync' | 'discard'
}

type Result = IteratorResult<PodLifecycleEvent, undefined>
type Taker = (result: Result) => void
const ended: Result = { done: true, value: undefined }

/**
 * The bounded channel between the engine and its consumer. Order is kept per pod: what happens to a pod while it is
 * dirty is folded into the PodSync that it is owed, and those follow in the order in which their pods became dirty.
 *
 * Invariant: a pod is dirty only while the channel is full, since each event that is taken lets one PodSync in. There is
 * at most one dirty entry a pod, which bounds them.
 */
export class EventChannel {
  readonly capacity: number
  private readonly overflow: 'sync' | 'discard'
  /** A ring of `length` events from `head` on. */
  private readonly slots: (PodLifecycleEvent | undefined)[]
  private head = 0
  private length = 0
  /** By UID, the PodSync owed. */
  private readonly owed = new Map<string, PodLifecycleEvent>()
  private readonly takers = new Set<Taker>()
  private closed = false
  private counts = { delivered: 0, overflowed: 0, discarded: 0 }

  /** @throws UsageError for a capacity that is no positive integer */
  constructor({ capacity, overflow }: ChannelOptions) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new UsageError(`channel capacity must be a positive integer, not ${capacity}`, { capacity })
    }
    this.capacity = capacity
    this.overflow = overflow
    this.slots = new Array<PodLifecycleEvent | undefined>(capacity).fill(undefined)
  }

  /** Events that wait to be taken. */
  get depth(): number {
    return this.length
  }

  /** Pods that are owed a PodSync. */
  get dirtyPods(): number {
    return this.owed.size
  }

  /** Events that a consumer got. */
  get delivered(): number {
    return this.counts.delivered
  }

  /** Events that found no room and were folded into a PodSync. */
  get overflowed(): number {
    return this.counts.overflowed
  }

  /** Events that found no room and are lost. */
  get discarded(): number {
    return this.counts.discarded
  }

  /** Never blocks. After `close` does nothing. */
  push(event: PodLifecycleEvent): void {
    if (this.closed) return
    const [taker] = this.takers
    if (taker !== undefined) {
      this.takers.delete(taker)
      this.counts.delivered++
      taker({ done: false, value: event })
    } else if (this.length < this.capacity) this.put(event)
    else this.overflowWith(event)
  }

  /** Takes all that waits, PodSyncs that are owed included. */
  drain(): PodLifecycleEvent[] {
    const events: PodLifecycleEvent[] = []
    for (let event = this.take(); event !== undefined; event = this.take()) events.push(event)
    return events
  }

  /** Iterators share the channel: each event goes to one of them. After `close` they end once the channel is empty. */
  iterate(): AsyncIterableIterator<PodLifecycleEvent> {
    const mine = new Set<Taker>()
    let returned = false
    const iterator: AsyncIterableIterator<PodLifecycleEvent> = {
      next: () => {
        if (returned) return Promise.resolve(ended)
        const event = this.take()
        if (event !== undefined) return Promise.resolve({ done: false, value: event })
        if (this.closed) return Promise.resolve(ended)
        return new Promise<Result>((resolve) => {
          const taker: Taker = (result) => {
            mine.delete(taker)
            resolve(result)
          }
          mine.add(taker)
          this.takers.add(taker)
        })
      },
      return: () => {
        returned = true
        this.end(mine)
        return Promise.resolve(ended)
      },
      [Symbol.asyncIterator]: () => iterator,
    }
    return iterator
  }

  close(): void {
    this.closed = true
    this.end(this.takers)
  }

  private end(takers: Set<Taker>): void {
    for (const taker of [...takers]) {
      this.takers.delete(taker)
      taker(ended)
    }
  }

  private put(event: PodLifecycleEvent): void {
    this.slots[(this.head + this.length) % this.capacity] = event
    this.length++
  }

  private take(): PodLifecycleEvent | undefined {
    const event = this.slots[this.head]
    if (event === undefined) return undefined
    this.slots[this.head] = undefined
    this.head = (this.head + 1) % this.capacity
    this.length--
    this.counts.delivered++
    const [sync] = this.owed.values()
    if (sync !== undefined) {
      this.owed.delete(sync.pod.uid)
      this.put(sync)
    }
    return event
  }

  private overflowWith({ pod, time }: PodLifecycleEvent): void {
    if (this.overflow === 'discard') {
      this.counts.discarded++
      return
    }
    this.counts.overflowed++
    // An entry that is there keeps its place in the order.
    this.owed.set(pod.uid, { type: 'PodSync', pod, kind: 'sandbox', id: '', name: '', time })
  }
}
