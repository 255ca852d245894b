import type { HotRuntime, ItemSink } from '../cri/runtime.js'
import { type DecodedItem, decodeItem, podUidLabel } from '../cri/wire/item.js'
import type { Clock } from '../model/clock.js'
import type { ItemKind } from '../model/pod.js'
import type { CallObserver, HotCall } from './calls.js'

/** Pods that are listed at the same time; the others wait, each once. */
const atOnce = 16

/** What the runtime lists of one pod. `stamp` is the monotonic time, and `wallMs` the wall clock's, before the first call. */
export interface PodListing {
  readonly uid: string
  readonly stamp: number
  readonly wallMs: number
  readonly items: readonly DecodedItem[]
}

/**
 * Lists single pods on demand, by the label that a kubelet gives their sandboxes and containers (kubelet v1.37
 * pleg/generic.go RequestRelist). Requests for one pod are merged: one that comes while its lists are under way gets lists
 * of its own afterwards, so that what it sees is never older than the request. A list that fails is left to the next
 * full relist.
 */
export class PodRelister {
  private readonly runtime: HotRuntime
  private readonly clock: Clock
  private readonly calls: CallObserver
  private readonly listed: (listing: PodListing) => void
  private readonly waiting = new Set<string>()
  private readonly running = new Set<string>()
  private closed = false

  constructor(options: {
    runtime: HotRuntime
    clock: Clock
    calls: CallObserver
    listed: (listing: PodListing) => void
  }) {
    this.runtime = options.runtime
    this.clock = options.clock
    this.calls = options.calls
    this.listed = options.listed
  }

  get busy(): boolean {
    return this.running.size > 0
  }

  request(uid: string): void {
    this.waiting.add(uid)
    this.next()
  }

  close(): void {
    this.closed = true
    this.waiting.clear()
  }

  private next(): void {
    for (const uid of this.waiting) {
      if (this.running.size >= atOnce) return
      if (this.running.has(uid)) continue
      this.waiting.delete(uid)
      this.running.add(uid)
      void this.relist(uid)
    }
  }

  private async relist(uid: string): Promise<void> {
    const stamp = this.clock.now()
    const wallMs = this.clock.wallMs()
    const items: DecodedItem[] = []
    const sink = (kind: ItemKind): ItemSink => ({
      item: (buf, start, end) => items.push(decodeItem(kind, buf, start, end)),
    })
    const options = { filter: { labels: { [podUidLabel]: uid } } }
    const done = await Promise.all([
      this.observed('ListPodSandbox', uid, () => this.runtime.listPodSandboxes(sink('sandbox'), options)),
      this.observed('ListContainers', uid, () => this.runtime.listContainers(sink('container'), options)),
    ])
    this.running.delete(uid)
    this.calls.phase('pod_relist', this.clock.now() - stamp)
    if (this.closed) return
    if (done.every(Boolean)) this.listed({ uid, stamp, wallMs, items })
    this.next()
  }

  /** Whether the list came; the call's error is counted. */
  private async observed(call: HotCall, uid: string, list: () => Promise<unknown>): Promise<boolean> {
    const token = this.calls.begin(call, uid, uid)
    try {
      await list()
      this.calls.end(token, true)
      return true
    } catch {
      this.calls.end(token, false)
      return false
    }
  }
}
