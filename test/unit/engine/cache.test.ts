import { describe, expect, test } from 'vitest'
import type { CachedPod } from '../../../src/engine/api.js'
import { PodStatusCache } from '../../../src/engine/cache.js'
import { emptyPodStatus, type InspectError, type PodStatus } from '../../../src/model/pod.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'

const uid = 'uid-1'
const deadlineMs = 1000
const failure: InspectError = { code: 'UNAVAILABLE', message: 'down', call: 'ContainerStatus', id: 'c1' }

function inspected(of = uid, ips: readonly string[] = []): PodStatus {
  return { ...emptyPodStatus(of), name: `pod-${of}`, namespace: 'default', inspected: true, ips }
}

function listedOnly(of = uid): PodStatus {
  return { ...inspected(of), inspected: false }
}

/** One partition unless said otherwise: then every rule is the kubelet's. Even digits belong to partition 0. */
function newCache({ partitions = 1, maxWaiters = 100 } = {}) {
  const clock = new VirtualClock()
  const partitionOf = (of: string) => Number(of.at(-1)) % partitions
  return { clock, cache: new PodStatusCache({ clock, partitions, partitionOf, maxWaiters }) }
}

/** What has become of a `getNewerThan` by now. */
function follow(promise: Promise<CachedPod>) {
  let outcome: CachedPod | { code: string } | 'waits' = 'waits'
  promise.then(
    (pod) => {
      outcome = pod
    },
    (error: { code: string }) => {
      outcome = { code: error.code }
    },
  )
  return async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return outcome
  }
}

describe('the kubelet’s vectors (container/cache_test.go)', () => {
  const t = 1000

  test('TestCacheNotInitialized', async () => {
    const { cache } = newCache()
    expect(await follow(cache.getNewerThan(uid, 0, deadlineMs))()).toBe('waits')
  })

  test.each([
    { global: t + 1, modified: t, ready: true },
    { global: t + 1, modified: t - 10, ready: true },
    { global: t - 1, modified: t + 3, ready: true },
    { global: t - 1, modified: t - 1, ready: false },
  ])('TestGetIfNewerThanWhenPodExists %o', async ({ global, modified, ready }) => {
    const { cache } = newCache()
    cache.set(uid, inspected(), null, modified)
    cache.observe(0, global)
    const asked = await follow(cache.getNewerThan(uid, t, deadlineMs))()
    expect(asked).toEqual(ready ? { status: inspected(), error: null } : 'waits')
  })

  test.each([
    { ask: t - 1, ready: true },
    { ask: t + 1, ready: false },
  ])('TestGetPodNewerThanWhenPodDoesNotExist %o', async ({ ask, ready }) => {
    const { cache } = newCache()
    cache.observe(0, t)
    const asked = await follow(cache.getNewerThan(uid, ask, deadlineMs))()
    expect(asked).toEqual(ready ? { status: emptyPodStatus(uid), error: null } : 'waits')
  })

  test('TestCacheSetAndGet, errors included', () => {
    const { cache } = newCache()
    cache.set('uid-1', inspected('uid-1'), null, t)
    cache.set('uid-2', inspected('uid-2', ['10.0.0.2']), failure, t)
    expect(cache.get('uid-1')).toEqual({ status: inspected('uid-1'), error: null })
    expect(cache.get('uid-2')).toEqual({ status: inspected('uid-2', ['10.0.0.2']), error: failure })
    expect([cache.size, [...cache.list()].map(({ status }) => status.uid)]).toEqual([2, ['uid-1', 'uid-2']])
  })

  test('TestCacheGetPodDoesNotExist, TestDelete', () => {
    const { cache } = newCache()
    const nothing = { status: emptyPodStatus(uid), error: null }
    expect(cache.get(uid)).toEqual(nothing)
    cache.set(uid, inspected(), failure, t)
    cache.delete(uid)
    expect([cache.get(uid), cache.size]).toEqual([nothing, 0])
  })

  test('TestRegisterNotification: a waiter is released at exactly its stamp', async () => {
    const { cache } = newCache()
    cache.observe(0, t)
    const first = follow(cache.getNewerThan('uid-1', t + 1, deadlineMs))
    expect(await first()).toBe('waits')
    cache.set('uid-1', inspected('uid-1'), null, t + 1)
    expect(await first()).toEqual({ status: inspected('uid-1'), error: null })
    const second = follow(cache.getNewerThan('uid-2', t + 1, deadlineMs))
    expect(await second()).toBe('waits')
    cache.observe(0, t + 2)
    expect(await second()).toEqual({ status: emptyPodStatus('uid-2'), error: null })
  })

  const actions: [string, boolean, (cache: PodStatusCache, stamp: number) => void][] = [
    ['Set, pod exists', true, (cache, stamp) => cache.set(uid, inspected(), null, stamp)],
    ['SetObservedTime, pod exists', true, (cache, stamp) => cache.observePod(uid, stamp)],
    ['UpdateTime, pod exists', true, (cache, stamp) => cache.observe(0, stamp)],
    ['Set, pod missing', false, (cache, stamp) => cache.set(uid, inspected(), null, stamp)],
    ['UpdateTime, pod missing', false, (cache, stamp) => cache.observe(0, stamp)],
  ]
  test.each(actions)('TestGetNewerThan: %s', async (_, exists, act) => {
    const { cache } = newCache()
    if (exists) cache.set(uid, inspected(), null, 0)
    const min = 10_000
    const outcome = follow(cache.getNewerThan(uid, min, deadlineMs))
    expect(await outcome()).toBe('waits')
    act(cache, min - 1000)
    expect(await outcome()).toBe('waits')
    act(cache, min + 1000)
    expect(await outcome()).toMatchObject({ status: { uid }, error: null })
    expect(await follow(cache.getNewerThan(uid, min, deadlineMs))()).toMatchObject({ status: { uid } })
  })

  test('an on-demand relist of an unknown pod releases its waiter with the default status and stores nothing', async () => {
    const { cache } = newCache()
    const outcome = follow(cache.getNewerThan(uid, 5, deadlineMs))
    cache.observePod(uid, 6)
    expect(await outcome()).toEqual({ status: emptyPodStatus(uid), error: null })
    expect(cache.size).toBe(0)
  })

  test('an inspection error releases the waiter with the error', async () => {
    const { cache } = newCache()
    const outcome = follow(cache.getNewerThan(uid, 5, deadlineMs))
    cache.set(uid, inspected(), failure, 6)
    expect(await outcome()).toMatchObject({ error: failure })
  })

  test('Set may go back in time', async () => {
    const { cache } = newCache()
    cache.set(uid, inspected(uid, ['10.0.0.1']), null, 9)
    cache.set(uid, inspected(uid, ['10.0.0.2']), null, 3)
    expect(cache.get(uid).status.ips).toEqual(['10.0.0.2'])
    expect(await follow(cache.getNewerThan(uid, 5, deadlineMs))()).toBe('waits')
  })
})

