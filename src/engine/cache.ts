import type { Clock } from '../model/clock.js'
import { type Facts, PlegdError } from '../model/errors.js'
import { emptyPodStatus, type InspectError, type PodStatus } from '../model/pod.js'
import type { CachedPod, PodCache } from './api.js'

const defaultMaxWaiters = 10_000
/** The longest that Node's timers take; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1

type CacheErrorCode = 'CACHE_TIMEOUT' | 'CACHE_CLOSED' | 'CACHE_TOO_MANY_WAITERS'

class CacheError extends PlegdError {
  constructor(code: CacheErrorCode, message: string, facts: Facts) {
    super(code, message, facts)
  }
}

interface CacheOptions {
  readonly clock: Clock
  /** Parts of the node whose lists are worked through independently: the shards. One part is the kubelet's cache. */
  readonly partitions: number
  readonly partitionOf: (uid: string) => number
  /** `getNewerThan` calls that may wait at the same time. Default 10,000. */
  readonly maxWaiters?: number
}

interface Entry {
  readonly pod: CachedPod
  readonly modified: number
  observed: number
}

interface Waiter {
  readonly min: number
  readonly resolve: (pod: CachedPod) => void
  readonly reject: (error: CacheError) => void
  readonly cancelDeadline: () => void
}

/**
 * The kubelet's pod cache (v1.37 container/cache.go), with one time per partition instead of one for the node, because
 * shards work through a list independently. A partition's time covers every pod of it except the pending ones, which
 * changed in that list and were not inspected since; also, what was only listed never counts as fresh.
 *
 * Stamps are monotonic milliseconds from before the list on which a status stands. As in the kubelet, a reader that asks
 * needs a stamp after its own, and one that already waits is also released by an equal one.
 */
export class PodStatusCache implements PodCache {
  private readonly clock: Clock
  private readonly partitionOf: (uid: string) => number
  private readonly maxWaiters: number
  private readonly entries = new Map<string, Entry>()
  /** Stamp of the latest list that showed a change of the pod which no inspection has followed. */
  private readonly pending = new Map<string, number>()
  /** Per partition, -Infinity before its first list. */
  private readonly times: number[]
  /** Per partition and UID, so that a new time touches nobody but those who wait. */
  private readonly waiters: Map<string, Set<Waiter>>[]
  private waiting = 0
  private closed = false

  constructor({ clock, partitions, partitionOf, maxWaiters = defaultMaxWaiters }: CacheOptions) {
    this.clock = clock
    this.partitionOf = partitionOf
    this.maxWaiters = maxWaiters
    this.times = new Array<number>(partitions).fill(Number.NEGATIVE_INFINITY)
    this.waiters = Array.from({ length: partitions }, () => new Map())
  }

  get size(): number {
    return this.entries.size
  }

  get(uid: string): CachedPod {
    return this.entries.get(uid)?.pod ?? frozen(emptyPodStatus(uid), null)
  }

  *list(): IterableIterator<CachedPod> {
    for (const entry of this.entries.values()) yield entry.pod
  }

