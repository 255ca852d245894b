import type { ListedItem, PodRef } from '../model/pod.js'
import { PlegState, plegStateOfContainer, plegStateOfSandbox } from '../model/state.js'
import { transition } from './diff.js'
import type { CarriedEvent } from './messages.js'

/** More events than this of one pod, waiting for an inspection that does not come, become what is left between old and new. */
const maxHeldEvents = 256

/** A container or sandbox of a pod, as the shard remembers it. */
export interface ItemRecord {
  listed: ListedItem
  /** What the delivered events stand on. */
  acked: PlegState
  /** What held events start from: `acked`, or while an inspection is under way what that one will make it. */
  base: PlegState
  /** What the computed events stand on; runs ahead of `acked` while they wait for the inspection. */
  diffed: PlegState
  /** What the last complete list said. */
  current: PlegState
  /** The cache has the status of its final state: it need not be asked for again. */
  kept: boolean
  /** A list that is filtered by the pod's label shows it: there, its absence means that it is gone. */
  labelled: boolean
  /** The shard's round in which a frame of it last came. */
  shownIn: number
}

/** What one inspection stands on; put into effect when it worked. */
export interface Batch {
  readonly events: readonly CarriedEvent[]
  readonly states: readonly (readonly [ItemRecord, PlegState])[]
  readonly reinspect: boolean
}

/**
 * The shard's record of one pod (kubelet v1.37 pleg/generic.go podRecord). `acked` moves on only when an inspection
 * worked; until then the same diff is computed again.
 */
export class PodRecord {
  readonly uid: string
  namespace: string
  name: string
  readonly items = new Map<string, ItemRecord>()
  /** Inspect even without a change; gives one PodSync. */
  reinspect = false
  /** A list before the last one showed it: its list view was published. */
  seenBefore = false
  /** Stamp of its last relist on demand; full lists that began before know less of it. */
  relistedAt = 0
  /** Counted as running by the shard. */
  countedRunning = false
  private wallMs = 0
  private held: CarriedEvent[] = []

  /** Inspections that failed in a row, and the stamp of the first. */
  failures = 0
  failingSince = 0
  inspecting = false

  constructor(ref: PodRef) {
    this.uid = ref.uid
    this.namespace = ref.namespace
    this.name = ref.name
  }

  get listed(): ListedItem[] {
    const listed: ListedItem[] = []
    for (const item of this.items.values()) if (item.diffed !== PlegState.nonExistent) listed.push(item.listed)
    return listed
  }

  get ref(): PodRef {
    return { uid: this.uid, namespace: this.namespace, name: this.name }
  }

  put(listed: ListedItem, labelled: boolean, round: number): void {
    const key = itemKey(listed.kind, listed.id)
    const state = stateOf(listed)
    const item = this.items.get(key)
    if (item === undefined) {
      const { nonExistent } = PlegState
      this.items.set(key, {
        listed,
        acked: nonExistent,
        base: nonExistent,
        diffed: nonExistent,
        current: state,
        kept: false,
        labelled,
        shownIn: round,
      })
      return
    }
    if (item.listed.criState !== listed.criState || item.listed.createdAt !== listed.createdAt) item.kept = false
    item.listed = listed
    item.labelled = labelled
    item.current = state
    item.shownIn = round
  }

  /** As the cache holds it: the events up to `listed` were delivered. */
  seed(listed: ListedItem, kept: boolean): void {
    const state = stateOf(listed)
    this.items.set(itemKey(listed.kind, listed.id), {
      listed,
      acked: state,
      base: state,
      diffed: state,
      current: state,
      kept,
      labelled: false,
      shownIn: 0,
    })
  }

  remove(key: string): void {
    const item = this.items.get(key)
    if (item !== undefined) item.current = PlegState.nonExistent
  }

  /** Computes the events of a complete list. True where the pod has to be inspected (or has gone). */
  diff(wallMs: number): boolean {
    this.wallMs = wallMs
    let changed = false
    for (const item of this.items.values()) {
      if (item.diffed === item.current) continue
      changed = true
      this.hold(item, item.diffed, item.current)
      item.diffed = item.current
    }
    this.forgetRemoved()
    if (this.failures > 0 || this.held.length > maxHeldEvents) this.recompute()
    return changed || this.reinspect
  }

  /** A relist on demand sees all of it. */
  get allLabelled(): boolean {
    for (const item of this.items.values()) if (!item.labelled) return false
    return true
  }

  /** The last list says something else than the diffed ones before it. */
  get changed(): boolean {
    for (const item of this.items.values()) if (item.diffed !== item.current) return true
    return false
  }

  /** Nothing of the pod is listed any more. */
  get vanished(): boolean {
    for (const item of this.items.values()) if (item.current !== PlegState.nonExistent) return false
    return true
  }

  get running(): boolean {
    for (const item of this.items.values()) if (item.current === PlegState.running) return true
    return false
  }

  /** At least one sandbox is READY: counts for `running_pods`. */
  get hasRunningSandbox(): boolean {
    for (const item of this.items.values()) {
      if (item.listed.kind === 'sandbox' && item.current === PlegState.running) return true
    }
    return false
  }

  take(): Batch {
    const events = this.held
    const reinspect = this.reinspect
    this.held = []
    this.reinspect = false
    const states: [ItemRecord, PlegState][] = []
    for (const item of this.items.values()) {
      item.base = item.diffed
      if (item.acked !== item.diffed) states.push([item, item.diffed])
    }
    return { events, states, reinspect }
  }

  /** The inspection worked: its events leave. Without events a reinspection gives one PodSync. */
  advance(batch: Batch): readonly CarriedEvent[] {
    for (const [item, state] of batch.states) item.acked = state
    this.forgetRemoved()
    if (batch.events.length === 0 && batch.reinspect) {
      return [{ type: 'PodSync', kind: 'sandbox', id: '', name: '', time: this.wallMs }]
    }
    return batch.events.filter((event) => event.type !== 'ContainerChanged')
  }

  /** The inspection failed: nothing moved on, and the pod is asked for again even if the list stays as it is. */
  restore(): void {
    this.reinspect = true
    for (const item of this.items.values()) item.base = item.acked
    this.recompute()
  }

  /** More changes came while an inspection was under way. */
  get hasMore(): boolean {
    return this.reinspect || this.held.length > 0
  }

  private recompute(): void {
    this.held = []
    for (const item of this.items.values()) this.hold(item, item.base, item.diffed)
  }

  private forgetRemoved(): void {
    for (const [key, { acked, base, diffed, current }] of this.items) {
      if ((acked | base | diffed | current) === PlegState.nonExistent) this.items.delete(key)
    }
  }

  private hold(item: ItemRecord, from: PlegState, to: PlegState): void {
    for (const type of transition(from, to)) {
      const { kind, id, name } = item.listed
      this.held.push({ type, kind, id, name: kind === 'container' ? name : '', time: this.wallMs })
    }
  }
}

export function itemKey(kind: ListedItem['kind'], id: string): string {
  return (kind === 'sandbox' ? 's' : 'c') + id
}

function stateOf(listed: ListedItem): PlegState {
  return listed.kind === 'sandbox' ? plegStateOfSandbox(listed.criState) : plegStateOfContainer(listed.criState)
}
