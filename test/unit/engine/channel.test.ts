import { describe, expect, test } from 'vitest'
import { EventChannel } from '../../../src/engine/channel.js'
import type { PodLifecycleEvent } from '../../../src/model/event.js'

const event = (pod: string, n = 0): PodLifecycleEvent => ({
  type: 'ContainerStarted',
  pod: { uid: pod, namespace: 'default', name: pod },
  kind: 'container',
  id: `${pod}/${n}`,
  name: 'app',
  time: n,
})

const sync = (pod: string, time = 0): PodLifecycleEvent => ({
  type: 'PodSync',
  pod: { uid: pod, namespace: 'default', name: pod },
  kind: 'sandbox',
  id: '',
  name: '',
  time,
})

const counts = ({ delivered, overflowed, discarded, depth, dirtyPods }: EventChannel) => ({
  delivered,
  overflowed,
  discarded,
  depth,
  dirtyPods,
})

test('events come in the order in which they were pushed', () => {
  const channel = new EventChannel({ capacity: 3, overflow: 'sync' })
  const pushed = ['a', 'b', 'a'].map((pod, n) => event(pod, n))
  for (const one of pushed) channel.push(one)
  expect(counts(channel)).toEqual({ delivered: 0, overflowed: 0, discarded: 0, depth: 3, dirtyPods: 0 })
  expect(channel.drain()).toEqual(pushed)
  expect(channel.drain()).toEqual([])
  expect(counts(channel)).toMatchObject({ delivered: 3, depth: 0 })
})

describe('a full channel', () => {
  test('owes each pod one PodSync, in the order in which they became dirty, at the time of the last change', () => {
    const channel = new EventChannel({ capacity: 2, overflow: 'sync' })
    for (const [n, pod] of ['a', 'b', 'c', 'a', 'c', 'b'].entries()) channel.push(event(pod, n))
    expect(counts(channel)).toEqual({ delivered: 0, overflowed: 4, discarded: 0, depth: 2, dirtyPods: 3 })
    expect(channel.drain()).toEqual([event('a', 0), event('b', 1), sync('c', 4), sync('a', 3), sync('b', 5)])
    expect(counts(channel)).toEqual({ delivered: 5, overflowed: 4, discarded: 0, depth: 0, dirtyPods: 0 })
  })

  test('lets nothing of a dirty pod, and nothing newer of any other, overtake the PodSync', async () => {
    const channel = new EventChannel({ capacity: 1, overflow: 'sync' })
    const events = channel.iterate()
    channel.push(event('a', 0))
    channel.push(event('b', 1))
    expect((await events.next()).value).toEqual(event('a', 0))
    channel.push(event('b', 2))
    channel.push(event('c', 3))
    expect(channel.drain()).toEqual([sync('b', 1), sync('b', 2), sync('c', 3)])
  })

  test('discards, the kubelet’s rule', () => {
    const channel = new EventChannel({ capacity: 2, overflow: 'discard' })
    for (let n = 0; n < 5; n++) channel.push(event('a', n))
    expect(channel.drain()).toEqual([event('a', 0), event('a', 1)])
    expect(counts(channel)).toEqual({ delivered: 2, overflowed: 0, discarded: 3, depth: 0, dirtyPods: 0 })
  })
})

test('10 places, 5,000 changes of 500 pods, a slow consumer: every pod is synced after its last change', async () => {
  const channel = new EventChannel({ capacity: 10, overflow: 'sync' })
  const taken: PodLifecycleEvent[] = []
  const consumer = (async () => {
    for await (const one of channel.iterate()) {
      taken.push(one)
      await new Promise(setImmediate)
    }
  })()
  const lastChange = new Map<string, number>()
  for (let n = 0; n < 5000; n++) {
    const pod = `pod-${(n * 7919) % 500}`
    channel.push(event(pod, n))
    lastChange.set(pod, n)
    if (n % 25 === 0) await new Promise(setImmediate)
  }
  channel.close()
  await consumer
  const lastSeen = new Map(taken.map((one) => [one.pod.uid, one.time]))
  expect(lastSeen).toEqual(lastChange)
  const plain = taken.filter((one) => one.type !== 'PodSync').length
  expect(plain + channel.overflowed).toBe(5000)
  expect(channel.overflowed).toBeGreaterThan(4000)
  expect(counts(channel)).toMatchObject({ delivered: taken.length, discarded: 0, depth: 0, dirtyPods: 0 })
})

describe('iterators', () => {
  test('one that waits gets the event at once, whatever the capacity holds', async () => {
    const channel = new EventChannel({ capacity: 1, overflow: 'sync' })
    const events = channel.iterate()
    const next = events.next()
    channel.push(event('a'))
    channel.push(event('b'))
    expect(await next).toEqual({ done: false, value: event('a') })
    expect(counts(channel)).toMatchObject({ delivered: 1, overflowed: 0, depth: 1 })
  })

  test('share the channel: each event goes to one, in the order of asking', async () => {
    const channel = new EventChannel({ capacity: 4, overflow: 'sync' })
    const [one, other] = [channel.iterate(), channel.iterate()]
    const asked = [one.next(), other.next(), one.next()]
    for (const pod of ['a', 'b', 'c']) channel.push(event(pod))
    expect((await Promise.all(asked)).map(({ value }) => value?.pod.uid)).toEqual(['a', 'b', 'c'])
  })

  test('close lets what is queued and owed out, then ends them; a later push does nothing', async () => {
    const channel = new EventChannel({ capacity: 1, overflow: 'sync' })
    channel.push(event('a'))
    channel.push(event('b'))
    channel.close()
    channel.push(event('c'))
    const seen: string[] = []
    for await (const { type, pod } of channel.iterate()) seen.push(`${type} ${pod.uid}`)
    expect(seen).toEqual(['ContainerStarted a', 'PodSync b'])
  })

  test('close ends those who wait', async () => {
    const channel = new EventChannel({ capacity: 1, overflow: 'sync' })
    const asked = [channel.iterate().next(), channel.iterate().next()]
    channel.close()
    expect(await Promise.all(asked)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ])
  })

  test('return ends every next of that iterator, and takes no event with it', async () => {
    const channel = new EventChannel({ capacity: 2, overflow: 'sync' })
    const [left, stays] = [channel.iterate(), channel.iterate()]
    const asked = [left.next(), left.next(), stays.next()]
    expect(await left.return?.()).toEqual({ done: true, value: undefined })
    channel.push(event('a'))
    channel.push(event('b'))
    const done = { done: true, value: undefined }
    expect(await Promise.all(asked)).toEqual([done, done, { done: false, value: event('a') }])
    expect(await left.next()).toEqual(done)
    expect(channel.drain()).toEqual([event('b')])
  })

  test('leaving a for-await loop leaves the rest to others', async () => {
    const channel = new EventChannel({ capacity: 3, overflow: 'sync' })
    for (const pod of ['a', 'b']) channel.push(event(pod))
    for await (const one of channel.iterate()) {
      expect(one.pod.uid).toBe('a')
      break
    }
    expect((await channel.iterate().next()).value?.pod.uid).toBe('b')
  })
})

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a capacity of %d is refused', (capacity) => {
  expect(() => new EventChannel({ capacity, overflow: 'sync' })).toThrow(expect.objectContaining({ code: 'USAGE' }))
})
