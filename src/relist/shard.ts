import type { HotRuntime } from '../cri/runtime.js'
import { type DecodedItem, decodeItem } from '../cri/wire/item.js'
import type { Clock } from '../model/clock.js'
import type { ItemKind } from '../model/pod.js'
import type { CallObserver } from './calls.js'
import type { Inbox, ListCommit } from './inbox.js'
import { type Inspection, Inspector } from './inspector.js'
import type { ShardCommand, ShardMessage } from './messages.js'
import { itemKey, PodRecord } from './podRecord.js'
import { type PodListing, PodRelister } from './podRelister.js'

/** Pods named in one `pending` message. */
const pendingPerMessage = 256

export interface ShardOptions {
  readonly runtime: HotRuntime
  readonly clock: Clock
  readonly calls: CallObserver
  /** Status calls in flight at most. */
  readonly inspectConcurrency: number
  readonly random?: () => number
  readonly publish: (message: ShardMessage) => void
  /** Whether `publish` has room; while it has not, no new inspection starts. */
  readonly ready?: () => boolean
}

/**
 * Owns the pods whose UID hashes to it, alone. Decodes the frames that it is handed, and once their list is complete
 * diffs, inspects what changed, and publishes: pending or listed first, then observed, then each pod as it is ready.
 */
export class Shard implements Inbox {
  private readonly options: ShardOptions
  private readonly inspector: Inspector
  private readonly pods = new Map<string, PodRecord>()
  /** Which pod an item belongs to. */
  private readonly owners = new Map<string, PodRecord>()
  private readonly relister: PodRelister
  private staged: DecodedItem[] = []
  private stagedGone: string[] = []
  /** Pods that the next list's commit inspects even without a change. */
  private readonly flagged = new Set<PodRecord>()
  /** Pods whose relist on demand found something that the lister does not know of yet. */
  private readonly unverified = new Set<string>()
  /** Pods that a relist on demand did not find any more, and its stamp; until a full list began later. */
  private readonly goneAt = new Map<string, number>()
  /** Containers without labels whose sandbox is not known (yet): the lister has told us once, and will not again. */
  private readonly orphans = new Map<string, DecodedItem>()
  private runningPods = 0
  private stamp = 0
  /** Commits so far. The lister's own count starts anew when its thread does. */
  private round = 0

  constructor(options: ShardOptions) {
    this.options = options
    this.inspector = new Inspector({
      runtime: options.runtime,
      clock: options.clock,
      calls: options.calls,
      concurrency: options.inspectConcurrency,
      stamp: () => this.stamp,
      random: options.random ?? Math.random,
      done: (inspection) => this.inspected(inspection),
      ready: options.ready ?? (() => true),
    })
    this.relister = new PodRelister({
      runtime: options.runtime,
      clock: options.clock,
      calls: options.calls,
      listed: (listing) => this.podListed(listing),
    })
  }

  frame(kind: ItemKind, buf: Buffer, start: number, end: number): void {
    try {
      this.staged.push(decodeItem(kind, buf, start, end))
    } catch {
      // Its id and state were readable, the rest was not: a later frame of it may be.
    }
  }

  gone(kind: ItemKind, id: string): void {
    this.stagedGone.push(itemKey(kind, id))
  }

  abort(): void {
    this.staged = []
    this.stagedGone = []
  }

  commit(commit: ListCommit): void {
    const start = this.options.clock.now()
    const { stamp, wallMs, generation } = commit
    this.stamp = stamp
    const touched = this.apply(commit)
    this.work(touched, stamp, wallMs)
    this.options.publish({ t: 'observed', stamp, generation, pods: this.pods.size, runningPods: this.runningPods })
    this.options.calls.phase('diff', this.options.clock.now() - start)
    this.verify(stamp)
    this.inspector.pump()
  }

  congested(): undefined {
    return undefined
  }

  close(): void {
    this.inspector.close()
    this.relister.close()
  }

  command(command: ShardCommand): void {
    if (command.t === 'seed') this.seed(command)
    else if (command.t === 'reinspect') {
      const pod = this.pods.get(command.uid)
      if (pod !== undefined) this.flagged.add(pod)
    } else if (command.t === 'relist') this.relister.request(command.uid)
  }

