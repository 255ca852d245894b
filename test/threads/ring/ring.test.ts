import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/model/clock.js'
import { packMessage, unpackMessage } from '../../../src/ring/codec.js'
import { createDoorbell, Doorbell } from '../../../src/ring/doorbell.js'
import { createRing, RingReader, RingWriter } from '../../../src/ring/ring.js'
import { createThreadCounters, ThreadCounters } from '../../../src/ring/threadCounters.js'
import { exchange, never } from '../../support/ring/exchange.js'
import type { PeerTask } from '../../support/ring/peer.js'

const workers: Worker[] = []

function peer(task: PeerTask): Worker {
  const worker = new Worker(new URL('../../support/ring/peer.js', import.meta.url), { workerData: task })
  workers.push(worker)
  return worker
}

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()))
})

test('200,000 records each way between two threads, through rings that are full all the time', async () => {
  const records = 200_000
  const [toPeer, toMain, peerBell, mainBell] = [createRing(4096), createRing(4096), createDoorbell(), createDoorbell()]
  const bell = new Doorbell(mainBell)
  const worker = peer({ do: 'exchange', toPeer, toMain, peerBell, mainBell, records })
  const answer = once(worker, 'message')
  const writer = new RingWriter(toPeer, new Doorbell(peerBell))
  const reader = new RingReader(toMain, new Doorbell(peerBell))
  expect(await exchange({ writer, reader, bell, records, writeSeed: 99_991, readSeed: 77_777 })).toBe('')
  expect((await answer)[0]).toBe('')
  expect([new RingReader(toPeer).used(), reader.used()]).toEqual([0, 0])
})

test('no ring of a bell is lost in 20,000 rounds of ping-pong', async () => {
  const rounds = 20_000
  const [peerBell, mainBell, ball] = [createDoorbell(), createDoorbell(), new SharedArrayBuffer(4)]
  const bell = new Doorbell(mainBell)
  const other = new Doorbell(peerBell)
  const count = new Int32Array(ball)
  peer({ do: 'pingPong', peerBell, mainBell, ball, rounds })
  for (let round = 0; round < rounds * 2; round += 2) {
    Atomics.store(count, 0, round + 1)
    other.ring()
    while (Atomics.load(count, 0) !== round + 2) await bell.wait(never)
  }
  expect(count[0]).toBe(rounds * 2)
})

test('two threads made at different times read each other’s messages, 300 shapes that neither knew', async () => {
  const shapes = Array.from({ length: 300 }, (_, n) => ({
    t: 'listed',
    stamp: n + 0.5,
    pod: { uid: `u-${n}`, namespace: 'default', name: 'pod' },
    extra: { [`label-${n}`]: `v${n}`, [`annotation-${n}`]: { startedAt: 1_764_599_999_123_456_789n + BigInt(n) } },
  }))
  const send = async (worker: Worker, packed: Uint8Array) => {
    worker.postMessage(packed)
    return (await once(worker, 'message'))[0] as Uint8Array
  }
  const first = peer({ do: 'repack' })
  const early: Uint8Array[] = []
  for (const shape of shapes) early.push(await send(first, new Uint8Array(packMessage(shape))))
  const second = peer({ do: 'repack' })
  for (const [n, packed] of early.entries()) {
    const back = await send(first, await send(second, packed))
    expect(unpackMessage(back, 0, back.length)).toEqual(shapes[n])
  }
})

test('the call that a blocked thread hangs in is seen from outside', async () => {
  const [counters, gate] = [createThreadCounters(), new SharedArrayBuffer(4)]
  const seen = new ThreadCounters(counters, systemClock)
  peer({ do: 'hang', counters, gate })
  while (seen.inflight().length === 0) await turn()
  expect(seen.inflight()).toMatchObject([{ call: 'ContainerStatus', id: 'hung', podUid: 'uid-1' }])
  expect(seen.inflight()[0]!.startedAt).toBeLessThanOrEqual(systemClock.now())
  expect(seen.get('relistStartedAt')).toBe(42)
  Atomics.store(new Int32Array(gate), 0, 1)
  Atomics.notify(new Int32Array(gate), 0)
})

test('a call is never seen half-written, and what was counted never falls back', async () => {
  const [counters, gate] = [createThreadCounters(), new SharedArrayBuffer(4)]
  const seen = new ThreadCounters(counters, systemClock)
  const worker = peer({ do: 'calls', counters, gate })
  const answer = once(worker, 'message')
  const torn: string[] = []
  let whole = 0
  let last = 0
  while (whole < 2000) {
    for (const { id, podUid } of seen.inflight()) {
      if (id === podUid && id === id.charAt(0).repeat(id.length)) whole++
      else torn.push(`${id} / ${podUid}`)
    }
    const { count } = seen.duration('PodSandboxStatus').snapshot()
    expect(count).toBeGreaterThanOrEqual(last)
    last = count
    await turn()
  }
  Atomics.store(new Int32Array(gate), 0, 1)
  const [calls] = (await answer) as [number]
  expect(torn).toEqual([])
  expect(seen.inflight()).toEqual([])
  const { count, counts } = seen.duration('PodSandboxStatus').snapshot()
  expect([count, counts.reduce((sum, one) => sum + one, 0)]).toEqual([calls, calls])
})
