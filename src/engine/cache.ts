import type { Clock } from '../model/clock.js'
import { PlegdError } from '../model/errors.js'
import { emptyPodStatus, type InspectError, type PodStatus } from '../model/pod.js'
import type { CachedPod, PodCache } from './api.js'

const defaultMaxWaiters = 10_000

export type CacheErrorCode = 'CACHE_TIMEOUT' | 'CACHE_CLOSED' | 'CACHE_TOO_MANY_WAITERS'

export class CacheError extends PlegdError {
  constructor(code: CacheErrorCode, message: string, facts: Record<string, string | number> = {}) {
    super(code, message, facts)
  }
}

interface Entry {
  status: PodStatus
  error: InspectError | null
  /** Stamp of the list that the status stands on; -Infinity while it was only listed. */
  modified: number
  /** The pod changed in a list and was not inspected since. */
  pending: boolean
}

interface Waiter {
  readonly stamp: number
  readonly resolve: (pod: CachedPod) => void
  readonly reject: (error: CacheError) => void
  readonly cancel: () => void
}

export interface CacheOptions {
  readonly clock: Clock
  /** Shards; each has a stamp of its own. With one, it is the kubelet's global time. */
  readonly partitions: number
  readonly partitionOf: (uid: string) => number
  readonly maxWaiters?: number
}

/**
 * The pod cache (kubelet v1.37 container/cache.go), with one global time per shard instead of one for all, and with pods
 * that are pending: a shard's stamp speaks for every pod of its but those. So a pod that hangs never passes for fresh.
 *
 * Ready is strict: a status is newer than T when its list began after T.
 */
export class PodStatusCache implements PodCache {
  private readonly options: CacheOptions
  private readonly entries = new Map<string, Entry>()
  private readonly observed: number[]
  private readonly waiters = new Map<string, Set<Waiter>>()
  private waiting = 0
  private closed = false

  constructor(options: CacheOptions) {
    this.options = options
    this.observed = Array.from({ length: options.partitions }, () => Number.NEGATIVE_INFINITY)
  }

  get size(): number {
    return this.entries.size
  }

  get(uid: string): CachedPod {
    const entry = this.entries.get(uid)
    return entry === undefined
      ? { status: emptyPodStatus(uid), error: null }
      : { status: entry.status, error: entry.error }
  }

  getNewerThan(uid: string, stamp: number, deadlineMs: number): Promise<CachedPod> {
    if (this.closed) return Promise.reject(closedError(uid))
    if (this.isNewer(uid, stamp)) return Promise.resolve(this.get(uid))
    const max = this.options.maxWaiters ?? defaultMaxWaiters
    if (this.waiting >= max) {
      const message = `${max} readers wait for pods already; wait for fewer at once, or raise maxWaiters`
      return Promise.reject(new CacheError('CACHE_TOO_MANY_WAITERS', message, { uid, max }))
    }
    return new Promise((resolve, reject) => {
      const cancel = this.options.clock.after(deadlineMs, () => {
        this.drop(uid, waiter)
        const message = `no status of pod ${uid} from a list newer than asked for came within ${deadlineMs} ms`
        reject(new CacheError('CACHE_TIMEOUT', message, { uid, deadlineMs }))
      })
      const waiter: Waiter = { stamp, resolve, reject, cancel }
      this.waiting++
      const set = this.waiters.get(uid)
      if (set === undefined) this.waiters.set(uid, new Set([waiter]))
      else set.add(waiter)
    })
  }

  *list(): IterableIterator<CachedPod> {
    for (const { status, error } of this.entries.values()) yield { status, error }
  }

  isPending(uid: string): boolean {
    return this.entries.get(uid)?.pending ?? false
  }

  /** A pod's status from a list that began at `stamp`; one that was only listed releases nobody. */
  set(uid: string, status: PodStatus, error: InspectError | null, stamp: number): void {
    const known = status.inspected || error !== null
    this.entries.set(uid, {
      status: Object.freeze(status),
      error,
      modified: known ? stamp : Number.NEGATIVE_INFINITY,
      pending: !known,
    })
    this.release(uid)
  }

  /** The pod changed in the list that began at `stamp`: until it is inspected, no list speaks for it. */
  markPending(uid: string): void {
    const entry = this.entries.get(uid)
    if (entry !== undefined) entry.pending = true
  }

  /** The pod is gone. Releases nobody: the next `observe` does, as in the kubelet. */
  delete(uid: string): void {
    this.entries.delete(uid)
  }

  /** Every pod of the partition that is not pending is, or is not there, as of the list that began at `stamp`. */
  observe(partition: number, stamp: number): void {
    this.observed[partition] = stamp
    for (const uid of this.waiters.keys()) if (this.options.partitionOf(uid) === partition) this.release(uid)
  }

  close(): void {
    this.closed = true
    for (const [uid, set] of this.waiters) {
      for (const waiter of set) {
        waiter.cancel()
        waiter.reject(closedError(uid))
      }
    }
    this.waiters.clear()
    this.waiting = 0
  }

  private isNewer(uid: string, stamp: number): boolean {
    const entry = this.entries.get(uid)
    const observed = this.observed[this.options.partitionOf(uid)]!
    if (entry === undefined) return observed > stamp
    return entry.modified > stamp || (!entry.pending && observed > stamp)
  }

  private release(uid: string): void {
    const set = this.waiters.get(uid)
    if (set === undefined) return
    for (const waiter of set) {
      if (!this.isNewer(uid, waiter.stamp)) continue
      this.drop(uid, waiter)
      waiter.cancel()
      waiter.resolve(this.get(uid))
    }
  }

  private drop(uid: string, waiter: Waiter): void {
    const set = this.waiters.get(uid)
    if (set?.delete(waiter)) this.waiting--
    if (set?.size === 0) this.waiters.delete(uid)
  }
}

function closedError(uid: string): CacheError {
  return new CacheError('CACHE_CLOSED', `the engine has stopped; nothing new will come of pod ${uid}`, { uid })
}
