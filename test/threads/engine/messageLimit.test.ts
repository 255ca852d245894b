import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { connectHot } from '../../../src/cri/connect.js'
import { GrpcCode } from '../../../src/cri/errors.js'
import { createRelister } from '../../../src/engine/relister.js'
import type { Change } from '../../../src/sim/changeLog.js'
import { serveSimulatedRuntime } from '../../../src/sim/server/serve.js'
import { SimulatedRuntime } from '../../../src/sim/simulatedRuntime.js'
import { listed } from '../../support/simulation.js'

const pods = 80
/** The limit as a share of the list of containers: over it in one answer; over it in one state's answer. */
const limits = [
  [0.7, 'state by state'],
  [0.4, 'sandbox by sandbox'],
] as const

describe.each(['h2', 'grpc'] as const)('a node over the message limit of its runtime, over %s', (transport) => {
  it.each(limits)(
    '%d of its containers, listed %s: nothing is lost, nothing is removed that was not',
    async (share) => {
      const directory = mkdtempSync(join(tmpdir(), 'plegd-limit-'))
      const removed = new Set<string>()
      const onChange = ({ type, id }: Change) => {
        if (type.endsWith('Removed')) removed.add(id)
      }
      const sim = new SimulatedRuntime({ pods, containersPerPod: 2, deadPerContainer: 1, seed: 7, onChange })
      for (const call of ['StreamPodSandboxes', 'StreamContainers']) {
        sim.faults.set({ call, kind: 'error', code: GrpcCode.UNIMPLEMENTED })
      }
      const containers = await sim.listContainers({ item: () => {} })
      const maxSendBytes = Math.floor(containers.bytes * share)
      const server = await serveSimulatedRuntime(sim, join(directory, 'cri.sock'), { maxSendBytes })
      const runtime = await connectHot(server.endpoint, { transport })
      const relister = createRelister({ runtime, channelCapacity: 100_000 })
      try {
        for (let round = 0; round < 15; round++) {
          // Life goes on while the parts are asked for.
          const relist = relister.relist()
          for (let i = 0; i < 5; i++) {
            sim.step()
            await new Promise(setImmediate)
          }
          const report = await relist
          expect(report.containerMode).toBe('filtered')
          expect(report.largestMessage).toBeLessThanOrEqual(maxSendBytes)
          await relister.settled()
          const gone = relister.takeEvents().filter(({ type }) => type === 'ContainerRemoved')
          expect(gone.map(({ id }) => id).filter((id) => !removed.has(id))).toEqual([])
        }
        // What the node has planned would come while it is compared.
        sim.pause()
        await relister.relist()
        await relister.settled()
        const truth = await listed(sim)
        const cached = [...relister.cache.list()]
        const ids = (items: Iterable<{ readonly id: string }>) => Array.from(items, ({ id }) => id).sort()
        expect(ids(cached.flatMap(({ status }) => status.sandboxes))).toEqual(ids(truth.sandboxes))
        expect(ids(cached.flatMap(({ status }) => status.containers))).toEqual(ids(truth.containers))
      } finally {
        relister.close()
        await runtime.close()
        await server.stop()
        await sim.close()
        rmSync(directory, { recursive: true, force: true })
      }
    },
  )
})
