import { beforeEach, describe, expect, it } from 'vitest'
import { createRelister, type Relister, type RelisterOptions } from '../../../src/engine/relister.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { type ScriptedItem, ScriptedRuntime } from '../../support/scriptedRuntime.js'

const states = {
  container: { created: 0, running: 1, exited: 2, unknown: 3 },
  sandbox: { running: 0, exited: 1, unknown: 2 },
}
const letters: Readonly<Record<string, string>> = {
  ContainerStarted: 'S',
  ContainerDied: 'D',
  ContainerRemoved: 'R',
  PodSync: 'PS',
}

/** `1234{c1:exited,c2:running}` in the notation of the kubelet's own tests. Same ids in two pods get a suffix, as ids are unique. */
function pods(text: string, kind: 'container' | 'sandbox' = 'container'): ScriptedItem[] {
  return [...text.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, podUid, items]) => {
    return items!.split(',').map((item) => {
      const [name, state] = item.split(':') as [string, keyof (typeof states)['container']]
      const id = `${name}-${podUid}`
      return { kind, podUid: podUid!, id, name, state: (states[kind] as Record<string, number>)[state]! }
    })
  })
}

describe("the kubelet's own vectors (pleg/generic_test.go, v1.37)", () => {
  let runtime: ScriptedRuntime
  let clock: VirtualClock
  let relister: Relister

  const start = (options: Partial<RelisterOptions> = {}) => {
    relister = createRelister({ runtime, clock, random: () => 0, ...options })
  }
  const relist = async (items: ScriptedItem[]) => {
    runtime.items = items
    await relister.relist()
    await relister.settled()
    return events()
  }
  const events = () => {
    const taken = relister.takeEvents()
    return taken
      .map(({ type, pod, id }) => `${letters[type]}(${pod.uid}${id === '' ? '' : `,${id.split('-')[0]}`})`)
      .sort()
  }

  beforeEach(() => {
    runtime = new ScriptedRuntime()
    clock = new VirtualClock()
    start()
  })

  describe.each(['container', 'sandbox'] as const)('TestRelisting, with %ss', (kind) => {
    it('P1, P2, P3, P12', async () => {
      const first = pods('1234{c1:exited,c2:running,c3:unknown} 4567{c1:exited}', kind)
      expect(await relist(first)).toEqual(['D(1234,c1)', 'D(4567,c1)', 'S(1234,c2)'])
      expect(await relist(first)).toEqual([])
      expect(await relist(pods('1234{c2:exited,c3:running} 4567{c4:running}', kind))).toEqual(
        ['R(1234,c1)', 'D(1234,c2)', 'S(1234,c3)', 'R(4567,c1)', 'S(4567,c4)'].sort(),
      )
    })
  })

  it('P4 TestEventChannelFull, the kubelet way', async () => {
    start({ channelCapacity: 4, overflow: 'discard' })
    await relist(pods('1234{c1:exited,c2:running,c3:unknown} 4567{c1:exited}'))
    const got = await relist(pods('1234{c2:exited,c3:running} 4567{c4:running}'))
    expect(got).toHaveLength(4)
    expect(['R(1234,c1)', 'D(1234,c2)', 'S(1234,c3)', 'R(4567,c1)', 'S(4567,c4)']).toEqual(expect.arrayContaining(got))
  })

  it.each([1, 3])('P5, P6 TestDetectingContainerDeaths after %i relists', async (relists) => {
    for (let i = 0; i < relists; i++) await relist(pods('1234{c1:running,c2:running,c3:exited} 4567{c2:running}'))
    expect(await relist(pods('1234{c1:running}'))).toEqual([
      'D(1234,c2)',
      'D(4567,c2)',
      'R(1234,c2)',
      'R(1234,c3)',
      'R(4567,c2)',
    ])
  })

  it('P7, P8 TestRelistWithCache: an error is cached, its events wait, nobody else is inspected again', async () => {
    runtime.fault = (call, id) => {
      if (call === 'ContainerStatus' && id === 'c1-pod1') throw new Error('E')
    }
    const items = pods('pod0{c0:running} pod1{c1:running}')
    expect(await relist(items)).toEqual(['S(pod0,c0)'])
    expect(relister.cache.get('pod0')).toMatchObject({ error: null, status: { containers: [{ id: 'c0-pod0' }] } })
    expect(relister.cache.get('pod1')).toMatchObject({
      error: { message: 'E', call: 'ContainerStatus' },
      status: { containers: [] },
    })

    runtime.fault = () => {}
    runtime.calls.length = 0
    await clock.advance(1000)
    expect(await relist(items)).toEqual(['S(pod1,c1)'])
    expect(runtime.calls.filter((call) => call.includes(' '))).toEqual(['ContainerStatus c1-pod1'])
    expect(relister.cache.get('pod1')).toMatchObject({ error: null, status: { containers: [{ id: 'c1-pod1' }] } })
  })

  it('P9 TestRemoveCacheEntry', async () => {
    await relist(pods('1234{c1:running}'))
    await relist([])
    expect(relister.cache.get('1234')).toEqual({
      error: null,
      status: {
        uid: '1234',
        namespace: '',
        name: '',
        inspected: false,
        ips: [],
        listed: [],
        sandboxes: [],
        containers: [],
      },
    })
    expect(relister.cache.size).toBe(0)
  })

  it('P10 TestHealthy', async () => {
    const { health } = relister
    expect(health()).toMatchObject({ ok: false, verdict: 'starting', message: 'pleg has yet to be successful' })
    await clock.advance(600_000)
    expect(health()).toMatchObject({ ok: false, verdict: 'stuck', message: 'pleg has yet to be successful' })
    await relist([])
    await clock.advance(60_000)
    expect(health()).toMatchObject({ ok: true, verdict: 'healthy', message: '' })
    await clock.advance(120_000)
    expect(health()).toMatchObject({ ok: true })
    await clock.advance(1)
    expect(health()).toMatchObject({
      ok: false,
      verdict: 'stuck',
      message: 'pleg was last seen active 3m0.001s ago; threshold is 3m0s',
    })
  })

  describe('P11 TestReinspect', () => {
    const items = pods('1234{c1:running}')
    const inspections = () => runtime.calls.filter((call) => call === 'ContainerStatus c1-1234').length
    const failing = (fails: boolean) => {
      runtime.fault = (call) => {
        if (fails && call === 'ContainerStatus') throw new Error('E')
      }
    }

    beforeEach(async () => {
      await relist(items)
      runtime.calls.length = 0
    })

    it.each([1, 2])('requested %i times, works: one inspection, one PodSync', async (times) => {
      for (let i = 0; i < times; i++) relister.requestReinspect('1234')
      expect(await relist(items)).toEqual(['PS(1234)'])
      expect(inspections()).toBe(1)
      expect(await relist(items)).toEqual([])
      expect(inspections()).toBe(1)
    })

    it('requested, fails: the error is cached, nothing is sent, and it is tried again until it works', async () => {
      failing(true)
      relister.requestReinspect('1234')
      expect(await relist(items)).toEqual([])
      expect(relister.cache.get('1234').error).toMatchObject({ message: 'E' })
      failing(false)
      await clock.advance(1000)
      await relister.settled()
      expect(events()).toEqual(['PS(1234)'])
      expect(relister.cache.get('1234').error).toBeNull()
    })

    it('not requested: not inspected', async () => {
      expect(await relist(items)).toEqual([])
      expect(inspections()).toBe(0)
    })

    it('flagged by a failure before its first success, then gone: Delete and one PodSync', async () => {
      failing(true)
      await relist([...items, ...pods('99{c9:running}')])
      expect(await relist(items)).toEqual(['PS(99)'])
      expect(relister.cache.get('99').error).toBeNull()
    })
  })

  it.each([[['192.168.1.5']], [['192.168.1.5', '2000::']]])('P13 TestRelistIPChange %j', async (ips) => {
    const pod = (sandbox: number, container: number, addresses: readonly string[]): ScriptedItem[] => [
      { kind: 'sandbox', podUid: 'p', id: 's', name: 'p', state: sandbox, ips: addresses },
      { kind: 'container', podUid: 'p', id: 'c', name: 'c', sandboxId: 's', state: container },
    ]
    expect(await relist(pod(0, 1, ips))).toEqual(['S(p,c)', 'S(p,s)'])
    expect(relister.cache.get('p').status.ips).toEqual(ips)
    expect(await relist(pod(1, 2, []))).toEqual(['D(p,c)', 'D(p,s)'])
    expect(relister.cache.get('p').status.ips).toEqual(ips)
  })

  it('one item that is no message costs neither the list nor the others', async () => {
    const good = pods('1234{c1:running}')
    await relist(good)
    const bad = { ...pods('99{c9:running}')[0]!, tail: Buffer.from([0x4a, 0x7f]) }
    expect(await relist([...good, bad, ...pods('7{c7:running}')])).toEqual(['S(7,c7)'])
    expect(relister.stats().unidentifiedItems).toBe(1)
  })

  it('a list that fails leaves cache, health and records alone', async () => {
    await relist(pods('1234{c1:running}'))
    const seen = relister.health().lastSeenMs
    runtime.fault = (call) => {
      if (call === 'ListContainers') throw new Error('broken')
    }
    runtime.items = []
    await expect(relister.relist()).rejects.toThrow('broken')
    expect(relister.takeEvents()).toEqual([])
    expect(relister.cache.get('1234').status.containers).toHaveLength(1)
    expect(relister.health().lastSeenMs).toBe(seen)
  })
})
