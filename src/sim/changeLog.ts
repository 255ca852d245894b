import type { ChangeType } from './records.js'

/** One change of the simulated node, as it happened. */
export interface Change {
  /** 1 for the first change of the node, then without gaps. */
  readonly seq: number
  /** The node's wall clock, nanoseconds since 1970. */
  readonly timeNs: bigint
  readonly type: ChangeType
  readonly podUid: string
  readonly namespace: string
  readonly podName: string
  /** Sandbox or container id. */
  readonly id: string
  /** '' for a sandbox. */
  readonly containerName: string
  readonly attempt: number
  /** Of a ContainerDied. */
  readonly exitCode?: number
}

/**
 * What happened on the node, for checking an engine's events against. Bounded: holds the last `capacity` changes and
 * counts those that it no longer has. Whoever needs them all listens.
 */
export class ChangeLog {
  private readonly ring: Change[] = []
  private last = 0
  private readonly listeners = new Set<(change: Change) => void>()
  private readonly capacity: number

  constructor(capacity: number) {
    this.capacity = capacity
  }

  append(change: Omit<Change, 'seq'>): void {
    this.last++
    const entry: Change = { seq: this.last, ...change }
    this.ring[(this.last - 1) % this.capacity] = entry
    for (const listener of this.listeners) listener(entry)
  }

  /** Sequence number of the newest change; 0 before the first. */
  get lastSeq(): number {
    return this.last
  }

  /** Changes that were appended but are held no longer. */
  get dropped(): number {
    return this.last - this.ring.length
  }

  /** Changes after `seq`, oldest first, as far as they are still held. */
  *since(seq: number): IterableIterator<Change> {
    for (let s = Math.max(seq, this.dropped) + 1; s <= this.last; s++) {
      const entry = this.ring[(s - 1) % this.capacity]
      if (entry !== undefined) yield entry
    }
  }

  /** Calls `listener` with every change from now on, in order; the returned function ends it. */
  listen(listener: (change: Change) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

/** One change as a JSON line; int64 as a string, as protobuf's JSON does. */
export function changeLine(change: Change): string {
  return `${JSON.stringify({ ...change, timeNs: change.timeNs.toString() })}\n`
}
