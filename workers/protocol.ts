import type { MessagePort } from 'node:worker_threads'
import type { RelistReport } from '../src/relist/lister.js'

/** How a worker reaches the runtime: always by its endpoint. */
export interface RuntimeTarget {
  readonly endpoint: string
  readonly transport: 'h2' | 'grpc' | undefined
  readonly requestTimeoutMs: number
}

/** The long task of the lister's thread. Rings, bells and counters are shared memory, laid out by src/ring. */
export interface ListerTask {
  readonly runtime: RuntimeTarget
  readonly relistPeriodMs: number
  readonly inboxes: readonly InboxHandle[]
  readonly bell: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
  readonly control: MessagePort
}

export interface InboxHandle {
  readonly ring: SharedArrayBuffer
  /** The shard's bell. */
  readonly bell: SharedArrayBuffer
}

/** The long task of a shard's thread. */
export interface ShardTask {
  readonly runtime: RuntimeTarget
  readonly inspectConcurrency: number
  /** Lister → shard, main → shard, shard → main. */
  readonly inbox: SharedArrayBuffer
  readonly commands: SharedArrayBuffer
  readonly outbox: SharedArrayBuffer
  readonly bell: SharedArrayBuffer
  readonly listerBell: SharedArrayBuffer
  readonly mainBell: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
  readonly control: MessagePort
}

/** Main → a worker, by its control port. Rare; what is frequent goes over rings. */
export type WorkerControl =
  | { readonly t: 'stop' }
  /** Lister only: a shard was started anew behind this inbox. */
  | { readonly t: 'attach'; readonly shard: number; readonly inbox: InboxHandle }

/** Lister → main, once a relist. */
export type ListerReport =
  | { readonly t: 'pass'; readonly pass: RelistReport }
  | { readonly t: 'failed'; readonly message: string; readonly ms: number }
