import { describe, expect, it } from 'vitest'
import { compare, type Evidence } from '../../../bench/soak/compare.js'
import type { PodLifecycleEvent } from '../../../src/model/event.js'
import type { Change } from '../../../src/sim/changeLog.js'

const second = 1_000_000_000n
let seq = 0
const change = (type: Change['type'], at: number, exitCode?: number): Change => ({
  seq: ++seq,
  timeNs: BigInt(at) * second,
  type,
  podUid: 'u',
  namespace: 'ns',
  podName: 'p',
  id: 'c1',
  containerName: 'c',
  attempt: 0,
  ...(exitCode === undefined ? {} : { exitCode }),
})
const event = (type: PodLifecycleEvent['type'], exitCode?: number, id = 'c1'): PodLifecycleEvent => ({
  type,
  pod: { uid: 'u', namespace: 'ns', name: 'p' },
  kind: 'container',
  id,
  name: 'c',
  time: 0,
  ...(exitCode === undefined ? {} : { exitCode }),
})
const exited = { id: 'c1', state: 'exited', exitCode: 7 } as const
const lived: Evidence = {
  changes: [change('ContainerCreated', 0), change('ContainerStarted', 1), change('ContainerDied', 10, 7)],
  events: [event('ContainerStarted'), event('ContainerDied', 7)],
  cached: [exited],
  longestGapNs: 2n * second,
}

describe("a soak's comparison", () => {
  it('finds nothing where all is right', () => {
    expect(compare(lived)).toEqual([])
  })

  it.each<[string, Partial<Evidence>]>([
    ['a lost event', { events: [event('ContainerDied', 7)] }],
    ['an event that came twice', { events: [...lived.events, event('ContainerDied', 7)] }],
    ['an invented event', { events: [...lived.events, event('ContainerRemoved')] }],
    ['an event of something that never was', { events: [...lived.events, event('ContainerStarted', undefined, 'x')] }],
    ['a wrong exit code', { events: [event('ContainerStarted'), event('ContainerDied', 1)] }],
    ['a missing exit code', { events: [event('ContainerStarted'), event('ContainerDied')] }],
    ['events in the wrong order', { events: [...lived.events].reverse() }],
    ['a PodSync, which says that events were folded', { events: [...lived.events, event('PodSync', undefined, '')] }],
    ['a wrong state in the cache', { cached: [{ ...exited, state: 'running' }] }],
    ['a wrong exit code in the cache', { cached: [{ ...exited, exitCode: 1 }] }],
    ['a container missing in the cache', { cached: [] }],
    ['a removed one that the cache still has', { changes: [...lived.changes, change('ContainerRemoved', 20)] }],
  ])('finds %s', (_, broken) => {
    expect(compare({ ...lived, ...broken })).not.toEqual([])
  })

  it('forgives what began and ended between two lists, and nothing longer', () => {
    const changes = [change('ContainerStarted', 1), change('ContainerDied', 2, 7)]
    const events = [event('ContainerDied', 7)]
    expect(compare({ ...lived, changes, events })).toEqual([])
    expect(compare({ ...lived, changes, events, longestGapNs: second / 2n })).not.toEqual([])
  })
})
