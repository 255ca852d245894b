import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PodLifecycleEvent, PodLifecycleEventType } from '../../../src/model/event.js'
import type { PodRef } from '../../../src/model/pod.js'
import { SyncLoop } from '../../../src/sync/loop.js'
import { ReportingHandler } from '../../../src/sync/reporting.js'
import type { RuntimeProblem } from '../../../src/sync/runtimeState.js'
import { FakeClock } from '../../support/fakeClock.js'
import { RecordingLogger } from '../../support/recordingLogger.js'

const podOf = (n: number): PodRef => ({ uid: `uid-${n}`, namespace: 'ns', name: `pod-${n}` })
const eventOf = (n: number, type: PodLifecycleEventType = 'ContainerStarted'): PodLifecycleEvent => ({
  type,
  pod: podOf(n),
  kind: 'container',
  id: `c-${n}`,
  name: 'web',
  time: 0,
})

/** An events iterator that a test fills. */
class Feed implements AsyncIterator<PodLifecycleEvent> {
  private readonly queue: PodLifecycleEvent[] = []
  private waiting: ((result: IteratorResult<PodLifecycleEvent>) => void) | undefined
  taken = 0

  push(...events: PodLifecycleEvent[]): void {
    this.queue.push(...events)
    this.serve()
  }

  next(): Promise<IteratorResult<PodLifecycleEvent>> {
    return new Promise((resolve) => {
      this.waiting = resolve
      this.serve()
    })
  }

  private serve(): void {
    const value = this.waiting === undefined ? undefined : this.queue.shift()
    if (value === undefined) return
    this.taken++
    const resolve = this.waiting
    this.waiting = undefined
    resolve?.({ done: false, value })
  }
}

class Recorder extends ReportingHandler {
  readonly calls: string[] = []
  ready = true
  housekeeping: () => Promise<void> = async () => {}
  due: PodRef[] = []
  override knows = () => true
  private note(what: string, pods: readonly PodRef[]): void {
    this.calls.push(`${what} ${pods.map(({ name }) => name).join(',')}`)
  }
  override onAdditions = (pods: readonly PodRef[]) => this.note('add', pods)
  override onUpdates = (pods: readonly PodRef[]) => this.note('update', pods)
  override onRemoves = (pods: readonly PodRef[]) => this.note('remove', pods)
  override onReconcile = (pods: readonly PodRef[]) => this.note('reconcile', pods)
  override onSyncs = (pods: readonly PodRef[]) => this.note('sync', pods)
  override onContainerDied = ({ pod }: PodLifecycleEvent) => this.note('died', [pod])
  override onProbe = ({ pod }: { pod: PodRef }) => this.note('probe', [pod])
  override duePods = () => this.due
  override sourcesReady = () => this.ready
  override onHousekeeping = () => {
    this.calls.push('housekeeping')
    return this.housekeeping()
  }
}

let clock: FakeClock
let logger: RecordingLogger
let feed: Feed
let handler: Recorder
let problems: RuntimeProblem[]
let loop: SyncLoop
let stop: AbortController
let ended: Promise<void>

beforeEach(() => {
  clock = new FakeClock()
  logger = new RecordingLogger()
  feed = new Feed()
  handler = new Recorder(logger)
  problems = []
  stop = new AbortController()
  loop = new SyncLoop({ handler, events: feed, problems: () => problems, clock, logger })
  ended = loop.run(stop.signal)
})

afterEach(async () => {
  stop.abort()
  await ended
  expect(clock.pending, 'timers left').toBe(0)
})

