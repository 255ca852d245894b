import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectHot, connectRuntime, openTransport } from '../../src/cri/connect.js'
import { CriError, GrpcCode } from '../../src/cri/errors.js'
import { ListingRuntime } from '../../src/cri/listing.js'
import type { HotRuntime, ListFilter, ListReport, Runtime, Transport } from '../../src/cri/runtime.js'
import { decodeItem } from '../../src/cri/wire/item.js'
import { systemClock } from '../../src/model/clock.js'
import type { ItemKind } from '../../src/model/pod.js'
import { PodDriver } from '../support/podDriver.js'
import { eachRuntime, noRealRuntime, RealRuntime } from '../support/realRuntime.js'

const kinds = ['sandbox', 'container'] as const
const streaming = new Set(['CRI-O 1.37'])

async function listed(hot: HotRuntime, kind: ItemKind, unseen: readonly string[] = []) {
  const states = new Map<string, number>()
  const sink = {
    item(buf: Buffer, start: number, end: number) {
      const { item } = decodeItem(kind, buf, start, end)
      states.set(item.id, item.criState)
    },
    unseen: () => unseen.filter((id) => !states.has(id)),
  }
  const report = await (kind === 'sandbox' ? hot.listPodSandboxes(sink) : hot.listContainers(sink))
  expect(report.items, 'no item twice').toBe(states.size)
  return { states, report }
}

type Fits = (filter: ListFilter, call: string) => boolean
const nothing: ListReport = { mode: 'unary', items: 0, bytes: 0, largestMessage: 0 }

/**
 * The runtime as it would be with too many pods: lists are refused unless `fits` says that they are narrow enough; with
 * `forgetful`, those that are narrowed but not enough show nothing.
 */
function overTheLimit(transport: Transport, fits: Fits, forgetful = false): HotRuntime {
  const guarded =
    (call: string, list: Transport['listContainers']): Transport['listContainers'] =>
    async (sink, options = {}) => {
      if (options.filter && fits(options.filter, call)) return list.call(transport, sink, options)
      if (options.filter && forgetful) return nothing
      throw new CriError(call, GrpcCode.RESOURCE_EXHAUSTED, 'trying to send message larger than max (2 vs. 1)')
    }
  const full: Transport = {
    endpoint: transport.endpoint,
    listPodSandboxes: guarded('ListPodSandbox', transport.listPodSandboxes),
    listContainers: guarded('ListContainers', transport.listContainers),
    streamPodSandboxes: guarded('StreamPodSandboxes', transport.streamPodSandboxes),
    streamContainers: guarded('StreamContainers', transport.streamContainers),
    podSandboxStatus: (id, options) => transport.podSandboxStatus(id, options),
    containerStatus: (id, options) => transport.containerStatus(id, options),
    close: () => transport.close(),
  }
  return new ListingRuntime({ transport: full, clock: systemClock, deadlineMs: 120_000 })
}

describe.skipIf(noRealRuntime).each(eachRuntime)('lists of %s', (name, kind) => {
  let runtime: RealRuntime
  let cri: Runtime
  let removed: string

  beforeAll(async () => {
    runtime = await RealRuntime.start(kind)
    cri = await connectRuntime(runtime.endpoint)
    const driver = new PodDriver(cri, runtime.folder)
    for (const pod of ['one', 'two', 'stopped']) {
      const made = await driver.runPod(pod)
      await driver.runContainer(made, 'runs', ['sleep', '86400', '0'])
      const { id } = await driver.createContainer(made, 'waits', ['exit', '0'])
      if (pod !== 'stopped') continue
      await cri.call('StopPodSandbox', { pod_sandbox_id: made.id })
      await cri.call('RemoveContainer', { container_id: id })
      removed = id
    }
  })

  afterAll(async () => {
    await cri?.close()
    await runtime?.stop()
  })

  test.each(['h2', 'grpc'] as const)('over %s come as streams where it has them', async (transport) => {
    const hot = await connectHot(runtime.endpoint, { transport })
    for (let i = 0; i < 2; i++) {
      for (const item of kinds) {
        const { states, report } = await listed(hot, item)
        expect(report.mode).toBe(streaming.has(name) ? 'streaming' : 'unary')
        expect(states.size).toBe(item === 'sandbox' ? 3 : 5)
      }
    }
    await hot.close()
  })

  test('come in parts with the same items', async () => {
    const transport = await openTransport(runtime.endpoint, undefined, 120_000)
    const whole = { sandbox: await listed(transport, 'sandbox'), container: await listed(transport, 'container') }
    const byState = overTheLimit(transport, () => true)
    const perSandbox = overTheLimit(
      transport,
      ({ id, sandboxId }, call) => call === 'ListPodSandbox' || id !== undefined || sandboxId !== undefined,
    )
    for (const [hot, item] of [
      [byState, 'sandbox'],
      [byState, 'container'],
      [perSandbox, 'container'],
    ] as const) {
      const parts = await listed(hot, item, [...whole[item].states.keys(), ...(item === 'container' ? [removed] : [])])
      expect(parts.report.mode).toBe('filtered')
      expect(parts.states).toEqual(whole[item].states)
    }
    await transport.close()
  })

  test('find by its id what is there, and only that', async () => {
    const transport = await openTransport(runtime.endpoint, undefined, 120_000)
    // A runtime that forgets whatever is asked for by state.
    const forgetful = overTheLimit(transport, ({ id }) => id !== undefined, true)
    const { states } = await listed(transport, 'container')
    const found = await listed(forgetful, 'container', [...states.keys(), removed])
    expect(found.states).toEqual(states)
    await transport.close()
  })
})
