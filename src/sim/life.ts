import type { Clock } from '../model/clock.js'
import { CriContainerState, CriSandboxState } from '../model/state.js'
import { type ContainerDraft, containerAnnotations, containerLabels, drawPod, type PodDraft } from './catalogue.js'
import type { Codec } from './codec.js'
import { encodeContainerDetails } from './containerCalls.js'
import type { SimulatedNode } from './node.js'
import type { Parts } from './parts.js'
import type { Random } from './random.js'
import type { ContainerRecord, ImageRecord, SandboxRecord } from './records.js'
import { encodeSandboxDetails } from './sandboxCalls.js'
import { Timers } from './timers.js'

/** Changes are made in groups, so that thousands a second need no timer each. */
const tickMs = 50
/** After a longer pause (a suspended machine) the changes before it are not made up for. */
const catchUpMs = 1000
/** Share of changes that replace a pod; the others end a container, which then restarts. */
const replacedShare = 0.1
/** From the end of a container to its next start. */
const restartMs = { min: 100, max: 1500 }
/** From the stop of a pod's sandbox to its removal. */
const removalMs = { min: 100, max: 1500 }

/** How often a running container is looked for before a change is skipped. */
const endTries = 16

/** How processes end; `upTo` of 100. `reason` as containerd words it. */
const endings = [
  { upTo: 45, exitCode: 0, reason: 'Completed' },
  { upTo: 75, exitCode: 1, reason: 'Error' },
  { upTo: 85, exitCode: 137, reason: 'OOMKilled' },
  { upTo: 95, exitCode: 143, reason: 'Error' },
  { upTo: 100, exitCode: 2, reason: 'Error' },
] as const

interface Slot {
  readonly draft: ContainerDraft
  /** What all its containers' statuses have in common, encoded. */
  readonly details: Buffer
  /** Newest last; what the runtime removed in the meantime is skipped. */
  readonly records: ContainerRecord[]
  nextAttempt: number
}

interface LivePod {
  readonly sandbox: SandboxRecord
  readonly slots: readonly Slot[]
}

export interface LifeOptions {
  readonly pods: number
  readonly containersPerPod: number
  /** Dead predecessors that each container has from the start. */
  readonly deadPerContainer: number
  /** Changes a second: a container that ends (and restarts later), or a pod that is replaced. */
  readonly churn: number
}

/**
 * What happens on the simulated node by itself, as a kubelet and its workloads would have it: containers end and come
 * back with the next attempt (the newest dead ones are kept), pods are taken away and others come. The same seed and
 * the same clock give the same life.
 */
export class Life {
  private readonly node: SimulatedNode
  private readonly codec: Codec
  private readonly sandboxDetails: Buffer
  private readonly random: Random
  private readonly clock: Clock
  private readonly timers: Timers
  private readonly images: readonly ImageRecord[]
  private readonly options: LifeOptions
  private readonly pods: LivePod[] = []
  private due = 0
  private lastTick = 0

  constructor(
    parts: Pick<Parts, 'node' | 'codec' | 'clock'>,
    random: Random,
    images: readonly ImageRecord[],
    options: LifeOptions,
  ) {
    this.node = parts.node
    this.codec = parts.codec
    this.clock = parts.clock
    this.random = random
    this.timers = new Timers(parts.clock)
    this.images = images
    this.options = options
    this.sandboxDetails = encodeSandboxDetails(parts.codec, null)
  }

  /** Makes the node's first pods, all of them running. */
  populate(): void {
    for (let i = 0; i < this.options.pods; i++) this.addPod(this.options.deadPerContainer)
  }

  /** Lets life go on by the clock, at the given rate, until `stop`. */
  start(): void {
    if (this.options.churn <= 0) return
    this.lastTick = this.clock.now()
    const tick = () => {
      const now = this.clock.now()
      this.due += (Math.min(now - this.lastTick, catchUpMs) / 1000) * this.options.churn
      this.lastTick = now
      for (; this.due >= 1; this.due--) this.step()
      this.timers.after(tickMs, tick)
    }
    this.timers.after(tickMs, tick)
  }

  stop(): void {
    this.timers.cancelAll()
  }

  /** One change now: a container ends, or a pod is replaced. */
  step(): void {
    if (this.pods.length === 0) return
    if (this.random.fraction() < replacedShare) this.replacePod()
    else this.endContainer()
  }

