import type { Clock } from '../model/clock.js'
import type { PodLifecycleEvent } from '../model/event.js'
import type { PodRef } from '../model/pod.js'

export interface ChannelOptions {
  readonly capacity: number
  /** When it is full: `sync` gives each affected pod one PodSync as soon as there is room; `discard` is the kubelet's rule. */
  readonly overflow: 'sync' | 'discard'
  readonly clock: Clock
}

/**
 * The bounded channel between merge and whoever consumes. Nothing blocks the producer, and with `sync` nothing is lost:
 * a pod whose event found no room is dirty, its further events fold into the same PodSync, and that PodSync comes
 * before anything newer of that pod.
 */
export class EventChannel {
  readonly capacity: number
  private readonly overflow: 'sync' | 'discard'
  private readonly clock: Clock
  private readonly buffer: (PodLifecycleEvent | undefined)[]
  private head = 0
  private length = 0
  /** In the order in which they became dirty. */
  private readonly dirty = new Map<string, PodRef>()
  private readonly readers: ((result: IteratorResult<PodLifecycleEvent>) => void)[] = []
  private closed = false
  delivered = 0
  /** Events that became part of a PodSync. */
  overflowed = 0
  /** Events that were lost (`discard`). */
  discarded = 0

  constructor(options: ChannelOptions) {
    this.capacity = options.capacity
    this.overflow = options.overflow
    this.clock = options.clock
    this.buffer = new Array<PodLifecycleEvent | undefined>(options.capacity)
  }

  get depth(): number {
    return this.length
  }

  get dirtyPods(): number {
    return this.dirty.size
  }

  push(event: PodLifecycleEvent): void {
    if (this.closed) return
    const { uid } = event.pod
    if (this.dirty.has(uid)) {
      this.overflowed++
    } else if (this.length < this.capacity) {
      this.put(event)
    } else if (this.overflow === 'discard') {
      this.discarded++
    } else {
      this.overflowed++
      this.dirty.set(uid, event.pod)
    }
  }

  /** Takes the oldest event, if there is one. */
  take(): PodLifecycleEvent | undefined {
    if (this.length === 0) return undefined
    const event = this.buffer[this.head]!
    this.buffer[this.head] = undefined
    this.head = (this.head + 1) % this.capacity
    this.length--
    this.delivered++
    this.refill()
    return event
  }

  /** Takes everything, dirty pods' PodSyncs included. */
  drain(): PodLifecycleEvent[] {
    const events: PodLifecycleEvent[] = []
    for (let event = this.take(); event !== undefined; event = this.take()) events.push(event)
    return events
  }

  /** Ends with the channel; what it still holds is delivered first. Several iterators share one channel. */
  iterate(): AsyncIterableIterator<PodLifecycleEvent> {
    let ended = false
    const end: IteratorResult<PodLifecycleEvent> = { done: true, value: undefined }
    let mine: ((result: IteratorResult<PodLifecycleEvent>) => void) | null = null
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: () => {
        const value = ended ? undefined : this.take()
        if (value !== undefined) return Promise.resolve({ done: false, value })
        if (ended || this.closed) return Promise.resolve(end)
        return new Promise((resolve) => {
          mine = resolve
          this.readers.push(resolve)
        })
      },
      return: () => {
        ended = true
        if (mine !== null) {
          const at = this.readers.indexOf(mine)
          if (at >= 0) this.readers.splice(at, 1)[0]!(end)
        }
        return Promise.resolve(end)
      },
    }
  }

  close(): void {
    this.closed = true
    for (const reader of this.readers.splice(0)) reader({ done: true, value: undefined })
  }

  private put(event: PodLifecycleEvent): void {
    const reader = this.readers.shift()
    if (reader !== undefined) {
      this.delivered++
      reader({ done: false, value: event })
      return
    }
    this.buffer[(this.head + this.length) % this.capacity] = event
    this.length++
  }

  private refill(): void {
    if (this.length === this.capacity) return
    for (const [uid, pod] of this.dirty) {
      this.dirty.delete(uid)
      this.put({ type: 'PodSync', pod, kind: 'sandbox', id: '', name: '', time: this.clock.wallMs() })
      return
    }
  }
}
