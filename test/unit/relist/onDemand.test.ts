import { beforeEach, describe, expect, it } from 'vitest'
import { createRelister, type Relister } from '../../../src/engine/relister.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { type ScriptedItem, ScriptedRuntime } from '../../support/scriptedRuntime.js'

const running = (podUid: string): ScriptedItem => ({
  kind: 'container',
  podUid,
  id: `c-${podUid}`,
  name: 'c',
  state: 1,
})
const exited = (podUid: string): ScriptedItem => ({ ...running(podUid), state: 2, exitCode: 3 })

describe('a relist of one pod on demand (kubelet v1.37 pleg/generic.go, TestWorkerLoop)', () => {
  let runtime: ScriptedRuntime
  let clock: VirtualClock
  let relister: Relister

  beforeEach(async () => {
    runtime = new ScriptedRuntime()
    clock = new VirtualClock()
    relister = createRelister({ runtime, clock })
    runtime.items = [running('p1'), running('p2')]
    await relister.relist()
    await relister.settled()
    relister.takeEvents()
    runtime.calls.length = 0
    await clock.advance(1000)
  })

  const events = () => relister.takeEvents().map(({ type, pod }) => `${type} ${pod.uid}`)

  it('P15: lists and inspects that pod alone, and releases who waits for it', async () => {
    const asked = clock.now()
    const p1 = relister.cache.getNewerThan('p1', asked, 60_000)
    const p2 = relister.cache.getNewerThan('p2', asked, 60_000)
    runtime.items = [exited('p1'), exited('p2')]
    await clock.advance(1)
    relister.requestRelist('p1')
    await relister.settled()
    expect(runtime.calls).toEqual(['ListPodSandbox pod=p1', 'ListContainers pod=p1', 'ContainerStatus c-p1'])
    expect((await p1).status.containers).toMatchObject([{ state: 'exited', exitCode: 3 }])
    expect(events()).toEqual(['ContainerDied p1'])
    // The other one is still blocked; a full relist releases it.
    await relister.relist()
    await relister.settled()
    expect((await p2).status.containers).toMatchObject([{ state: 'exited' }])
    expect(events()).toEqual(['ContainerDied p2'])
  })

  it('releases a reader of a pod in which nothing changed', async () => {
    const newer = relister.cache.getNewerThan('p1', clock.now(), 60_000)
    await clock.advance(1)
    relister.requestRelist('p1')
    await relister.settled()
    expect((await newer).status.containers).toMatchObject([{ state: 'running' }])
    expect(events()).toEqual([])
    expect(runtime.calls.filter((call) => call.startsWith('ContainerStatus'))).toEqual([])
  })

  it('sees a removal, which the kubelet leaves to the full relist', async () => {
    runtime.items = [running('p2')]
    relister.requestRelist('p1')
    await relister.settled()
    expect(events()).toEqual(['ContainerDied p1', 'ContainerRemoved p1'])
    expect(relister.cache.size).toBe(1)
    await relister.relist()
    await relister.settled()
    expect(events()).toEqual([])
  })

  it('merges requests, and one that comes during the lists gets lists of its own', async () => {
    let listed: () => void = () => {}
    runtime.fault = (call) => (call === 'ListContainers' ? new Promise((resolve) => (listed = resolve)) : undefined)
    for (let i = 0; i < 5; i++) relister.requestRelist('p1')
    await clock.advance(1)
    for (let i = 0; i < 5; i++) relister.requestRelist('p1')
    runtime.fault = () => {}
    listed()
    await relister.settled()
    expect(runtime.calls.filter((call) => call === 'ListContainers pod=p1')).toHaveLength(2)
  })

  it('does not wait for a full relist that hangs, and its news are not undone by that one', async () => {
    let answer: () => void = () => {}
    runtime.fault = (call, id) =>
      call === 'ListContainers' && id === '' ? new Promise((resolve) => (answer = resolve)) : undefined
    const full = relister.relist()
    await clock.advance(10)
    // The full relist has seen it run; now it exits, and a new container starts.
    runtime.items = [exited('p1'), { ...running('p1'), id: 'c2-p1' }, running('p2')]
    relister.requestRelist('p1')
    await clock.advance(10)
    expect(events().sort()).toEqual(['ContainerDied p1', 'ContainerStarted p1'])
    answer()
    await full
    await relister.settled()
    expect(events()).toEqual([])
    runtime.fault = () => {}
    await relister.relist()
    await relister.settled()
    expect(events()).toEqual([])
  })

  it.each([
    ['exited', [exited('p3')], ['ContainerDied p3']],
    ['gone', [], []],
  ])(
    'what a full relist in progress has seen start, and it has found %s, is not started again',
    async (_, then, expected) => {
      let answer: () => void = () => {}
      runtime.fault = (call, id) =>
        call === 'ListContainers' && id === '' ? new Promise((resolve) => (answer = resolve)) : undefined
      runtime.items = [running('p1'), running('p2'), running('p3')]
      const full = relister.relist()
      await clock.advance(10)
      runtime.items = [running('p1'), running('p2'), ...then]
      relister.requestRelist('p3')
      await clock.advance(10)
      const found = events()
      answer()
      await full
      runtime.fault = () => {}
      for (let i = 0; i < 3; i++) {
        await relister.settled()
        await clock.advance(1000)
        found.push(...events())
        await relister.relist()
      }
      expect(found).toEqual(expected)
      expect(relister.cache.get('p3').status.containers).toHaveLength(then.length)
    },
  )

  it('leaves a pod without the kubelet label to full relists', async () => {
    runtime.items = [
      { kind: 'sandbox', podUid: 'lab-1', id: 's', name: 'p', state: 0, unlabelled: true, ips: ['10.0.0.1'] },
    ]
    await relister.relist()
    await relister.settled()
    relister.takeEvents()
    relister.requestRelist('lab-1')
    await relister.settled()
    expect(events()).toEqual([])
    expect(relister.cache.get('lab-1').status.sandboxes).toHaveLength(1)
  })

  it('a list that fails changes nothing', async () => {
    runtime.items = []
    runtime.fault = (call, id) => {
      if (call === 'ListContainers' && id === 'pod p1') throw new Error('no')
    }
    relister.requestRelist('p1')
    await relister.settled()
    expect(events()).toEqual([])
    expect(relister.cache.size).toBe(2)
  })
})
