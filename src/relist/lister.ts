import type { HotRuntime, ItemSink, ListMode, ListReport } from '../cri/runtime.js'
import { type DecodedItem, decodeItem } from '../cri/wire/item.js'
import type { Clock } from '../model/clock.js'
import type { ItemKind } from '../model/pod.js'
import type { CallObserver, HotCall } from './calls.js'
import { FrameScan } from './frameScan.js'
import type { Inbox } from './inbox.js'
import { ItemTable, noState } from './itemTable.js'
import { shardOfUid } from './shardOf.js'

/** Items are walked whole in every 64th relist, so that a runtime that changes its field order is noticed. */
const auditEvery = 64
/** Longer ids are no ids. */
const maxIdBytes = 4096

/** One relist, and what it took. Durations in milliseconds. */
export interface RelistReport {
  readonly generation: number
  readonly stamp: number
  readonly listSandboxesMs: number
  readonly listContainersMs: number
  /** From before the first call until every shard had been told. */
  readonly relistMs: number
  readonly sandboxes: number
  readonly containers: number
  /** Containers by CRI state: created, running, exited, unknown. */
  readonly containerStates: readonly number[]
  readonly sandboxMode: ListMode
  readonly containerMode: ListMode
  readonly bytes: number
  /** Of the larger list: what it takes, or would take, as one message. */
  readonly largestList: number
  readonly largestMessage: number
  /** Items handed to shards, and their bytes. */
  readonly changed: number
  readonly bytesCopied: number
  readonly duplicates: number
  readonly unidentified: number
}

type TimedList = ListReport & { readonly ms: number }

interface Outlet {
  inbox: Inbox
  /** Send every item, not only what changed, and say so in the commit. */
  resync: boolean
}

/** A container whose sandbox the running list has not shown yet. */
interface Orphan {
  record: number
  state: number
  frame: Buffer
}

/**
 * Asks the runtime for both lists, side by side, and tells each shard what changed. Items are scanned where they were
 * read; only what changed is copied. A relist that fails changes nothing, anywhere.
 */
export class Lister {
  private readonly runtime: HotRuntime
  private readonly clock: Clock
  private readonly calls: CallObserver
  private readonly outlets: Outlet[]
  private readonly sandboxes = new KindList('sandbox', this)
  private readonly containers = new KindList('container', this)
  private readonly reattached = new Map<number, Inbox>()
  private orphans: Orphan[] = []
  private bothListed = false
  private generation = 0
  private changed = 0
  private bytesCopied = 0
  private unidentified = 0
  /** Any outlet wants every item. */
  resyncing = true

  constructor(options: { runtime: HotRuntime; clock: Clock; calls: CallObserver; inboxes: readonly Inbox[] }) {
    this.runtime = options.runtime
    this.clock = options.clock
    this.calls = options.calls
    this.outlets = options.inboxes.map((inbox) => ({ inbox, resync: true }))
  }

  /** A shard was started anew behind `inbox`; from the next relist on it gets everything. */
  attach(shard: number, inbox: Inbox): void {
    this.reattached.get(shard)?.close()
    this.outlets[shard]!.inbox.close()
    this.reattached.set(shard, inbox)
  }

  /** One relist. Rejects with the first list's error; the next call starts afresh. */
  async relist(signal?: AbortSignal): Promise<RelistReport> {
    this.begin()
    const stamp = this.clock.now()
    const wallMs = this.clock.wallMs()
    const [sandboxes, containers] = await this.listBoth(signal)
    this.bothListed = true
    await this.sendOrphans()
    await this.sendGone(this.sandboxes)
    await this.sendGone(this.containers)
    const pass = this.report(stamp, sandboxes, containers)
    for (const outlet of this.outlets) {
      outlet.inbox.commit({ generation: this.generation, stamp, wallMs, full: outlet.resync })
      outlet.resync = false
    }
    this.sandboxes.table.commit()
    this.containers.table.commit()
    return pass
  }

  /** Called for each item whose state is not the known one. */
  hand(kind: KindList, record: number, state: number, buf: Buffer, start: number, end: number): void {
    if (kind.table.state(record) === noState) {
      const shard = this.assign(kind, record, state, buf, start, end)
      if (shard < 0) return
      kind.table.setShard(record, shard)
    }
    this.outlets[kind.table.shard(record)]!.inbox.frame(kind.kind, buf, start, end)
    kind.table.stage(record, state)
    this.changed++
    this.bytesCopied += end - start
  }

  wantsAll(shard: number): boolean {
    return this.outlets[shard]!.resync
  }

  congested(): Promise<void> | undefined {
    for (const outlet of this.outlets) {
      const wait = outlet.inbox.congested()
      if (wait !== undefined) return wait
    }
    return undefined
  }

  /**
   * Which shard a new item belongs to, or -1. A container names its pod by label, as the kubelet reads it; one without
   * that label belongs to its sandbox's pod.
   */
  private assign(kind: KindList, record: number, state: number, buf: Buffer, start: number, end: number): number {
    const decoded = decode(kind.kind, buf, start, end)
    if (decoded === null) {
      this.unidentified++
      return -1
    }
    const { item, podUid } = decoded
    if (podUid !== '') return shardOfUid(podUid, this.outlets.length)
    if (kind.kind === 'container' && item.sandboxId !== '') {
      const id = Buffer.from(item.sandboxId)
      const sandbox = this.sandboxes.table.find(id, 0, id.length)
      if (sandbox >= 0 && this.sandboxes.table.assigned(sandbox)) return this.sandboxes.table.shard(sandbox)
      if (!this.bothListed) {
        this.orphans.push({ record, state, frame: Buffer.from(buf.subarray(start, end)) })
        return -1
      }
    }
    this.unidentified++
    return -1
  }