  getNewerThan(uid: string, stamp: number, deadlineMs: number): Promise<CachedPod> {
    if (this.closed) return Promise.reject(closedError(uid))
    if (this.freshness(uid) > stamp) return Promise.resolve(this.get(uid))
    if (this.waiting >= this.maxWaiters) {
      const message = `${this.maxWaiters} readers already wait for pod statuses; wait for some of them first`
      return Promise.reject(new CacheError('CACHE_TOO_MANY_WAITERS', message, { uid, max: this.maxWaiters }))
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        min: stamp,
        resolve,
        reject,
        cancelDeadline: this.clock.after(Math.min(deadlineMs, maxTimerMs), () => {
          this.removeWaiter(uid, waiter)
          const message = `the pod's status was not renewed within ${deadlineMs} ms`
          reject(new CacheError('CACHE_TIMEOUT', message, { uid, stamp, deadlineMs, pending: this.isPending(uid) }))
        }),
      }
      const waiters = this.waiters[this.partitionOf(uid)]!
      const ofPod = waiters.get(uid)
      if (ofPod === undefined) waiters.set(uid, new Set([waiter]))
      else ofPod.add(waiter)
      this.waiting++
    })
  }

  /** Replaces the pod's entry, whatever its stamp. The status and its arrays are frozen: all readers share them. */
  set(uid: string, status: PodStatus, error: InspectError | null, stamp: number): void {
    this.entries.set(uid, { pod: frozen(status, error), modified: stamp, observed: stamp })
    const changedAt = this.pending.get(uid)
    if (changedAt !== undefined && changedAt <= stamp) this.pending.delete(uid)
    this.notify(uid, stamp)
  }

  /** A list of this stamp shows the pod changed; until it is inspected, the partition's time says nothing about it. */
  markPending(uid: string, stamp: number): void {
    this.pending.set(uid, Math.max(stamp, this.pending.get(uid) ?? stamp))
  }

  isPending(uid: string): boolean {
    return this.pending.has(uid)
  }

  /** Unlike the kubelet's, releases readers whom the partition's time already allows the default status. */
  delete(uid: string): void {
    this.entries.delete(uid)
    this.pending.delete(uid)
    this.notify(uid, this.times[this.partitionOf(uid)]!)
  }

  /** The partition's list of this stamp was worked through: pods of it that are not pending are as they were. */
  observe(partition: number, stamp: number): void {
    this.times[partition] = stamp
    for (const uid of this.waiters[partition]!.keys()) if (!this.pending.has(uid)) this.notify(uid, stamp)
  }

  /** Who worked through the partition's lists is gone: until the next one, a pod that is not here may still exist. */
  unobserve(partition: number): void {
    this.times[partition] = Number.NEGATIVE_INFINITY
  }

  /** This one pod was found as it was at `stamp` (the kubelet's SetObservedTime). */
  observePod(uid: string, stamp: number): void {
    const entry = this.entries.get(uid)
    if (entry !== undefined) entry.observed = stamp
    this.notify(uid, stamp)
  }

  /** Rejects all who wait or ask from now on. `get` and `list` go on. */
  close(): void {
    this.closed = true
    for (const partition of this.waiters) {
      for (const [uid, ofPod] of partition) {
        for (const waiter of ofPod) {
          this.removeWaiter(uid, waiter)
          waiter.reject(closedError(uid))
        }
      }
    }
  }

  /** The latest stamp for which the cached status is known to hold. */
  private freshness(uid: string): number {
    const entry = this.entries.get(uid)
    const time = this.isPending(uid) ? Number.NEGATIVE_INFINITY : this.times[this.partitionOf(uid)]!
    if (entry === undefined) return time
    return isAnswer(entry.pod) ? Math.max(entry.modified, entry.observed, time) : Number.NEGATIVE_INFINITY
  }

  private notify(uid: string, stamp: number): void {
    const ofPod = this.waiters[this.partitionOf(uid)]!.get(uid)
    if (ofPod === undefined) return
    const entry = this.entries.get(uid)
    if (entry !== undefined && !isAnswer(entry.pod)) return
    const pod = entry?.pod ?? this.get(uid)
    for (const waiter of ofPod) {
      if (waiter.min > stamp) continue
      this.removeWaiter(uid, waiter)
      waiter.resolve(pod)
    }
  }

  private removeWaiter(uid: string, waiter: Waiter): void {
    const waiters = this.waiters[this.partitionOf(uid)]!
    const ofPod = waiters.get(uid)
    ofPod?.delete(waiter)
    if (ofPod?.size === 0) waiters.delete(uid)
    waiter.cancelDeadline()
    this.waiting--
  }
}

/** An inspection gave it, even if only an error; the list view alone does not say enough to act on. */
function isAnswer({ status, error }: CachedPod): boolean {
  return status.inspected || error !== null
}

function frozen(status: PodStatus, error: InspectError | null): CachedPod {
  for (const array of [status.ips, status.listed, status.sandboxes, status.containers]) Object.freeze(array)
  return Object.freeze({ status: Object.freeze(status), error: Object.freeze(error) })
}

function closedError(uid: string): CacheError {
  return new CacheError('CACHE_CLOSED', 'the engine has stopped: no pod status is renewed any more', { uid })
}