describe('dispatch', () => {
  test('config updates by operation', async () => {
    for (const op of ['ADD', 'UPDATE', 'DELETE', 'REMOVE', 'RECONCILE'] as const) {
      await loop.updates.put({ op, source: 'file', pods: [podOf(1)] })
    }
    await clock.advance(0)
    expect(handler.calls).toEqual(['add pod-1', 'update pod-1', 'update pod-1', 'remove pod-1', 'reconcile pod-1'])
    expect(logger.seen('SyncLoop ADD')).toMatchObject([{ v: 2, fields: { source: 'file', pods: ['ns/pod-1'] } }])
    expect(logger.seen('SyncLoop RECONCILE', 2)).toEqual([])
  })

  test('every PLEG event but ContainerRemoved syncs its pod; a death is told besides', async () => {
    feed.push(eventOf(1), eventOf(2, 'ContainerDied'), eventOf(3, 'ContainerRemoved'), eventOf(4, 'PodSync'))
    await clock.advance(0)
    expect(handler.calls).toEqual(['sync pod-1', 'sync pod-2', 'died pod-2', 'sync pod-4'])
    expect(logger.seen('SyncLoop (PLEG): event for pod')[0]?.fields).toEqual({
      pod: podOf(1),
      event: { ID: 'uid-1', Type: 'ContainerStarted', Data: 'c-1' },
    })
  })

  test('events of pods that nobody knows are ignored', async () => {
    handler.knows = () => false
    feed.push(eventOf(1))
    await clock.advance(0)
    expect(handler.calls).toEqual([])
    expect(logger.seen('SyncLoop (PLEG): pod does not exist, ignore irrelevant event', 4)).toHaveLength(1)
  })

  test('probes: a good liveness changes nothing', async () => {
    for (const [probe, success] of [
      ['liveness', true],
      ['liveness', false],
      ['readiness', true],
      ['startup', false],
    ] as const) {
      await loop.probes.put({ probe, success, pod: podOf(1), containerId: 'c' })
    }
    await clock.advance(0)
    expect(logger.seen('SyncLoop (probe)').map(({ fields }) => [fields['probe'], fields['status']])).toEqual([
      ['liveness', 'unhealthy'],
      ['readiness', 'ready'],
      ['startup', 'unhealthy'],
    ])
    expect(handler.calls.filter((call) => call.startsWith('sync'))).toHaveLength(3)
  })

  test('ticks: due pods each second, housekeeping each two', async () => {
    handler.due = [podOf(7)]
    await clock.advance(6_000)
    expect(handler.calls.filter((call) => call === 'sync pod-7')).toHaveLength(6)
    expect(handler.calls.filter((call) => call === 'housekeeping')).toHaveLength(3)
  })

  test('no housekeeping before the sources are ready', async () => {
    handler.ready = false
    await clock.advance(4_000)
    expect(handler.calls).not.toContain('housekeeping')
    expect(logger.seen("SyncLoop (housekeeping, skipped): sources aren't ready yet", 4)).toHaveLength(2)
  })

  test('sources take turns: a burst of events does not starve updates', async () => {
    feed.push(...Array.from({ length: 100 }, (_, n) => eventOf(n)))
    await loop.updates.put({ op: 'ADD', source: 'file', pods: [podOf(999)] })
    await clock.advance(0)
    expect(handler.calls.indexOf('add pod-999')).toBeLessThan(3)
    expect(handler.calls).toHaveLength(101)
  })
})

test('two full queues are served in turns', async () => {
  problems = [{ kind: 'down', message: 'x' }]
  await clock.advance(1_000)
  for (let n = 0; n < 20; n++) {
    await loop.updates.put({ op: 'ADD', source: 'file', pods: [podOf(n)] })
    await loop.probes.put({ probe: 'readiness', success: true, pod: podOf(n), containerId: 'c' })
  }
  problems = []
  await clock.advance(5_000)
  const served = handler.calls.filter((call) => /^(add|probe)/.test(call)).map((call) => call.split(' ')[0])
  expect(served).toHaveLength(40)
  expect(served.slice(0, 8).filter((what) => what === 'add')).toHaveLength(4)
})

