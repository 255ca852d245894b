import type { Clock } from '../model/clock.js'
import { CriContainerState, CriSandboxState } from '../model/state.js'
import { ChangeLog } from './changeLog.js'
import { encodeListedContainer, encodeListedSandbox } from './encode.js'
import { EventFeed } from './eventFeed.js'
import { ListBook } from './listBook.js'
import type { Random } from './random.js'
import type { ChangeType, ContainerRecord, SandboxRecord } from './records.js'

/** What a sandbox is made of; the node adds what it gets from living here. */
export type NewSandbox = Omit<SandboxRecord, 'id' | 'createdAt' | 'state' | 'ips' | 'containers'>

/** What a container is made of; the node adds what it gets from living here. */
export type NewContainer = Omit<
  ContainerRecord,
  'id' | 'sandbox' | 'createdAt' | 'state' | 'startedAt' | 'finishedAt' | 'exitCode' | 'reason' | 'message'
>

/** The name that a runtime reserves for a sandbox: no two may have the same. */
const sandboxKey = (s: { name: string; namespace: string; uid: string; attempt: number }) =>
  `${s.name}_${s.namespace}_${s.uid}_${s.attempt}`

/**
 * The state of the simulated node: its sandboxes and containers, and every change of them. A change is one synchronous
 * step that updates record, list, log and event stream together, so lists, statuses and log always agree.
 */
export class SimulatedNode {
  readonly sandboxes = new Map<string, SandboxRecord>()
  readonly containers = new Map<string, ContainerRecord>()
  readonly sandboxBook = new ListBook(encodeListedSandbox)
  readonly containerBook = new ListBook(encodeListedContainer)
  readonly log: ChangeLog
  readonly feed = new EventFeed()
  private readonly sandboxNames = new Map<string, string>()
  private readonly clock: Clock
  private readonly ids: Random
  private readonly stamps: Random
  private lastStamp = 0n
  private lastWallMs = Number.NaN
  private nextAddress = 1

  /** `ids` draws what names things, `stamps` what is below a millisecond. */
  constructor(options: { clock: Clock; ids: Random; stamps: Random; logCapacity: number }) {
    this.clock = options.clock
    this.ids = options.ids
    this.stamps = options.stamps
    this.log = new ChangeLog(options.logCapacity)
  }

  /** The wall clock in nanoseconds, strictly rising within a millisecond. It follows the clock when that steps back. */
  stamp(): bigint {
    const wallMs = Math.trunc(this.clock.wallMs())
    this.lastStamp =
      wallMs === this.lastWallMs
        ? this.lastStamp + 1n
        : BigInt(wallMs) * 1_000_000n + BigInt(this.stamps.below(900_000))
    this.lastWallMs = wallMs
    return this.lastStamp
  }

  /** Who holds the name that such a sandbox would reserve; undefined if it is free. */
  holderOfSandboxName(sandbox: { name: string; namespace: string; uid: string; attempt: number }): string | undefined {
    return this.sandboxNames.get(sandboxKey(sandbox))
  }

  holderOfContainerName(sandbox: SandboxRecord, c: { name: string; attempt: number }): string | undefined {
    for (const { id, name, attempt } of sandbox.containers) if (name === c.name && attempt === c.attempt) return id
    return undefined
  }

  runSandbox(fields: NewSandbox): SandboxRecord {
    const record: SandboxRecord = {
      ...fields,
      id: this.ids.hex(64),
      createdAt: this.stamp(),
      state: CriSandboxState.ready,
      ips: fields.hostNetwork ? [] : [this.address()],
      containers: new Set(),
    }
    this.sandboxes.set(record.id, record)
    this.sandboxNames.set(sandboxKey(record), record.id)
    this.sandboxBook.add(record)
    this.sandboxChanged('SandboxStarted', record)
    return record
  }

