import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRelister } from '../../../src/engine/relister.js'
import { SimulatedRuntime } from '../../../src/sim/simulatedRuntime.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { listed } from '../../support/simulation.js'

/** What the kubelet's PLEG says of a container whose listed state went from one to the other. */
function expectedOf(before: string | undefined, now: string | undefined): string[] {
  if (before === now) return []
  if (now === 'CONTAINER_RUNNING') return ['ContainerStarted']
  if (now === 'CONTAINER_EXITED') return ['ContainerDied']
  if (now === undefined)
    return before === 'CONTAINER_EXITED' ? ['ContainerRemoved'] : ['ContainerDied', 'ContainerRemoved']
  return []
}

describe('a node relisted in virtual time, without sockets', () => {
  it('shows each change of a container as its event, with the exit code of the log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 4 }), async (seed, shards) => {
        const clock = new VirtualClock()
        const runtime = new SimulatedRuntime({ clock, seed, pods: 12, churn: 8, deadPerContainer: 1 })
        const relister = createRelister({ runtime, clock, shards, channelCapacity: 10_000 })
        const states = async () => new Map((await listed(runtime)).containers.map(({ id, state }) => [id, state]))
        runtime.start()
        let before = new Map<string, string>()
        for (let second = 0; second < 15; second++) {
          await clock.advance(1000)
          await relister.relist()
          await relister.settled()
          const now = await states()
          const wanted = [...new Set([...before.keys(), ...now.keys()])].flatMap((id) =>
            expectedOf(before.get(id), now.get(id)).map((type) => `${type} ${id}`),
          )
          const events = relister.takeEvents().filter(({ kind }) => kind === 'container')
          expect(events.map(({ type, id }) => `${type} ${id}`).sort()).toEqual(wanted.sort())

          const codes = new Map([...runtime.log.since(0)].map(({ id, exitCode }) => [id, exitCode]))
          for (const { type, id, exitCode } of events) {
            if (type === 'ContainerDied' && now.has(id)) expect(exitCode).toBe(codes.get(id))
          }
          before = now
        }
        relister.close()
        await runtime.close()
      }),
      { numRuns: 10 },
    )
  }, 30_000)
})