  /** An inspection is queued or under way; retries that wait for their time don't count. */
  get busy(): boolean {
    return this.inspector.busy || this.relister.busy
  }

  /** Pods that wait for their inspection. */
  get queued(): number {
    return this.inspector.queued
  }

  /** There is room to publish again. */
  pump(): void {
    this.inspector.pump()
  }

  /** Diffs the pods that a list touched, says which of them wait for their inspection, and queues those. */
  private work(touched: Iterable<PodRecord>, stamp: number, wallMs: number): void {
    const pending: string[] = []
    for (const pod of touched) {
      if (!pod.diff(wallMs) && pod.items.size > 0) continue
      this.countRunning(pod)
      if (pod.vanished) {
        if (!pod.inspecting) this.remove(pod, stamp)
        continue
      }
      if (pod.seenBefore) pending.push(pod.uid)
      else this.options.publish({ t: 'listed', stamp, pod: pod.ref, listed: pod.listed })
      this.inspector.add(pod)
      pod.seenBefore = true
    }
    for (let i = 0; i < pending.length; i += pendingPerMessage) {
      this.options.publish({ t: 'pending', stamp, uids: pending.slice(i, i + pendingPerMessage) })
    }
  }

  /** Puts a complete list into the records and returns the pods that it touched. */
  private apply(commit: ListCommit): Set<PodRecord> {
    this.round++
    const touched = new Set(this.flagged)
    for (const pod of this.flagged) pod.reinspect = true
    this.flagged.clear()
    if (commit.full) this.orphans.clear()
    this.putAll(this.staged, commit.stamp, touched)
    for (const key of this.stagedGone) {
      this.orphans.delete(key)
      const pod = this.owners.get(key)
      if (pod !== undefined && !this.outdated(key, pod, commit.stamp)) this.drop(key, pod, touched)
    }
    if (commit.full) {
      for (const [key, pod] of this.owners) {
        const shown = pod.items.get(key)?.shownIn === this.round
        if (!shown && !this.outdated(key, pod, commit.stamp)) this.drop(key, pod, touched)
      }
    }
    this.abort()
    return touched
  }

  /** What the runtime lists of one pod, on demand. An item without the pod's label can't be missed in such a list. */
  private podListed({ uid, stamp, wallMs, items }: PodListing): void {
    this.round++
    const touched = new Set<PodRecord>()
    this.putAll(items, stamp, touched)
    const pod = this.pods.get(uid)
    if (pod === undefined) {
      this.goneAt.set(uid, stamp)
      this.options.publish({ t: 'observedPod', stamp, uid })
      return
    }
    pod.relistedAt = stamp
    touched.add(pod)
    for (const [key, item] of pod.items) {
      if (item.labelled && item.shownIn !== this.round) this.drop(key, pod, touched)
    }
    if (this.flagged.delete(pod)) pod.reinspect = true
    const changed = pod.changed
    if (changed) this.unverified.add(uid)
    this.work(touched, stamp, wallMs)
    if (!this.pods.has(uid)) this.goneAt.set(uid, stamp)
    if (!this.pods.has(uid) || (pod.allLabelled && !pod.inspecting && !pod.hasMore)) {
      this.options.publish({ t: 'observedPod', stamp, uid })
    }
    this.inspector.pump()
  }

  /**
   * The lister hands on what differs from its own last list, not from what a relist on demand has found since. So a pod
   * in which that found something is listed once more after the next full list, until both agree.
   */
  private verify(stamp: number): void {
    for (const uid of this.unverified) {
      if (this.knowsLater(uid, stamp)) continue
      this.unverified.delete(uid)
      this.relister.request(uid)
    }
    for (const [uid, gone] of this.goneAt) if (gone < stamp) this.goneAt.delete(uid)
  }

