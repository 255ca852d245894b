import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compare } from '../../../bench/soak/compare.js'
import type { Engine, EngineOptions } from '../../../src/engine/api.js'
import { createEngine } from '../../../src/engine/engine.js'
import { systemClock } from '../../../src/model/clock.js'
import type { PodLifecycleEvent } from '../../../src/model/event.js'
import type { Change } from '../../../src/sim/changeLog.js'
import { serveSimulatedRuntime } from '../../../src/sim/server/serve.js'
import { SimulatedRuntime } from '../../../src/sim/simulatedRuntime.js'
import { until } from '../../support/until.js'

const pods = 60

describe('the threaded engine on a served node', () => {
  let directory: string
  let sim: SimulatedRuntime
  let server: Awaited<ReturnType<typeof serveSimulatedRuntime>>
  let engine: Engine
  let events: PodLifecycleEvent[]
  let consumed: Promise<void>
  const changes: Change[] = []

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plegd-engine-'))
    changes.length = 0
    events = []
    sim = new SimulatedRuntime({ pods, containersPerPod: 2, seed: 7, onChange: (change) => changes.push(change) })
    server = await serveSimulatedRuntime(sim, join(directory, 'cri.sock'))
  })

  afterEach(async () => {
    await engine.stop()
    await consumed
    await server.stop()
    await sim.close()
    rmSync(directory, { recursive: true, force: true })
  })

  async function start(options: Partial<EngineOptions> = {}): Promise<void> {
    engine = createEngine({ endpoint: server.endpoint, relistPeriodMs: 20, shards: 2, ...options })
    consumed = (async () => {
      for await (const event of engine.events()) events.push(event)
    })()
    await engine.start()
  }

  /** Some relists in a row found nothing new, and every pod is inspected. */
  async function atRest(): Promise<void> {
    // Restarts and removals that the node has planned would come while it is compared.
    sim.pause()
    let generation = engine.stats().last?.generation ?? 0
    let quiet = 0
    await until(
      'the engine is at rest',
      () => {
        const { last, dirtyPods, channelDepth, viewSeconds } = engine.stats()
        if (last === null || last.generation === generation || viewSeconds === null) return false
        generation = last.generation
        const seen = systemClock.now() - viewSeconds * 1000 >= last.stamp
        const waiting = [...engine.cache.list()].some(({ status, error }) => !status.inspected || error !== null)
        quiet = last.changed === 0 && seen && !waiting && dirtyPods === 0 && channelDepth === 0 ? quiet + 1 : 0
        return quiet >= 3
      },
      { timeoutMs: 20_000, state: () => JSON.stringify([engine.stats().last, engine.health()]) },
    )
  }

  function differences(): string[] {
    const cached = [...engine.cache.list()].flatMap(({ status }) => [
      ...status.containers.map(({ id, state, exitCode }) => ({ id, state, exitCode })),
      ...status.sandboxes.map(({ id, state }) => {
        return { id, state: state === 'ready' ? ('running' as const) : ('exited' as const), exitCode: 0 }
      }),
    ])
    // A minute: what may be invisible is not judged here, but nothing may be invented, doubled or wrong at the end.
    return compare({ changes, events, cached, longestGapNs: 60_000_000_000n })
  }

  async function churn(steps: number): Promise<void> {
    for (let i = 0; i < steps; i++) {
      sim.step()
      if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  const started = () => events.filter((event) => event.type === 'ContainerStarted').length

  it('delivers the start of every sandbox and container once', async () => {
    await start()
    await atRest()
    expect(started()).toBe(pods * 3)
    expect(engine.cache.size).toBe(pods)
    expect(engine.stats().runningPods).toBe(pods)
    expect(engine.health()).toMatchObject({ ok: true, verdict: 'healthy' })
    expect(differences()).toEqual([])
  })

  it('follows the churn of the node', async () => {
    await start()
    await atRest()
    await churn(200)
    await atRest()
    expect(differences()).toEqual([])
  })

  it('a worker thread that dies in the middle loses and invents nothing, whichever it is', async () => {
    await start()
    await atRest()
    const restarts = () => engine.stats().threads.reduce((sum, thread) => sum + thread.restarts, 0)
    for (let round = 0; round < 6; round++) {
      // A thread that has not taken up its task yet is replaced by the pool, unseen.
      await atRest()
      await churn(20)
      const before = restarts()
      await internals(engine).pool.threads[0]!.terminate()
      await churn(20)
      await until(
        'the thread runs again',
        () => {
          return restarts() === before + 1 && engine.stats().threads.every((thread) => thread.alive)
        },
        { timeoutMs: 20_000, state: () => JSON.stringify([before, engine.stats().threads]) },
      )
    }
    // Each death takes the pool's oldest thread, so each role has died.
    expect(
      engine
        .stats()
        .threads.filter((thread) => thread.restarts > 0)
        .map((thread) => thread.name),
    ).toEqual(['lister', 'shard-0', 'shard-1'])
    await atRest()
    expect(differences()).toEqual([])
  })

  it('a ring that someone scribbled on costs its shard a restart, and no event', async () => {
    await start()
    await atRest()
    const shard = internals(engine).shards[1]!
    new Int32Array(shard.outboxMemory, 128).fill(0x7fff_ffff)
    Atomics.add(new Int32Array(shard.outboxMemory), 0, 64)
    // Before the shard's next message puts the cursor right.
    internals(engine).bell.ring()
    await until('the shard was started again', () => shard.restarts === 1 && shard.alive)
    await churn(40)
    await atRest()
    expect(differences()).toEqual([])
  })

  it('survives a runtime that is not there yet, goes away and comes back', async () => {
    await server.stop()
    await start()
    await until('lists fail', () => engine.stats().relistFailures > 2)
    expect(engine.health()).toMatchObject({ ok: false, verdict: 'starting', message: 'pleg has yet to be successful' })
    expect(engine.health().reason).toMatch(/no relist has succeeded yet/)
    server = await serveSimulatedRuntime(sim, join(directory, 'cri.sock'))
    await atRest()
    await server.stop()
    const failures = engine.stats().relistFailures
    await until('lists fail', () => engine.stats().relistFailures > failures)
    await churn(30)
    expect(engine.cache.size).toBe(pods)
    server = await serveSimulatedRuntime(sim, join(directory, 'cri.sock'))
    await atRest()
    expect(differences()).toEqual([])
  })

  it('with a channel of 10 and a consumer that sleeps, every pod is synced', async () => {
    engine = createEngine({ endpoint: server.endpoint, relistPeriodMs: 20, shards: 2, channelCapacity: 10 })
    consumed = Promise.resolve()
    await engine.start()
    await until('all events are made', () => engine.stats().events === pods * 3)
    const { channelDepth, dirtyPods, overflowEvents, discardedEvents } = engine.stats()
    expect(channelDepth).toBe(10)
    expect(overflowEvents).toBe(pods * 3 - 10)
    expect(discardedEvents).toBe(0)
    const seen = new Set<string>()
    let count = 0
    for await (const event of engine.events()) {
      seen.add(event.pod.uid)
      if (++count === 10 + dirtyPods) break
    }
    expect(seen.size).toBe(pods)
    expect(engine.stats().channelDepth).toBe(0)
  })

  it('one pod whose status hangs is named, and holds up nobody', async () => {
    await start()
    await atRest()
    const [pod] = [...engine.cache.list()]
    const container = pod!.status.containers[0]!
    sim.faults.set({ call: 'ContainerStatus', id: container.id, kind: 'hang' })
    engine.requestReinspect(pod!.status.uid)
    await until('the call is seen', () => engine.health().inflight.some((call) => call.id === container.id))
    const call = engine.health().inflight.find((one) => one.id === container.id)!
    expect(call).toMatchObject({ call: 'ContainerStatus', pod: { uid: pod!.status.uid, name: pod!.status.name } })
    await churn(50)
    await until('others go on', () => events.some((event) => event.type === 'ContainerDied'))
    expect(engine.health().ok).toBe(true)
  })

  it('answers getNewerThan from a list that began after it was asked', async () => {
    await start()
    await atRest()
    const { status } = [...engine.cache.list()][0]!
    const { id } = status.containers[0]!
    await sim.call('StopContainer', { container_id: id, timeout: '0' })
    const after = await engine.cache.getNewerThan(status.uid, systemClock.now(), 5000)
    expect(after.status.containers.find((one) => one.id === id)).toMatchObject({ state: 'exited' })
    const never = engine.cache.getNewerThan(status.uid, systemClock.now() + 1e9, 50)
    await expect(never).rejects.toMatchObject({ code: 'CACHE_TIMEOUT' })
  })

  it('a relist on demand finds a change long before the next full one', async () => {
    await start({ relistPeriodMs: 300_000 })
    await until(
      'all are inspected',
      () => engine.cache.size === pods && [...engine.cache.list()].every((pod) => pod.status.inspected),
    )
    const { relists } = engine.stats()
    const { status } = [...engine.cache.list()][0]!
    const { id } = status.containers[0]!
    await sim.call('StopContainer', { container_id: id, timeout: '0' })
    const asked = systemClock.now()
    engine.requestRelist(status.uid)
    const after = await engine.cache.getNewerThan(status.uid, asked, 20_000)
    expect(after.status.containers.find((one) => one.id === id)).toMatchObject({ state: 'exited' })
    // The cache is written first, its event follows.
    await until('the event is delivered', () => events.some((event) => event.type === 'ContainerDied'))
    expect(events.filter((event) => event.type === 'ContainerDied').map((event) => event.id)).toEqual([id])
    expect(engine.stats().relists).toBe(relists)
    expect(engine.stats().podRelistDuration.count).toBe(1)
  })

  it('a failing status call makes its pod degraded and no other', async () => {
    await start()
    await atRest()
    const { status } = [...engine.cache.list()][0]!
    sim.faults.set({ call: 'PodSandboxStatus', id: status.sandboxes[0]!.id, kind: 'error', code: 13, message: 'no' })
    engine.requestReinspect(status.uid)
    await until('it is degraded', () => engine.health().verdict === 'degraded')
    const health = engine.health()
    expect(health.ok).toBe(true)
    expect(health.degraded).toMatchObject([
      { pod: { uid: status.uid }, call: 'PodSandboxStatus', lastError: 'CRI_INTERNAL: no' },
    ])
    sim.faults.clear()
    await until('it is healthy', () => engine.health().verdict === 'healthy')
  })
})

interface Internals {
  readonly bell: { ring(): void }
  /** In whatever order piscina made them. */
  readonly pool: { readonly threads: Worker[] }
  readonly shards: { outboxMemory: SharedArrayBuffer; restarts: number; alive: boolean }[]
}

function internals(engine: Engine): Internals {
  return (engine as unknown as { threads: Internals }).threads
}
