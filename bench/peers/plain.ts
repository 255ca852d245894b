import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { CRI_PROTO, loaderOptions } from '../../src/cri/proto.js'
import { sleep, systemClock } from '../../src/model/clock.js'
import { PlegState } from '../../src/model/state.js'
import { transition } from '../../src/relist/diff.js'
import type { BlockSpec } from '../block.js'
import type { Contender, Hooks } from '../contenders/contender.js'

const podUidLabel = 'io.kubernetes.pod.uid'
const states: Readonly<Record<string, PlegState>> = {
  SANDBOX_READY: PlegState.running,
  SANDBOX_NOTREADY: PlegState.exited,
  CONTAINER_RUNNING: PlegState.running,
  CONTAINER_EXITED: PlegState.exited,
}

interface Item {
  readonly id: string
  readonly state: string
  readonly labels: Readonly<Record<string, string>>
}

/** One pod: the state of each of its sandboxes and containers. */
interface Pod {
  readonly sandboxes: Map<string, PlegState>
  readonly containers: Map<string, PlegState>
}

type Method = (
  request: object,
  options: { deadline: number },
  done: (error: Error | null, response: Record<string, unknown>) => void,
) => void

/**
 * The agent that one would write first: grpc-js, proto-loader's objects, a Map of pods held against the last one, and
 * the statuses of changed pods one after another, as the kubelet's PLEG has it. One thread.
 */
export class PlainAgent implements Contender {
  private readonly client: InstanceType<ServiceClientConstructor>
  private readonly periodMs: number
  private pods = new Map<string, Pod>()
  /** What a reader of the agent would look up: the last statuses of each pod. */
  private readonly statuses = new Map<string, Record<string, unknown>[]>()
  private readonly counts = { lists: 0, statuses: 0, failures: 0 }
  private readonly stopping = new AbortController()
  private running: Promise<void> = Promise.resolve()

  constructor(endpoint: string, { periodMs }: Pick<BlockSpec, 'periodMs'>) {
    const loaded = loadPackageDefinition(loadSync(CRI_PROTO, loaderOptions)) as unknown as {
      runtime: { v1: { RuntimeService: ServiceClientConstructor } }
    }
    this.client = new loaded.runtime.v1.RuntimeService(endpoint, credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
    })
    this.periodMs = periodMs
  }

  async start(hooks: Hooks): Promise<void> {
    this.running = (async () => {
      while (!this.stopping.signal.aborted) {
        await this.relist(hooks)
        await sleep(systemClock, this.periodMs, this.stopping.signal)
      }
    })()
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.running
    this.client.close()
  }

  listed(): number {
    return this.pods.size
  }

  calls() {
    return this.counts
  }

  private async relist(hooks: Hooks): Promise<void> {
    const stamp = systemClock.now()
    const [sandboxes, containers] = await Promise.all([this.list('ListPodSandbox'), this.list('ListContainers')])
    const current = podsOf(sandboxes['items'] as Item[], containers['containers'] as Item[])
    const old = this.pods
    this.pods = current
    for (const uid of new Set([...old.keys(), ...current.keys()])) {
      const events = eventsOf(old.get(uid), current.get(uid))
      if (events === 0) continue
      await this.inspect(uid, current.get(uid))
      for (let i = 0; i < events; i++) hooks.event()
    }
    hooks.relisted({
      stamp,
      relistMs: systemClock.now() - stamp,
      pods: current.size,
      containers: (containers['containers'] as Item[]).length,
      bytes: null,
      items: null,
      bytesCopied: null,
    })
  }

  private list(call: 'ListPodSandbox' | 'ListContainers'): Promise<Record<string, unknown>> {
    this.counts.lists++
    return this.call(call, {})
  }

  private async inspect(uid: string, pod: Pod | undefined): Promise<void> {
    if (pod === undefined) {
      this.statuses.delete(uid)
      return
    }
    const statuses: Record<string, unknown>[] = []
    for (const id of pod.sandboxes.keys()) statuses.push(await this.status('PodSandboxStatus', { pod_sandbox_id: id }))
    for (const id of pod.containers.keys()) statuses.push(await this.status('ContainerStatus', { container_id: id }))
    this.statuses.set(uid, statuses)
  }

  private async status(call: string, request: object): Promise<Record<string, unknown>> {
    this.counts.statuses++
    return (await this.call(call, request))['status'] as Record<string, unknown>
  }

  private call(name: string, request: object): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const method = this.client[name] as Method
      method.call(this.client, request, { deadline: Date.now() + 120_000 }, (error, response) => {
        if (error === null) resolve(response)
        else reject(error)
      })
    })
  }
}

function podsOf(sandboxes: readonly Item[], containers: readonly Item[]): Map<string, Pod> {
  const pods = new Map<string, Pod>()
  const podOf = (item: Item) => {
    const uid = item.labels[podUidLabel] ?? ''
    let pod = pods.get(uid)
    if (pod === undefined) {
      pod = { sandboxes: new Map(), containers: new Map() }
      pods.set(uid, pod)
    }
    return pod
  }
  const stateOf = (item: Item) => states[item.state] ?? PlegState.unknown
  for (const item of sandboxes) podOf(item).sandboxes.set(item.id, stateOf(item))
  for (const item of containers) podOf(item).containers.set(item.id, stateOf(item))
  return pods
}

function eventsOf(old: Pod | undefined, current: Pod | undefined): number {
  let events = 0
  for (const kind of ['sandboxes', 'containers'] as const) {
    const before = old?.[kind] ?? new Map<string, PlegState>()
    const now = current?.[kind] ?? new Map<string, PlegState>()
    for (const [id, state] of now) events += transition(before.get(id) ?? PlegState.nonExistent, state).length
    for (const [id, state] of before) if (!now.has(id)) events += transition(state, PlegState.nonExistent).length
  }
  return events
}