  /** A relist on demand began after the list of `stamp`, so that the pod is looked at once more instead. */
  private knowsLater(uid: string, stamp: number): boolean {
    const later = Math.max(this.pods.get(uid)?.relistedAt ?? 0, this.goneAt.get(uid) ?? 0) > stamp
    if (later) this.unverified.add(uid)
    return later
  }

  /** What a full list does not show of the item any more was looked at later, by the pod's label. */
  private outdated(key: string, pod: PodRecord, stamp: number): boolean {
    return pod.items.get(key)?.labelled === true && this.knowsLater(pod.uid, stamp)
  }

  /** Sandboxes first: a container without labels belongs to the pod of its sandbox. */
  private putAll(decoded: readonly DecodedItem[], stamp: number, touched: Set<PodRecord>): void {
    for (const one of decoded) if (one.item.kind === 'sandbox') this.put(one, stamp, touched)
    for (const one of this.orphans.values()) this.put(one, stamp, touched)
    for (const one of decoded) if (one.item.kind === 'container') this.put(one, stamp, touched)
  }

  private put(decoded: DecodedItem, stamp: number, touched: Set<PodRecord>): void {
    const { item, podUid, podNamespace, podName, labelled } = decoded
    const uid = podUid === '' ? this.owners.get(itemKey('sandbox', item.sandboxId))?.uid : podUid
    const key = itemKey(item.kind, item.id)
    if (uid === undefined) {
      this.orphans.set(key, decoded)
      return
    }
    this.orphans.delete(key)
    if (labelled && this.knowsLater(uid, stamp)) return
    let pod = this.pods.get(uid)
    if (pod === undefined) {
      pod = new PodRecord({ uid, namespace: podNamespace, name: podName })
      this.pods.set(uid, pod)
    }
    const owner = this.owners.get(key)
    if (owner !== undefined && owner !== pod) this.drop(key, owner, touched)
    this.owners.set(key, pod)
    if (item.kind === 'sandbox' || pod.name === '') {
      pod.namespace = podNamespace
      pod.name = podName
    }
    pod.put(item, labelled, this.round)
    touched.add(pod)
  }

  private drop(key: string, pod: PodRecord, touched: Set<PodRecord>): void {
    pod.remove(key)
    this.owners.delete(key)
    touched.add(pod)
  }

  private inspected(inspection: Inspection): void {
    const { pod, batch, stamp, sandboxes, containers, kept, error } = inspection
    if (error === null) {
      pod.failures = 0
      const events = pod.advance(batch)
      const settled = !pod.hasMore
      this.options.publish({
        t: 'inspected',
        stamp,
        pod: pod.ref,
        listed: pod.listed,
        sandboxes,
        containers,
        kept,
        events,
        settled,
      })
    } else {
      if (pod.failures++ === 0) pod.failingSince = stamp
      pod.restore()
      const { failures, failingSince } = pod
      this.options.publish({ t: 'failed', stamp, pod: pod.ref, error, failures, sinceStamp: failingSince })
    }
    if (pod.vanished) this.remove(pod, Math.max(this.stamp, pod.relistedAt))
    else if (error !== null) this.inspector.retry(pod)
    else if (pod.hasMore) this.inspector.add(pod)
  }

  private remove(pod: PodRecord, stamp: number): void {
    const events = pod.advance(pod.take())
    this.inspector.drop(pod)
    this.flagged.delete(pod)
    this.pods.delete(pod.uid)
    this.options.publish({ t: 'gone', stamp, pod: pod.ref, events })
  }

  private countRunning(pod: PodRecord): void {
    const running = pod.hasRunningSandbox
    this.runningPods += Number(running) - Number(pod.countedRunning)
    pod.countedRunning = running
  }

  private seed(seed: Extract<ShardCommand, { t: 'seed' }>): void {
    const pod = new PodRecord(seed.pod)
    pod.seenBefore = true
    this.pods.set(pod.uid, pod)
    const kept = new Set(seed.kept)
    for (const listed of seed.listed) {
      pod.seed(listed, kept.has(listed.id))
      this.owners.set(itemKey(listed.kind, listed.id), pod)
    }
    this.countRunning(pod)
    if (seed.reinspect) this.flagged.add(pod)
  }
}
