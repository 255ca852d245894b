import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectHot, connectRuntime } from '../../src/cri/connect.js'
import { isNotFound } from '../../src/cri/errors.js'
import type { HotRuntime, PlainMessage, Runtime } from '../../src/cri/runtime.js'
import { decodeItem } from '../../src/cri/wire/item.js'
import type { ItemKind, ListedItem } from '../../src/model/pod.js'
import { containerStates, sandboxStates } from '../../src/model/state.js'
import { judgedContainers } from '../support/crictl.js'
import { PodDriver } from '../support/podDriver.js'
import { eachRuntime, noRealRuntime, RealRuntime } from '../support/realRuntime.js'
import { until } from '../support/until.js'

const transports = ['h2', 'grpc'] as const
const kinds = ['sandbox', 'container'] as const

/** Items by id: runtimes list in no particular order. */
async function scan(hot: HotRuntime, kind: ItemKind): Promise<Map<string, ListedItem>> {
  const items = new Map<string, ListedItem>()
  const sink = {
    item(buf: Buffer, start: number, end: number) {
      const { item } = decodeItem(kind, buf, start, end)
      items.set(item.id, item)
    },
  }
  const report = await (kind === 'sandbox' ? hot.listPodSandboxes(sink) : hot.listContainers(sink))
  expect(report.items, 'no item twice').toBe(items.size)
  expect(report.bytes).toBeGreaterThan(0)
  return items
}

/** The same by the plain gRPC call, decoded by proto-loader. */
async function listed(cri: Runtime, kind: ItemKind): Promise<Map<string, Partial<ListedItem>>> {
  const sandbox = kind === 'sandbox'
  const answer = await cri.call(sandbox ? 'ListPodSandbox' : 'ListContainers', {})
  const items = (sandbox ? answer['items'] : answer['containers']) as PlainMessage[]
  return new Map(items.map((item) => [String(item['id']), plainItem(kind, item)]))
}

function plainItem(kind: ItemKind, item: PlainMessage): ListedItem {
  const metadata = item['metadata'] as { name: string; attempt: number }
  const image = item['image'] as { image: string } | undefined
  return {
    kind,
    id: String(item['id']),
    name: metadata.name,
    attempt: metadata.attempt,
    criState: stateNumber(String(item['state'])),
    createdAt: BigInt(String(item['created_at'])),
    sandboxId: String(item['pod_sandbox_id'] ?? ''),
    image: image?.image ?? '',
  }
}

const stateNames = ['SANDBOX_READY', 'SANDBOX_NOTREADY']
const containerStateNames = ['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN']
function stateNumber(name: string): number {
  return Math.max(stateNames.indexOf(name), containerStateNames.indexOf(name))
}

/** Nanoseconds; Go's zero time, which some runtimes send for "never", is 0. */
function time(value: unknown): bigint {
  const nanoseconds = BigInt(String(value))
  return nanoseconds === -6795364578871345152n ? 0n : nanoseconds
}

async function plainStatus(cri: Runtime, kind: ItemKind, id: string): Promise<PlainMessage> {
  const answer = await (kind === 'sandbox'
    ? cri.call('PodSandboxStatus', { pod_sandbox_id: id })
    : cri.call('ContainerStatus', { container_id: id }))
  return answer['status'] as PlainMessage
}

describe.skipIf(noRealRuntime).each(eachRuntime)('both transports on %s', (_name, kind) => {
  let runtime: RealRuntime
  let cri: Runtime
  const hot = new Map<string, HotRuntime>()

  beforeAll(async () => {
    runtime = await RealRuntime.start(kind)
    cri = await connectRuntime(runtime.endpoint)
    for (const transport of transports) hot.set(transport, await connectHot(runtime.endpoint, { transport }))
    const driver = new PodDriver(cri, runtime.folder)
    for (const name of ['one', 'two', 'three']) {
      const pod = await driver.runPod(name)
      await driver.runContainer(pod, 'runs', ['sleep', '86400', '0'])
      await driver.runContainer(pod, 'exits', ['exit', '7'])
      await driver.createContainer(pod, 'waits', ['exit', '0'])
    }
    const exited = async () =>
      (await judgedContainers(runtime.endpoint)).filter(({ state }) => state === 'CONTAINER_EXITED').length === 3
    await until('three containers exited', exited)
  })

  afterAll(async () => {
    for (const each of hot.values()) await each.close()
    await cri?.close()
    await runtime?.stop()
  })

  describe.each(transports)('%s', (transport) => {
    test.each(kinds)('lists each %s as the plain call does', async (item) => {
      const scanned = await scan(hot.get(transport)!, item)
      expect(scanned.size).toBe(item === 'sandbox' ? 3 : 9)
      expect(scanned).toEqual(await listed(cri, item))
    })

    test('reads the status of each sandbox as the plain call does', async () => {
      for (const id of (await listed(cri, 'sandbox')).keys()) {
        const plain = await plainStatus(cri, 'sandbox', id)
        const status = await hot.get(transport)!.podSandboxStatus(id)
        expect(status, id).toMatchObject({
          id,
          ...(plain['metadata'] as object),
          state: sandboxStates[stateNumber(String(plain['state']))],
          createdAt: time(plain['created_at']),
          ips: [(plain['network'] as { ip: string }).ip],
          hostNetwork: false,
          runtimeHandler: plain['runtime_handler'],
          labels: plain['labels'],
          annotations: plain['annotations'],
        })
      }
    })

    test('reads the status of each container as the plain call does', async () => {
      for (const id of (await listed(cri, 'container')).keys()) {
        const plain = await plainStatus(cri, 'container', id)
        const status = await hot.get(transport)!.containerStatus(id)
        expect(status, id).toEqual({
          id,
          ...(plain['metadata'] as object),
          state: containerStates[stateNumber(String(plain['state']))],
          createdAt: time(plain['created_at']),
          startedAt: time(plain['started_at']),
          finishedAt: time(plain['finished_at']),
          exitCode: plain['exit_code'],
          image: (plain['image'] as { image: string }).image,
          imageRef: plain['image_ref'],
          imageId: plain['image_id'],
          reason: plain['reason'],
          message: plain['message'],
          logPath: plain['log_path'],
          labels: plain['labels'],
          annotations: plain['annotations'],
        })
      }
    })

    test('says of a container that is not there that it is not found', async () => {
      const error = await hot
        .get(transport)!
        .containerStatus('0'.repeat(64))
        .catch((caught: unknown) => caught)
      expect(isNotFound(error), String(error)).toBe(true)
    })

    test('goes on after every daemon was killed and started again', async () => {
      for (const daemon of kind.daemons) await runtime.kill(daemon)
      await expect(scan(hot.get(transport)!, 'container')).rejects.toThrow()
      await runtime.startAgain()
      const back = await until('the list is back', () => scan(hot.get(transport)!, 'container').catch(() => undefined))
      expect(back.size).toBe(9)
    })
  })
})
