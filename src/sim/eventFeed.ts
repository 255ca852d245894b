import { encodeEvent } from './encode.js'
import type { ChangeType, ContainerRecord, SandboxRecord } from './records.js'

/** CRI ContainerEventType. */
const EventType = { created: 0, started: 1, stopped: 2, deleted: 3 } as const

/** The events of each change; of a sandbox those that containerd sends. */
const eventTypes: Readonly<Record<ChangeType, readonly number[]>> = {
  SandboxStarted: [EventType.created, EventType.started],
  SandboxStopped: [EventType.stopped],
  SandboxRemoved: [EventType.deleted],
  ContainerCreated: [EventType.created],
  ContainerStarted: [EventType.started],
  ContainerDied: [EventType.stopped],
  ContainerRemoved: [EventType.deleted],
}

/** Events that one subscriber may be behind; beyond it the oldest are dropped. containerd's channel has 1000. */
const subscriberCapacity = 1000

/** One reader of the event stream. */
export interface Subscription extends AsyncIterableIterator<Buffer> {
  /** Events that it missed because it read too slowly. */
  readonly dropped: number
}

/** GetContainerEvents: each subscriber gets every event from its subscription on, encoded once for all of them. */
export class EventFeed {
  private readonly subscribers = new Set<Queue>()
  private droppedBefore = 0

  /** Events that any subscriber, past or present, missed because it read too slowly. */
  get dropped(): number {
    let dropped = this.droppedBefore
    for (const queue of this.subscribers) dropped += queue.dropped
    return dropped
  }

  get subscriberCount(): number {
    return this.subscribers.size
  }

  /** ContainerEventResponse messages as bytes, until `return` or the signal. */
  subscribe(signal?: AbortSignal): Subscription {
    const queue = new Queue(() => {
      if (this.subscribers.delete(queue)) this.droppedBefore += queue.dropped
    })
    this.subscribers.add(queue)
    if (signal?.aborted) queue.close()
    signal?.addEventListener('abort', () => queue.close(), { once: true })
    return queue
  }

  closeAll(): void {
    for (const queue of [...this.subscribers]) queue.close()
  }

  sandboxChanged(type: ChangeType, sandbox: SandboxRecord, timeNs: bigint): void {
    this.send(type, sandbox.id, sandbox, timeNs)
  }

  containerChanged(type: ChangeType, container: ContainerRecord, timeNs: bigint): void {
    this.send(type, container.id, container.sandbox, timeNs)
  }

  private send(type: ChangeType, id: string, sandbox: SandboxRecord, timeNs: bigint): void {
    if (this.subscribers.size === 0) return
    for (const eventType of eventTypes[type]) {
      const bytes = encodeEvent(id, eventType, timeNs, sandbox)
      for (const queue of this.subscribers) queue.push(bytes)
    }
  }
}

class Queue implements Subscription {
  dropped = 0
  private readonly items: Buffer[] = []
  private wake: (() => void) | null = null
  private closed = false
  private readonly onClose: () => void

  constructor(onClose: () => void) {
    this.onClose = onClose
  }

  push(bytes: Buffer): void {
    if (this.items.length === subscriberCapacity) {
      this.items.shift()
      this.dropped++
    }
    this.items.push(bytes)
    this.wake?.()
  }

  close(): void {
    if (this.closed) return
    this.closed = true
    this.items.length = 0
    this.onClose()
    this.wake?.()
  }

  async next(): Promise<IteratorResult<Buffer>> {
    while (this.items.length === 0 && !this.closed) {
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
      this.wake = null
    }
    const value = this.items.shift()
    return value === undefined ? { done: true, value: undefined } : { done: false, value }
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
