import type { ItemKind } from '../model/pod.js'

/** A list was complete: what it showed is true. */
export interface ListCommit {
  readonly generation: number
  /** Monotonic, ms: before the first list call. */
  readonly stamp: number
  /** Wall clock, ms. */
  readonly wallMs: number
  /** Every item of the shard was sent, changed or not: what was not is gone. */
  readonly full: boolean
}

/**
 * What the lister tells a shard, in this order within one relist: frames and gones in any order, then one commit or
 * abort. Nothing counts before its commit.
 */
export interface Inbox {
  /** `buf[start, end)` is an encoded PodSandbox or Container; only valid during the call. */
  frame(kind: ItemKind, buf: Buffer, start: number, end: number): void
  gone(kind: ItemKind, id: string): void
  commit(commit: ListCommit): void
  abort(): void
  /** A promise while the shard can't take more. */
  congested(): Promise<void> | undefined
  /** The shard is gone: from now on everything is dropped, and whoever waits for room goes on. */
  close(): void
}