describe('the health gate', () => {
  const pleg: RuntimeProblem = {
    kind: 'pleg',
    message: 'PLEG is not healthy: pleg was last seen active 3m46s ago; threshold is 3m0s',
  }
  const down: RuntimeProblem = { kind: 'down', message: 'container runtime is down' }
  const skips = (v = 2) => logger.seen('Skipping pod synchronization', v)

  /** The gate is asked between iterations: one tick lets it see what changed. */
  async function shut(...now: RuntimeProblem[]): Promise<void> {
    problems = now
    await clock.advance(1_000)
  }

  test('takes nothing while shut, and everything afterwards', async () => {
    await shut(pleg)
    const before = feed.taken
    feed.push(...Array.from({ length: 50 }, (_, n) => eventOf(n)))
    await loop.updates.put({ op: 'ADD', source: 'file', pods: [podOf(1)] })
    await clock.advance(600_000)
    expect(handler.calls.filter((call) => call !== 'housekeeping')).toEqual([])
    expect(feed.taken - before).toBeLessThanOrEqual(1)
    problems = []
    await clock.advance(5_000)
    expect(handler.calls.filter((call) => call.startsWith('sync'))).toHaveLength(50)
    expect(handler.calls).toContain('add pod-1')
  })

  test('backs off from 100 ms, doubling, to 5 s, and starts anew after a success', async () => {
    const asked: number[] = []
    const seen = () => {
      asked.push(clock.now())
      return [pleg]
    }
    const controller = new AbortController()
    const other = new SyncLoop({ handler, events: new Feed(), problems: seen, clock, logger })
    const run = other.run(controller.signal)
    await clock.advance(20_000)
    controller.abort()
    await run
    expect(asked.slice(0, 9)).toEqual([0, 100, 300, 700, 1_500, 3_100, 6_300, 11_300, 16_300])
  })

  test('one line a change and one a minute, in the kubelet’s words', async () => {
    await shut(pleg)
    await clock.advance(600_000)
    expect(skips()[0]).toMatchObject({ severity: 'error', fields: { err: pleg.message } })
    expect(skips().length).toBeGreaterThanOrEqual(10)
    expect(skips().length).toBeLessThanOrEqual(11)
    expect(skips(4).length).toBeGreaterThan(110)
  })

  test('several reasons are one aggregate, and a moving age is no change', async () => {
    await shut(down, pleg)
    problems = [down, { ...pleg, message: pleg.message.replace('46', '47') }]
    await clock.advance(10_000)
    expect(skips().map(({ fields }) => fields['err'])).toEqual([`[${down.message}, ${pleg.message}]`])
    problems = [down]
    await clock.advance(10_000)
    expect(skips().at(-1)?.fields['err']).toBe('container runtime is down')
    expect(skips()).toHaveLength(2)
    problems = []
    await clock.advance(5_000)
    expect(logger.seen('Resuming pod synchronization')).toHaveLength(1)
    expect(loop.stats().skippingSeconds).toBe(0)
  })

  test('a shut gate is no hung loop', async () => {
    await shut(pleg)
    await clock.advance(1_200_000)
    expect(loop.healthCheck()).toBe('')
    expect(loop.stats().skippingSeconds).toBeGreaterThan(1_190)
  })
})

describe('housekeeping', () => {
  test('does not hold up updates (kubernetes#98607)', async () => {
    let end = () => {}
    handler.housekeeping = () =>
      new Promise((resolve) => {
        end = resolve
      })
    await clock.advance(2_000)
    expect(handler.calls).toEqual(['housekeeping'])
    for (let n = 0; n < 100; n++) await loop.updates.put({ op: 'ADD', source: 'api', pods: [podOf(n)] })
    await clock.advance(0)
    expect(handler.calls.filter((call) => call.startsWith('add'))).toHaveLength(100)

    await clock.advance(28_000)
    expect(
      handler.calls.filter((call) => call === 'housekeeping'),
      'never two at a time',
    ).toHaveLength(1)
    expect(loop.stats().housekeepingSeconds).toBe(28)
    end()
    await clock.advance(0)
    expect(logger.seen('Housekeeping took longer than expected')).toMatchObject([
      { severity: 'error', fields: { expected: '1s', actual: '28s' } },
    ])
  })

  test('a failing pass is told and the next one runs', async () => {
    handler.housekeeping = () => Promise.reject(new Error('no'))
    await clock.advance(4_000)
    expect(logger.seen('Failed cleaning pods').map(({ fields }) => fields['err'])).toEqual(['no', 'no'])
  })
})

describe('the update channel', () => {
  test('holds 50; the next put waits', async () => {
    problems = [{ kind: 'down', message: 'x' }]
    await clock.advance(1_000)
    let put = 0
    const producer = (async () => {
      for (let n = 0; n < 60; n++) if (await loop.updates.put({ op: 'ADD', source: 's', pods: [podOf(n)] })) put++
    })()
    await clock.advance(0)
    expect([put, loop.stats().configDepth]).toEqual([50, 50])
    problems = []
    await clock.advance(5_000)
    await producer
    expect(handler.calls.filter((call) => call.startsWith('add'))).toHaveLength(60)
  })

  test('closed, it ends the loop', async () => {
    loop.updates.close()
    await clock.advance(0)
    await ended
    expect(logger.seen('Update channel is closed, exiting the sync loop')).toHaveLength(1)
  })
})
