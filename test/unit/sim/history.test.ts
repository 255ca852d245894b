import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SimulatedRuntime } from '../../../src/sim/simulatedRuntime.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { listed, makePod } from '../../support/simulation.js'

/** One thing that happens to a node: by itself, over CRI, or that time passes. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('step' as const), times: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 2000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('run' as const), seconds: fc.integer({ min: 0, max: 2 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('StopContainer', 'RemoveContainer', 'StopPodSandbox', 'RemovePodSandbox'),
      pick: fc.nat(),
    }),
  },
)
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

async function happen(sim: SimulatedRuntime, clock: VirtualClock, what: Happening, index: number): Promise<void> {
  if ('times' in what) for (let i = 0; i < what.times; i++) sim.step()
  else if ('ms' in what) await clock.advance(what.ms)
  else if ('seconds' in what) {
    const pulled = sim.call('PullImage', { image: { image: 'localhost/rt/work:1' } })
    await clock.advance(100)
    await pulled
    const { containerId } = await makePod(sim, `made-${index}`, ['/bin/work', 'sleep', `${what.seconds}`, '7'])
    await sim.call('StartContainer', { container_id: containerId })
  } else {
    const { sandboxes, containers } = await listed(sim)
    const objects = what.kind.endsWith('Container') ? containers : sandboxes
    const id = objects[what.pick % Math.max(1, objects.length)]?.id ?? ''
    const call = what.kind as 'StopContainer'
    await sim.call(call, what.kind.endsWith('Container') ? { container_id: id } : { pod_sandbox_id: id })
  }
}

const shape = { seed: fc.nat(), pods: fc.integer({ min: 0, max: 8 }), dead: fc.integer({ min: 0, max: 2 }) }
const histories = fc.record({ ...shape, happenings: fc.array(happening, { maxLength: 20 }) })
const node = (clock: VirtualClock, { seed, pods, dead }: { seed: number; pods: number; dead: number }) =>
  new SimulatedRuntime({ clock, seed, pods, deadPerContainer: dead, containersPerPod: 2 })

describe('any history of a node', () => {
  it('leaves lists and statuses that agree at every instant', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ happenings, ...options }) => {
        const clock = new VirtualClock()
        const sim = node(clock, options)
        for (const [index, what] of happenings.entries()) {
          await happen(sim, clock, what, index)
          const { sandboxes, containers } = await listed(sim)
          const sandboxIds = new Set(sandboxes.map(({ id }) => id))
          for (const item of sandboxes) {
            const { status } = await sim.call('PodSandboxStatus', { pod_sandbox_id: item.id })
            const { id, state, created_at, labels, metadata } = item
            expect(status).toMatchObject({ id, state, created_at, labels, metadata })
          }
          for (const item of containers) {
            expect(sandboxIds).toContain(item.pod_sandbox_id)
            const { status } = await sim.call('ContainerStatus', { container_id: item.id })
            const { id, state, created_at, labels, metadata } = item
            expect(status).toMatchObject({ id, state, created_at, labels, metadata })
            const { started_at, finished_at } = status as { started_at: string; finished_at: string }
            if (state !== 'CONTAINER_CREATED') expect(BigInt(started_at)).toBeGreaterThan(BigInt(created_at))
            if (state === 'CONTAINER_EXITED') expect(BigInt(finished_at)).toBeGreaterThan(BigInt(started_at))
          }
        }
        await sim.close()
      }),
      { numRuns: 25 },
    )
  }, 30_000)

  it('can be told from the log alone', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ happenings, ...options }) => {
        const clock = new VirtualClock()
        const sim = node(clock, options)
        for (const [index, what] of happenings.entries()) await happen(sim, clock, what, index)

        const told = new Map<string, string>()
        let seq = 0
        for (const change of sim.log.since(0)) {
          expect(change.seq).toBe(++seq)
          const before = told.get(change.id)
          switch (change.type) {
            case 'SandboxStarted':
              expect(before).toBeUndefined()
              told.set(change.id, 'SANDBOX_READY')
              break
            case 'SandboxStopped':
              expect(before).toBe('SANDBOX_READY')
              told.set(change.id, 'SANDBOX_NOTREADY')
              break
            case 'ContainerCreated':
              expect(before).toBeUndefined()
              told.set(change.id, 'CONTAINER_CREATED')
              break
            case 'ContainerStarted':
              expect(before).toBe('CONTAINER_CREATED')
              told.set(change.id, 'CONTAINER_RUNNING')
              break
            case 'ContainerDied':
              expect(before).toBe('CONTAINER_RUNNING')
              told.set(change.id, `CONTAINER_EXITED ${change.exitCode}`)
              break
            case 'SandboxRemoved':
            case 'ContainerRemoved':
              // Nothing goes while it runs.
              expect(before).toMatch(/NOTREADY|CREATED|EXITED/)
              told.delete(change.id)
          }
        }
        const { sandboxes, containers } = await listed(sim)
        const shown = new Map(sandboxes.map(({ id, state }) => [id, state]))
        for (const { id, state } of containers) {
          const { exitCode } = await sim.containerStatus(id)
          shown.set(id, state === 'CONTAINER_EXITED' ? `${state} ${exitCode}` : state)
        }
        expect(shown).toEqual(told)
        await sim.close()
      }),
      { numRuns: 60 },
    )
  }, 30_000)

  it('is the same again from the same seed', async () => {
    const live = async (seed: number, lists: boolean) => {
      const clock = new VirtualClock()
      const sim = new SimulatedRuntime({ clock, seed, pods: 20, churn: 50, deadPerContainer: 1 })
      sim.start()
      for (let second = 0; second < 10; second++) {
        await clock.advance(1000)
        // How often somebody looks must not change what happens.
        if (lists) await listed(sim)
      }
      await sim.close()
      return [...sim.log.since(0)]
    }
    const first = await live(42, false)
    expect(first.length).toBeGreaterThan(1000)
    expect(await live(42, true)).toEqual(first)
    expect(await live(43, false)).not.toEqual(first)
  })
})

describe('life', () => {
  it('makes as many changes as asked for, keeps the number of pods, and brings containers back with the next attempt', async () => {
    const clock = new VirtualClock()
    const sim = new SimulatedRuntime({ clock, pods: 50, churn: 20, seed: 5 })
    const populated = sim.log.lastSeq
    sim.start()
    await clock.advance(30_000)
    const changes = [...sim.log.since(populated)]
    const restarted = changes.filter((c) => c.type === 'ContainerStarted' && c.attempt > 0)
    const replaced = changes.filter((c) => c.type === 'SandboxStarted')
    // 600 changes, a tenth of which replace a pod. A few restarts are still to come, or their pod went first.
    expect(replaced.length + changes.filter((c) => c.type === 'ContainerDied').length).toBeGreaterThan(600)
    expect(restarted.length).toBeGreaterThan(400)
    expect(replaced.length).toBeGreaterThan(30)
    const { sandboxes, containers } = await listed(sim)
    expect(sandboxes.filter(({ state }) => state === 'SANDBOX_READY')).toHaveLength(50)

    // One dead predecessor is kept, the newest.
    const slots = new Map<string, number[]>()
    for (const { pod_sandbox_id, metadata } of containers) {
      const key = `${pod_sandbox_id} ${metadata.name}`
      slots.set(key, [...(slots.get(key) ?? []), metadata.attempt])
    }
    for (const attempts of slots.values()) {
      attempts.sort((a, b) => a - b)
      expect(attempts.length).toBeLessThanOrEqual(2)
      expect(attempts.at(-1)! - attempts[0]!).toBe(attempts.length - 1)
    }
    await sim.close()
  })

  it('does not make up for a long pause of the machine', async () => {
    const clock = new VirtualClock()
    let jump = 0
    const jumping = { now: () => clock.now() + jump, wallMs: () => clock.wallMs() + jump }
    const after = (ms: number, run: () => void) => clock.after(ms, run)
    const sim = new SimulatedRuntime({ clock: { ...jumping, after }, pods: 50, churn: 20 })
    const died = () => [...sim.log.since(0)].filter(({ type }) => type === 'ContainerDied').length
    sim.start()
    await clock.advance(1000)
    const before = died()
    jump = 3_600_000
    await clock.advance(1000)
    expect(died() - before).toBeLessThan(100)
    expect(died()).toBeGreaterThan(before)
    await sim.close()
  })

  it('starts with dead predecessors where they are asked for', async () => {
    const sim = new SimulatedRuntime({ clock: new VirtualClock(), pods: 3, containersPerPod: 2, deadPerContainer: 2 })
    const { containers } = await listed(sim)
    const of = (state: string) => containers.filter((c) => c.state === state).map((c) => c.metadata.attempt)
    expect(of('CONTAINER_RUNNING')).toEqual(Array(6).fill(2))
    expect(of('CONTAINER_EXITED').sort()).toEqual([...Array(6).fill(0), ...Array(6).fill(1)])
    await sim.close()
  })
})
