import { describe, expect, it } from 'vitest'
import { SimulatedRuntime } from '../../../src/sim/simulatedRuntime.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'

async function node() {
  const clock = new VirtualClock()
  const sim = new SimulatedRuntime({ clock, pods: 3, seed: 9 })
  const { containers } = (await sim.call('ListContainers', {})) as { containers: { id: string }[] }
  const [first, second] = containers.map(({ id }) => id) as [string, string]
  return { clock, sim, first, second }
}

/** What became of a call so far, without waiting for it. */
function watch(promise: Promise<unknown>) {
  const seen = { outcome: 'open' }
  promise.then(
    () => (seen.outcome = 'answered'),
    (error: { code?: string }) => (seen.outcome = error.code ?? 'failed'),
  )
  return seen
}

describe('faults', () => {
  it('hold up the object they name, until they are cleared', async () => {
    const { clock, sim, first, second } = await node()
    sim.faults.set({ call: 'ContainerStatus', id: first, kind: 'hang' })
    const hung = watch(sim.containerStatus(first))
    expect((await sim.containerStatus(second)).id).toBe(second)
    await clock.advance(60_000)
    expect(hung.outcome).toBe('open')
    sim.faults.clear('ContainerStatus', first)
    await clock.advance(0)
    expect(hung.outcome).toBe('answered')
  })

  it('end at the caller’s deadline and at its signal', async () => {
    const { clock, sim, first } = await node()
    sim.faults.set({ call: 'ContainerStatus', kind: 'hang' })
    const late = watch(sim.containerStatus(first, { deadlineMs: 500 }))
    const byDefault = watch(sim.containerStatus(first))
    const abort = new AbortController()
    const aborted = watch(sim.containerStatus(first, { signal: abort.signal }))
    await clock.advance(499)
    expect(late.outcome).toBe('open')
    await clock.advance(1)
    expect(late.outcome).toBe('CRI_DEADLINE_EXCEEDED')
    abort.abort()
    await clock.advance(0)
    expect(aborted.outcome).toBe('CRI_CANCELLED')
    await clock.advance(119_000)
    expect(byDefault.outcome).toBe('open')
    await clock.advance(1000)
    expect(byDefault.outcome).toBe('CRI_DEADLINE_EXCEEDED')
    await expect(sim.containerStatus(first, { deadlineMs: 0 })).rejects.toMatchObject({ code: 'CRI_DEADLINE_EXCEEDED' })
  })

  it('fail a call with the code and the words given', async () => {
    const { sim, first } = await node()
    sim.faults.set({ call: 'ListContainers', kind: 'error', code: 14, message: 'the daemon is away' })
    await expect(sim.listContainers({ item: () => {} })).rejects.toMatchObject({
      code: 'CRI_UNAVAILABLE',
      details: 'the daemon is away',
    })
    await sim.containerStatus(first)
    sim.faults.clear()
    expect((await sim.listContainers({ item: () => {} })).items).toBe(6)
  })

  it('delay an answer, which shows the moment when it is given', async () => {
    const { clock, sim, first } = await node()
    sim.faults.set({ call: 'ContainerStatus', kind: 'latency', ms: 200 })
    const answer = sim.containerStatus(first)
    const seen = watch(answer)
    await clock.advance(100)
    await sim.call('StopContainer', { container_id: first, timeout: '10' })
    await clock.advance(99)
    expect(seen.outcome).toBe('open')
    await clock.advance(1)
    expect(await answer).toMatchObject({ state: 'exited', exitCode: 143 })
  })

  it('of an object stand before those of the call; setting one again replaces it', async () => {
    const { clock, sim, first, second } = await node()
    sim.faults.set({ call: 'ContainerStatus', kind: 'error' })
    sim.faults.set({ call: 'ContainerStatus', id: first, kind: 'hang' })
    await expect(sim.containerStatus(second)).rejects.toMatchObject({ code: 'CRI_UNKNOWN' })
    const hung = watch(sim.containerStatus(first))
    await clock.advance(10)
    expect(hung.outcome).toBe('open')
    sim.faults.set({ call: 'ContainerStatus', id: first, kind: 'error', code: 13 })
    await clock.advance(0)
    expect(hung.outcome).toBe('CRI_INTERNAL')
  })

  it('break a stream of events before its first one', async () => {
    const { sim } = await node()
    sim.faults.set({ call: 'GetContainerEvents', kind: 'error', code: 12 })
    const read = async () => {
      for await (const _ of sim.containerEvents()) throw new Error('an event')
    }
    await expect(read()).rejects.toMatchObject({ code: 'CRI_UNIMPLEMENTED' })
  })
})