  /**
   * Ends running containers and starts their successors, in one instant, each of another pod where there are enough.
   * Answers how many there were.
   */
  restart(count: number): number {
    const chosen = new Set<LivePod | Slot>()
    const apart = count <= this.pods.length
    let restarted = 0
    for (let tries = 0; restarted < count && tries < count * endTries; tries++) {
      const live = this.random.pick(this.pods)
      if (live.slots.length === 0) continue
      const slot = this.random.pick(live.slots)
      const record = slot.records.at(-1)
      if (record?.state !== CriContainerState.running || chosen.has(apart ? live : slot)) continue
      chosen.add(apart ? live : slot)
      this.end(record)
      this.succeed(live, slot, record)
      restarted++
    }
    return restarted
  }

  private addPod(deadPerContainer: number): void {
    const { node, random } = this
    const draft = drawPod(random, this.images, this.options.containersPerPod, new Date(this.clock.wallMs()))
    const { containers, ...pod } = draft
    const sandbox = node.runSandbox({
      ...pod,
      attempt: 0,
      runtimeHandler: '',
      hostNetwork: false,
      encodedStatus: this.sandboxDetails,
    })
    const slots = containers.map(
      (c): Slot => ({
        draft: c,
        details: encodeContainerDetails(this.codec, c.mounts, c.resources, 'SIGNAL_RUNTIME_DEFAULT'),
        records: [],
        nextAttempt: 0,
      }),
    )
    const live: LivePod = { sandbox, slots }
    for (const slot of slots) {
      for (let i = 0; i < deadPerContainer; i++) this.end(this.startNext(draft, live, slot))
      this.startNext(draft, live, slot)
    }
    this.pods.push(live)
  }

  private startNext(pod: Pick<PodDraft, 'name' | 'namespace' | 'uid' | 'logDirectory'>, live: LivePod, slot: Slot) {
    const attempt = slot.nextAttempt++
    const { draft } = slot
    const record = this.node.createContainer(live.sandbox, {
      name: draft.name,
      attempt,
      image: draft.image,
      userImage: draft.userImage,
      labels: containerLabels(pod, draft.name),
      annotations: containerAnnotations(draft, attempt),
      command: [],
      envs: {},
      logPath: `${pod.logDirectory}/${draft.name}/${attempt}.log`,
      encodedStatus: slot.details,
    })
    slot.records.push(record)
    this.node.startContainer(record)
    return record
  }

  private end(record: ContainerRecord): void {
    const roll = this.random.below(100)
    const ending = endings.find(({ upTo }) => roll < upTo) ?? endings[0]
    this.node.exitContainer(record, ending.exitCode, ending.reason)
  }

  private endContainer(): void {
    for (let tries = 0; tries < endTries; tries++) {
      const live = this.random.pick(this.pods)
      if (live.slots.length === 0) continue
      const slot = this.random.pick(live.slots)
      const record = slot.records.at(-1)
      // It may wait for its restart, or somebody has stopped or removed it over CRI: then it is left alone.
      if (record === undefined || record.state !== CriContainerState.running) continue
      this.end(record)
      this.timers.after(this.between(restartMs), () => this.succeed(live, slot, record))
      return
    }
  }

  private succeed(live: LivePod, slot: Slot, ended: ContainerRecord): void {
    const { node } = this
    if (!node.containers.has(ended.id) || live.sandbox.state !== CriSandboxState.ready) return
    this.startNext(live.sandbox, live, slot)
    const dead = slot.records.slice(0, -1).filter((record) => node.containers.has(record.id))
    const kept = Math.max(1, this.options.deadPerContainer)
    for (const record of dead.slice(0, Math.max(0, dead.length - kept))) node.removeContainer(record)
    slot.records.splice(0, slot.records.length, ...slot.records.filter((record) => node.containers.has(record.id)))
  }

  private replacePod(): void {
    const { node } = this
    const index = this.random.below(this.pods.length)
    const live = this.pods[index]!
    this.pods[index] = this.pods.at(-1)!
    this.pods.pop()
    for (const slot of live.slots) {
      const record = slot.records.at(-1)
      if (record !== undefined) node.exitContainer(record, 143, 'Error')
    }
    node.stopSandbox(live.sandbox)
    this.timers.after(this.between(removalMs), () => node.removeSandbox(live.sandbox))
    this.addPod(0)
  }

  private between(range: { min: number; max: number }): number {
    return range.min + this.random.below(range.max - range.min)
  }
}