  private begin(): void {
    this.generation++
    for (const [shard, inbox] of this.reattached) this.outlets[shard] = { inbox, resync: true }
    this.reattached.clear()
    this.resyncing = this.outlets.some((outlet) => outlet.resync)
    // A lister that died may have left frames that were never committed.
    if (this.generation === 1) for (const outlet of this.outlets) outlet.inbox.abort()
    this.orphans = []
    this.bothListed = false
    this.changed = this.bytesCopied = this.unidentified = 0
    const audit = this.generation % auditEvery === 1
    this.sandboxes.begin(audit)
    this.containers.begin(audit)
  }

  private abort(): void {
    for (const outlet of this.outlets) outlet.inbox.abort()
    this.sandboxes.table.abort()
    this.containers.table.abort()
    this.orphans = []
  }

  /** Both lists; where one fails, the other is cancelled, for its answer would be thrown away. */
  private async listBoth(signal: AbortSignal | undefined): Promise<[TimedList, TimedList]> {
    const failed = new AbortController()
    const options = { signal: signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]) }
    let cause: unknown
    const either = (error: unknown) => {
      cause ??= error
      failed.abort()
      return null
    }
    const [sandboxes, containers] = await Promise.all([
      this.timed('ListPodSandbox', () => this.runtime.listPodSandboxes(this.sandboxes, options)).catch(either),
      this.timed('ListContainers', () => this.runtime.listContainers(this.containers, options)).catch(either),
    ])
    if (sandboxes === null || containers === null) {
      this.abort()
      throw cause
    }
    return [sandboxes, containers]
  }

  private async sendOrphans(): Promise<void> {
    for (const { record, state, frame } of this.orphans) {
      for (let wait = this.congested(); wait !== undefined; wait = this.congested()) await wait
      this.hand(this.containers, record, state, frame, 0, frame.length)
    }
    this.orphans = []
  }

  private async sendGone(kind: KindList): Promise<void> {
    for (const record of kind.table.unseen()) {
      if (!kind.table.assigned(record)) continue
      for (let wait = this.congested(); wait !== undefined; wait = this.congested()) await wait
      this.outlets[kind.table.shard(record)]!.inbox.gone(kind.kind, kind.table.idOf(record))
      this.changed++
    }
  }

  private async timed(call: HotCall, list: () => Promise<ListReport>): Promise<TimedList> {
    const start = this.clock.now()
    const token = this.calls.begin(call, '', '')
    try {
      const report = await list()
      this.calls.end(token, true)
      return { ...report, ms: this.clock.now() - start }
    } catch (error) {
      this.calls.end(token, false)
      throw error
    }
  }

  private report(stamp: number, sandboxes: TimedList, containers: TimedList): RelistReport {
    return {
      generation: this.generation,
      stamp,
      listSandboxesMs: sandboxes.ms,
      listContainersMs: containers.ms,
      relistMs: this.clock.now() - stamp,
      sandboxes: this.sandboxes.table.seen,
      containers: this.containers.table.seen,
      containerStates: [...this.containers.states],
      bytes: sandboxes.bytes + containers.bytes,
      sandboxMode: sandboxes.mode,
      containerMode: containers.mode,
      largestList: Math.max(sandboxes.bytes, containers.bytes),
      largestMessage: Math.max(sandboxes.largestMessage, containers.largestMessage),
      changed: this.changed,
      bytesCopied: this.bytesCopied,
      duplicates: this.sandboxes.table.duplicates + this.containers.table.duplicates,
      unidentified: this.unidentified + this.sandboxes.unidentified + this.containers.unidentified,
    }
  }
}

/** Null where the shortcut of the scan has taken for an item what is no message: one bad item must not cost the list. */
function decode(kind: ItemKind, buf: Buffer, start: number, end: number): DecodedItem | null {
  try {
    return decodeItem(kind, buf, start, end)
  } catch {
    return null
  }
}

/** One of the two lists: its table, and the eye that the transport shows each item to. */
class KindList implements ItemSink {
  readonly kind: ItemKind
  readonly table = new ItemTable()
  readonly states = [0, 0, 0, 0]
  unidentified = 0
  private readonly scan: FrameScan
  private readonly lister: Lister

  constructor(kind: ItemKind, lister: Lister) {
    this.kind = kind
    this.scan = new FrameScan(kind)
    this.lister = lister
  }

  begin(audit: boolean): void {
    this.table.begin()
    this.scan.audit = audit
    this.states.fill(0)
    this.unidentified = 0
  }

  item(buf: Buffer, start: number, end: number): void {
    const scan = this.scan
    if (!scan.scan(buf, start, end) || scan.idEnd === scan.idStart || scan.idEnd - scan.idStart > maxIdBytes) {
      this.unidentified++
      return
    }
    const table = this.table
    const record = table.see(buf, scan.idStart, scan.idEnd)
    const state = scan.state
    const known = table.staged(record)
    if (!table.repeated) this.states[Math.min(state, 3)]!++
    else if (known !== noState) {
      this.states[Math.min(known, 3)]!--
      this.states[Math.min(state, 3)]!++
    }
    if (state === known && !(this.lister.resyncing && this.lister.wantsAll(table.shard(record)))) return
    this.lister.hand(this, record, state, buf, start, end)
  }

  congested(): Promise<void> | undefined {
    return this.lister.congested()
  }

  *unseen(): IterableIterator<string> {
    for (const record of this.table.unseen()) yield this.table.idOf(record)
  }
}