describe('pods that changed and are not inspected yet', () => {
  test('are not fresh by their partition’s time, however often it moves, until their inspection', async () => {
    const { cache } = newCache()
    cache.set(uid, inspected(), null, 1)
    cache.observe(0, 1)
    cache.markPending(uid, 2)
    const outcome = follow(cache.getNewerThan(uid, 1.5, deadlineMs))
    for (const stamp of [2, 3, 4]) cache.observe(0, stamp)
    expect([await outcome(), cache.isPending(uid)]).toEqual(['waits', true])
    cache.set(uid, inspected(uid, ['10.0.0.1']), null, 2)
    expect(await outcome()).toMatchObject({ status: { ips: ['10.0.0.1'] } })
    expect(cache.isPending(uid)).toBe(false)
    expect(await follow(cache.getNewerThan(uid, 3.5, deadlineMs))()).toMatchObject({ status: { uid } })
  })

  test('an inspection that began before the latest change does not pass for one of after it', async () => {
    const { cache } = newCache()
    cache.markPending(uid, 5)
    cache.markPending(uid, 6)
    cache.observe(0, 6)
    const outcome = follow(cache.getNewerThan(uid, 5.5, deadlineMs))
    cache.set(uid, inspected(), null, 5)
    expect([await outcome(), cache.isPending(uid)]).toEqual(['waits', true])
    cache.markPending(uid, 5)
    cache.set(uid, inspected(), failure, 5)
    expect([await outcome(), cache.isPending(uid)]).toEqual(['waits', true])
    cache.set(uid, inspected(), null, 6)
    expect(await outcome()).toMatchObject({ error: null })
  })

  test('what was only listed is there to read but is no answer, with any stamp', async () => {
    const { cache } = newCache()
    const outcome = follow(cache.getNewerThan(uid, 1, deadlineMs))
    cache.set(uid, listedOnly(), null, 2)
    cache.observe(0, 3)
    cache.observePod(uid, 4)
    expect(cache.get(uid)).toEqual({ status: listedOnly(), error: null })
    expect(await outcome()).toBe('waits')
    expect(await follow(cache.getNewerThan(uid, 1, deadlineMs))()).toBe('waits')
    cache.set(uid, listedOnly(), failure, 3)
    expect(await outcome()).toMatchObject({ error: failure })
  })

  test('a pod that went is the default status, for those who already wait as well', async () => {
    const { cache } = newCache()
    cache.set(uid, inspected(), null, 1)
    cache.markPending(uid, 2)
    const earlier = follow(cache.getNewerThan(uid, 1.5, deadlineMs))
    const later = follow(cache.getNewerThan(uid, 2.5, deadlineMs))
    cache.observe(0, 2)
    cache.delete(uid)
    expect(await earlier()).toEqual({ status: emptyPodStatus(uid), error: null })
    expect([await later(), cache.isPending(uid)]).toEqual(['waits', false])
    cache.observe(0, 3)
    expect(await later()).toEqual({ status: emptyPodStatus(uid), error: null })
  })
})