  /** Stops the sandbox and its containers (exit code 137, as after SIGKILL). Nothing happens to one that is stopped. */
  stopSandbox(record: SandboxRecord): void {
    for (const c of record.containers) this.exitContainer(c, 137, 'Error')
    if (record.state === CriSandboxState.notReady) return
    record.state = CriSandboxState.notReady
    record.ips = []
    this.sandboxBook.changed(record)
    this.sandboxChanged('SandboxStopped', record)
  }

  /** Stops the sandbox, then removes it and its containers. */
  removeSandbox(record: SandboxRecord): void {
    if (!this.sandboxes.has(record.id)) return
    this.stopSandbox(record)
    for (const c of [...record.containers]) this.removeContainer(c)
    this.sandboxes.delete(record.id)
    this.sandboxNames.delete(sandboxKey(record))
    this.sandboxBook.remove(record)
    this.sandboxChanged('SandboxRemoved', record)
  }

  createContainer(sandbox: SandboxRecord, fields: NewContainer): ContainerRecord {
    const record: ContainerRecord = {
      ...fields,
      id: this.ids.hex(64),
      sandbox,
      createdAt: this.stamp(),
      state: CriContainerState.created,
      startedAt: 0n,
      finishedAt: 0n,
      exitCode: 0,
      reason: '',
      message: '',
    }
    this.containers.set(record.id, record)
    sandbox.containers.add(record)
    this.containerBook.add(record)
    this.containerChanged('ContainerCreated', record)
    return record
  }

  startContainer(record: ContainerRecord): void {
    record.state = CriContainerState.running
    record.startedAt = this.stamp()
    this.containerBook.changed(record)
    this.containerChanged('ContainerStarted', record)
  }

  /** Ends a running container; nothing happens to any other. */
  exitContainer(record: ContainerRecord, exitCode: number, reason: string, message = ''): void {
    if (record.state !== CriContainerState.running) return
    record.state = CriContainerState.exited
    record.finishedAt = this.stamp()
    record.exitCode = exitCode
    record.reason = reason
    record.message = message
    this.containerBook.changed(record)
    this.containerChanged('ContainerDied', record)
  }

  /** Ends the container if it runs, then removes it. */
  removeContainer(record: ContainerRecord): void {
    if (!this.containers.has(record.id)) return
    this.exitContainer(record, 137, 'Error')
    this.containers.delete(record.id)
    record.sandbox.containers.delete(record)
    this.containerBook.remove(record)
    this.containerChanged('ContainerRemoved', record)
  }

  /** `encodedStatus`: fields that stand for those of the same number before. */
  updateContainer(record: ContainerRecord, encodedStatus: Buffer, annotations: Readonly<Record<string, string>>): void {
    record.encodedStatus = Buffer.concat([record.encodedStatus, encodedStatus])
    record.annotations = { ...record.annotations, ...annotations }
    this.containerBook.changed(record)
  }

  private sandboxChanged(type: ChangeType, record: SandboxRecord): void {
    const timeNs = this.stamp()
    this.log.append({
      timeNs,
      type,
      podUid: record.uid,
      namespace: record.namespace,
      podName: record.name,
      id: record.id,
      containerName: '',
      attempt: record.attempt,
    })
    this.feed.sandboxChanged(type, record, timeNs)
  }

  private containerChanged(type: ChangeType, record: ContainerRecord): void {
    const { sandbox } = record
    const timeNs = this.stamp()
    this.log.append({
      timeNs,
      type,
      podUid: sandbox.uid,
      namespace: sandbox.namespace,
      podName: sandbox.name,
      id: record.id,
      containerName: record.name,
      attempt: record.attempt,
      ...(type === 'ContainerDied' ? { exitCode: record.exitCode } : {}),
    })
    this.feed.containerChanged(type, record, timeNs)
  }

  /** The next pod address, from 10.64.0.0/10. */
  private address(): string {
    const n = this.nextAddress++ % 0x40_0000
    return `10.${64 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`
  }
}
