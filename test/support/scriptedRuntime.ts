import { CriError, GrpcCode } from '../../src/cri/errors.js'
import type { HotRuntime, ItemSink, ListOptions, ListReport } from '../../src/cri/runtime.js'
import type { ContainerStatus, SandboxStatus } from '../../src/model/pod.js'
import { containerStateOf, sandboxStateOf } from '../../src/model/state.js'

export interface ScriptedItem {
  readonly kind: 'sandbox' | 'container'
  readonly id: string
  readonly podUid: string
  readonly name: string
  readonly state: number
  readonly attempt?: number
  readonly createdAt?: bigint
  readonly sandboxId?: string
  readonly exitCode?: number
  /** Leave the pod's labels out. */
  readonly unlabelled?: boolean
  readonly ips?: readonly string[]
  /** Put behind the encoded item as it is. */
  readonly tail?: Buffer
}

function varint(value: bigint | number): number[] {
  const bytes: number[] = []
  let rest = BigInt(value)
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return bytes
}

const bytesField = (field: number, value: Buffer | string) => {
  const body = Buffer.from(value as string)
  return Buffer.concat([Buffer.from(varint((field << 3) | 2)), Buffer.from(varint(body.length)), body])
}
const intField = (field: number, value: bigint | number) =>
  BigInt(value) === 0n ? Buffer.alloc(0) : Buffer.from([...varint(field << 3), ...varint(value)])
const entry = (key: string, value: string) => Buffer.concat([bytesField(1, key), bytesField(2, value)])

export function encodeItem(item: ScriptedItem): Buffer {
  const { attempt = 0, createdAt = 1n } = item
  const labels = [
    ['io.kubernetes.pod.uid', item.podUid],
    ['io.kubernetes.pod.namespace', 'ns'],
    ['io.kubernetes.pod.name', `pod-${item.podUid}`],
  ] as const
  if (item.kind === 'sandbox') {
    const metadata = [
      bytesField(1, `pod-${item.podUid}`),
      bytesField(2, item.podUid),
      bytesField(3, 'ns'),
      intField(4, attempt),
    ]
    return Buffer.concat([
      bytesField(1, item.id),
      bytesField(2, Buffer.concat(metadata)),
      intField(3, item.state),
      intField(4, createdAt),
      ...(item.unlabelled ? [] : labels.map(([key, value]) => bytesField(5, entry(key, value)))),
    ])
  }
  return Buffer.concat([
    bytesField(1, item.id),
    bytesField(2, item.sandboxId ?? `sb-${item.podUid}`),
    bytesField(3, Buffer.concat([bytesField(1, item.name), intField(2, attempt)])),
    bytesField(4, bytesField(1, 'image:1')),
    bytesField(5, 'sha256:1'),
    intField(6, item.state),
    intField(7, createdAt),
    ...(item.unlabelled ? [] : labels.map(([key, value]) => bytesField(8, entry(key, value)))),
  ])
}

/** A runtime whose state a test sets between two relists. Answers in the same turn; faults are functions by call and id. */
export class ScriptedRuntime implements HotRuntime {
  readonly endpoint = 'scripted:'
  items: ScriptedItem[] = []
  /** Called before each answer; throw, or return a promise, to disturb it. */
  fault: (call: string, id: string) => void | Promise<void> = () => {}
  readonly calls: string[] = []

  listPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.list('ListPodSandbox', 'sandbox', sink, options.filter?.labels?.['io.kubernetes.pod.uid'])
  }

  listContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.list('ListContainers', 'container', sink, options.filter?.labels?.['io.kubernetes.pod.uid'])
  }

  async podSandboxStatus(id: string): Promise<SandboxStatus> {
    const item = await this.find('PodSandboxStatus', 'sandbox', id)
    return {
      id,
      name: `pod-${item.podUid}`,
      uid: item.podUid,
      namespace: 'ns',
      attempt: item.attempt ?? 0,
      state: sandboxStateOf(item.state),
      createdAt: item.createdAt ?? 1n,
      ips: item.ips ?? [],
      hostNetwork: false,
      runtimeHandler: '',
      labels: {},
      annotations: {},
    }
  }

  async containerStatus(id: string): Promise<ContainerStatus> {
    const item = await this.find('ContainerStatus', 'container', id)
    return {
      id,
      name: item.name,
      attempt: item.attempt ?? 0,
      state: containerStateOf(item.state),
      createdAt: item.createdAt ?? 1n,
      startedAt: 2n,
      finishedAt: item.state === 2 ? 3n : 0n,
      exitCode: item.exitCode ?? 0,
      image: 'image:1',
      imageRef: 'sha256:1',
      imageId: '',
      reason: '',
      message: '',
      logPath: '',
      labels: {},
      annotations: {},
    }
  }

  async close(): Promise<void> {}

  private async list(call: string, kind: ScriptedItem['kind'], sink: ItemSink, podUid?: string): Promise<ListReport> {
    this.calls.push(podUid === undefined ? call : `${call} pod=${podUid}`)
    const items = this.items.filter((item) => {
      return item.kind === kind && (podUid === undefined || (item.podUid === podUid && !item.unlabelled))
    })
    let bytes = 0
    for (const item of items) {
      const frame = Buffer.concat([encodeItem(item), item.tail ?? Buffer.alloc(0)])
      bytes += frame.length
      sink.item(frame, 0, frame.length)
    }
    // Faults of a list come after its items: a list that breaks in the middle has shown some of them.
    await this.fault(call, podUid === undefined ? '' : `pod ${podUid}`)
    return { mode: 'unary', items: items.length, bytes, largestMessage: bytes }
  }

  private async find(call: string, kind: ScriptedItem['kind'], id: string): Promise<ScriptedItem> {
    this.calls.push(`${call} ${id}`)
    await this.fault(call, id)
    const item = this.items.find((one) => one.kind === kind && one.id === id)
    if (item === undefined) throw new CriError(call, GrpcCode.NOT_FOUND, `no ${kind} ${id}`)
    return item
  }
}