describe('partitions', () => {
  test('each has its own time', async () => {
    const { cache } = newCache({ partitions: 2 })
    const even = follow(cache.getNewerThan('uid-2', 5, deadlineMs))
    const odd = follow(cache.getNewerThan('uid-3', 5, deadlineMs))
    cache.observe(1, 6)
    expect(await even()).toBe('waits')
    expect(await odd()).toMatchObject({ status: { uid: 'uid-3' } })
    cache.observe(0, 6)
    expect(await even()).toMatchObject({ status: { uid: 'uid-2' } })
  })

  test('a pod is not taken for gone because the shard that knew it is', async () => {
    const { cache } = newCache({ partitions: 2 })
    cache.observe(0, 5)
    cache.set('uid-2', listedOnly('uid-2'), null, 5)
    const waiting = follow(cache.getNewerThan('uid-2', 4, deadlineMs))
    cache.unobserve(0)
    cache.delete('uid-2')
    expect(await waiting()).toBe('waits')
    const asked = follow(cache.getNewerThan('uid-2', 4, deadlineMs))
    expect(await asked()).toBe('waits')
    cache.set('uid-2', inspected('uid-2'), null, 7)
    expect(await waiting()).toMatchObject({ status: { inspected: true } })
    expect(await asked()).toMatchObject({ status: { inspected: true } })
  })
})

describe('waiters', () => {
  test('many of one pod, each released by its own stamp', async () => {
    const { cache } = newCache()
    const outcomes = [1, 2, 3].map((stamp) => follow(cache.getNewerThan(uid, stamp, deadlineMs)))
    cache.set(uid, inspected(), null, 2)
    expect((await Promise.all(outcomes.map((outcome) => outcome()))).map((outcome) => outcome === 'waits')).toEqual([
      false,
      false,
      true,
    ])
  })

  test('reject with CACHE_TIMEOUT at their deadline, not before, and are then forgotten', async () => {
    const { cache, clock } = newCache({ maxWaiters: 1 })
    const promise = cache.getNewerThan(uid, 7, 500)
    const outcome = follow(promise)
    await clock.advance(499)
    expect(await outcome()).toBe('waits')
    await clock.advance(1)
    await expect(promise).rejects.toMatchObject({
      name: 'CacheError',
      code: 'CACHE_TIMEOUT',
      facts: { uid, stamp: 7, deadlineMs: 500 },
    })
    expect(await follow(cache.getNewerThan(uid, 7, 500))()).toBe('waits')
  })

  test('a deadline of Infinity is no timer of one millisecond', () => {
    const timers: number[] = []
    const after = (ms: number) => {
      timers.push(ms)
      return () => {}
    }
    const clock = { now: () => 0, wallMs: () => 0, after }
    const cache = new PodStatusCache({ clock, partitions: 1, partitionOf: () => 0 })
    void cache.getNewerThan(uid, 1, Number.POSITIVE_INFINITY)
    expect(timers).toEqual([2 ** 31 - 1])
  })

  test('no more than the bound wait; whoever was released makes room', async () => {
    const { cache } = newCache({ maxWaiters: 2 })
    const first = cache.getNewerThan(uid, 1, deadlineMs)
    void cache.getNewerThan('uid-2', 1, deadlineMs).catch(() => {})
    await expect(cache.getNewerThan('uid-3', 1, deadlineMs)).rejects.toMatchObject({
      code: 'CACHE_TOO_MANY_WAITERS',
      facts: { uid: 'uid-3', max: 2 },
    })
    cache.set(uid, inspected(), null, 2)
    await first
    expect(await follow(cache.getNewerThan('uid-3', 1, deadlineMs))()).toBe('waits')
  })

  test('all reject with CACHE_CLOSED at close, and so does who asks later; reading goes on', async () => {
    const { cache, clock } = newCache()
    const outcomes = [1, 1, 2].map((n) => follow(cache.getNewerThan(`uid-${n}`, 1, deadlineMs)))
    cache.set('uid-9', inspected('uid-9'), null, 5)
    cache.close()
    for (const outcome of outcomes) expect(await outcome()).toEqual({ code: 'CACHE_CLOSED' })
    await expect(cache.getNewerThan('uid-9', 1, deadlineMs)).rejects.toMatchObject({ code: 'CACHE_CLOSED' })
    expect(cache.get('uid-9').status.inspected).toBe(true)
    await clock.advance(deadlineMs)
  })
})

test('statuses are shared, so nobody can write into them', () => {
  const { cache } = newCache()
  cache.set(uid, inspected(uid, ['10.0.0.1']), failure, 1)
  const one = cache.get(uid)
  expect(cache.get(uid)).toBe(one)
  expect([...cache.list()][0]).toBe(one)
  expect(() => (one.status.ips as string[]).push('10.0.0.9')).toThrow(TypeError)
  expect(() => {
    ;(one.status as { name: string }).name = 'other'
  }).toThrow(TypeError)
  expect(() => {
    ;(one as { error: null }).error = null
  }).toThrow(TypeError)
  for (const array of [one.status.listed, one.status.sandboxes, one.status.containers]) {
    expect(Object.isFrozen(array)).toBe(true)
  }
})
