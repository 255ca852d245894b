import { describe, expect, it } from 'vitest'
import { SimulatedRuntime } from '../../../src/sim/simulatedRuntime.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { makePod } from '../../support/simulation.js'

describe('GetContainerEvents', () => {
  it('tells the life of a pod in containerd’s order, with the pod as it was at each event', async () => {
    const clock = new VirtualClock()
    const sim = new SimulatedRuntime({ clock })
    const pulled = sim.call('PullImage', { image: { image: 'localhost/rt/work:1' } })
    await clock.advance(100)
    await pulled
    const subscription = sim.events.subscribe()
    const { sandboxId, containerId } = await makePod(sim, 'p', ['/bin/work', 'exit', '3'])
    await sim.call('StartContainer', { container_id: containerId })
    await clock.advance(1)
    await sim.call('StopPodSandbox', { pod_sandbox_id: sandboxId })
    await sim.call('RemovePodSandbox', { pod_sandbox_id: sandboxId })
    sim.step()

    const seen: unknown[] = []
    for (let i = 0; i < 8; i++) {
      const { value } = await subscription.next()
      const event = sim.codec.decodeResponse('GetContainerEvents', value as Buffer)
      const { state } = event['pod_sandbox_status'] as { state: string }
      const containers = (event['containers_statuses'] as { state: string }[]).map((c) => c.state.slice(10))
      const kind = (event['container_event_type'] as string).slice(10, -6)
      seen.push([event['container_id'] === sandboxId ? 's' : 'c', kind, state.slice(8), ...containers])
    }
    expect(seen).toEqual([
      ['s', 'CREATED', 'READY'],
      ['s', 'STARTED', 'READY'],
      ['c', 'CREATED', 'READY', 'CREATED'],
      ['c', 'STARTED', 'READY', 'RUNNING'],
      ['c', 'STOPPED', 'READY', 'EXITED'],
      ['s', 'STOPPED', 'NOTREADY', 'EXITED'],
      ['c', 'DELETED', 'NOTREADY'],
      ['s', 'DELETED', 'NOTREADY'],
    ])
    await sim.close()
    expect(await subscription.next()).toMatchObject({ done: true })
  })

  it('keeps the newest events of a reader that does not read, counts the others, and takes nothing from other readers', async () => {
    const sim = new SimulatedRuntime({ clock: new VirtualClock(), pods: 5 })
    const slow = sim.events.subscribe()
    const fast = sim.events.subscribe()
    const before = sim.log.lastSeq
    let read = 0
    for (let i = 0; i < 2000; i++) {
      const seq = sim.log.lastSeq
      sim.step()
      // A sandbox's start is two events.
      for (const change of sim.log.since(seq)) {
        for (let n = change.type === 'SandboxStarted' ? 2 : 1; n > 0; n--) {
          await fast.next()
          read++
        }
      }
    }
    expect(sim.log.lastSeq - before).toBeGreaterThan(1000)
    expect(fast.dropped).toBe(0)
    expect(slow.dropped).toBe(read - 1000)
    expect(sim.events.dropped).toBe(read - 1000)
    await slow.return?.()
    expect(sim.events.dropped).toBe(read - 1000)
    expect(sim.events.subscriberCount).toBe(1)
    await sim.close()
  })

  it('is a Runtime’s stream that ends with its signal', async () => {
    const sim = new SimulatedRuntime({ clock: new VirtualClock(), pods: 5 })
    const abort = new AbortController()
    const types: unknown[] = []
    const reading = (async () => {
      for await (const event of sim.containerEvents({ signal: abort.signal })) {
        types.push(event['container_event_type'])
        if (types.length === 5) abort.abort()
      }
    })()
    await new Promise(setImmediate)
    for (let i = 0; i < 50; i++) sim.step()
    await reading
    expect(types.length).toBeGreaterThanOrEqual(5)
    expect(sim.events.subscriberCount).toBe(0)
    await sim.close()
  })
})
