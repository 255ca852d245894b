import type { HotRuntime } from '../cri/runtime.js'
import { decodeItem } from '../cri/wire/item.js'
import type { Clock } from '../model/clock.js'
import type { ItemKind, ListedItem } from '../model/pod.js'
import type { CallObserver } from './calls.js'
import type { Inbox, ListCommit } from './inbox.js'
import { type Inspection, Inspector } from './inspector.js'
import type { ShardCommand, ShardMessage } from './messages.js'
import { itemKey, PodRecord } from './podRecord.js'

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

interface StagedFrame {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly item: ListedItem
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
  private staged: StagedFrame[] = []
  private stagedGone: string[] = []
  /** Pods that the next list's commit inspects even without a change. */
  private readonly flagged = new Set<PodRecord>()
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
  }

  frame(kind: ItemKind, buf: Buffer, start: number, end: number): void {
    const { item, podUid, podNamespace, podName } = decodeItem(kind, buf, start, end)
    this.staged.push({ uid: podUid, namespace: podNamespace, name: podName, item })
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
    this.stamp = commit.stamp
    const pending: string[] = []
    for (const pod of this.apply(commit)) {
      if (!pod.diff(commit.wallMs) && pod.items.size > 0) continue
      this.countRunning(pod)
      if (pod.vanished) {
        if (!pod.inspecting) this.remove(pod)
        continue
      }
      if (pod.seenBefore) pending.push(pod.uid)
      else this.options.publish({ t: 'listed', stamp: commit.stamp, pod: pod.ref, listed: pod.listed })
      this.inspector.add(pod)
      pod.seenBefore = true
    }
    for (let i = 0; i < pending.length; i += pendingPerMessage) {
      this.options.publish({ t: 'pending', stamp: commit.stamp, uids: pending.slice(i, i + pendingPerMessage) })
    }
    const { stamp, generation } = commit
    this.options.publish({ t: 'observed', stamp, generation, pods: this.pods.size, runningPods: this.runningPods })
    this.options.calls.phase('diff', this.options.clock.now() - start)
    this.inspector.pump()
  }

  congested(): undefined {
    return undefined
  }

  close(): void {
    this.inspector.close()
  }

  command(command: ShardCommand): void {
    if (command.t === 'seed') this.seed(command)
    else if (command.t === 'reinspect') {
      const pod = this.pods.get(command.uid)
      if (pod !== undefined) this.flagged.add(pod)
    }
  }

  /** An inspection is queued or under way; retries that wait for their time don't count. */
  get busy(): boolean {
    return this.inspector.busy
  }

  /** There is room to publish again. */
  pump(): void {
    this.inspector.pump()
  }

  /** Puts the list into the records and returns the pods that it touched. */
  private apply(commit: ListCommit): Set<PodRecord> {
    this.round++
    const touched = new Set(this.flagged)
    for (const pod of this.flagged) pod.reinspect = true
    this.flagged.clear()
    // Sandboxes first: a container without labels belongs to the pod of its sandbox.
    for (const kind of ['sandbox', 'container'] as const) {
      for (const frame of this.staged) if (frame.item.kind === kind) this.put(frame, touched)
    }
    for (const key of this.stagedGone) {
      const pod = this.owners.get(key)
      if (pod === undefined) continue
      pod.remove(key)
      this.owners.delete(key)
      touched.add(pod)
    }
    if (commit.full) this.sweep(touched)
    this.abort()
    return touched
  }

  private put(frame: StagedFrame, touched: Set<PodRecord>): void {
    const { item } = frame
    const pod = this.podOf(frame)
    if (pod === undefined) return
    const key = itemKey(item.kind, item.id)
    const owner = this.owners.get(key)
    if (owner !== pod) {
      owner?.remove(key)
      if (owner !== undefined) touched.add(owner)
      this.owners.set(key, pod)
    }
    if (item.kind === 'sandbox' || pod.name === '') {
      pod.namespace = frame.namespace
      pod.name = frame.name
    }
    pod.put(item, this.round)
    touched.add(pod)
  }

  private podOf(frame: StagedFrame): PodRecord | undefined {
    const { uid, namespace, name } = frame
    if (uid === '') return this.owners.get(itemKey('sandbox', frame.item.sandboxId))
    let pod = this.pods.get(uid)
    if (pod === undefined) {
      pod = new PodRecord({ uid, namespace, name })
      this.pods.set(uid, pod)
    }
    return pod
  }

  private sweep(touched: Set<PodRecord>): void {
    for (const [key, pod] of this.owners) {
      if (pod.items.get(key)?.shownIn === this.round) continue
      pod.remove(key)
      this.owners.delete(key)
      touched.add(pod)
    }
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
    if (pod.vanished) this.remove(pod)
    else if (error !== null) this.inspector.retry(pod)
    else if (pod.hasMore) this.inspector.add(pod)
  }

  private remove(pod: PodRecord): void {
    const events = pod.advance(pod.take())
    this.inspector.drop(pod)
    this.flagged.delete(pod)
    this.pods.delete(pod.uid)
    this.options.publish({ t: 'gone', stamp: this.stamp, pod: pod.ref, events })
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
