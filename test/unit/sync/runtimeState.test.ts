import { beforeEach, describe, expect, test } from 'vitest'
import type { Runtime } from '../../../src/cri/runtime.js'
import { aggregateText, RuntimeState } from '../../../src/sync/runtimeState.js'
import { pollRuntimeStatus } from '../../../src/sync/statusPoller.js'
import { FakeClock } from '../../support/fakeClock.js'
import { RecordingLogger } from '../../support/recordingLogger.js'
import { healthOf } from '../../support/stats.js'

let clock: FakeClock
let health = healthOf()
let state: RuntimeState
const texts = () => state.problems().map(({ message }) => message)

beforeEach(() => {
  clock = new FakeClock()
  health = healthOf()
  state = new RuntimeState(clock, () => health)
})

describe('runtimeErrors', () => {
  test('before the first status', () => {
    expect(texts()).toEqual(['container runtime status check may not have completed yet'])
    state.statusAnswered('', '')
    expect(texts()).toEqual([])
  })

  test('down from 30 s without a good answer on', async () => {
    health = healthOf({ ok: false, message: 'pleg has yet to be successful', lastSeenMs: null })
    state.statusAnswered('', '')
    await clock.advance(29_999)
    expect(texts()).toEqual(['PLEG is not healthy: pleg has yet to be successful'])
    await clock.advance(1)
    expect(aggregateText(state.problems())).toBe(
      '[container runtime is down, PLEG is not healthy: pleg has yet to be successful]',
    )
  })

  test('a list that came back proves that the runtime is up', async () => {
    state.statusAnswered('', '')
    health = healthOf({ lastSeenMs: 500 })
    await clock.advance(120_000)
    expect(texts()).toEqual([])
    health = healthOf({ lastSeenMs: 30_000 })
    expect(texts()).toEqual(['container runtime is down'])
  })

  test('one is bare, in the kubelet’s words', () => {
    state.statusAnswered('', '')
    health = healthOf({ ok: false, message: 'pleg was last seen active 3m46s ago; threshold is 3m0s' })
    expect(aggregateText(state.problems())).toBe(
      'PLEG is not healthy: pleg was last seen active 3m46s ago; threshold is 3m0s',
    )
  })

  test('a runtime that says it is not ready does not count as seen', async () => {
    state.statusAnswered('RuntimeReady=false reason:Stopping message:bye', '')
    expect(texts()).toEqual([
      'container runtime status check may not have completed yet',
      'container runtime not ready: RuntimeReady=false reason:Stopping message:bye',
    ])
  })
})

describe('the status poll', () => {
  const condition = (type: string, status: boolean, reason = '', message = '') => ({ type, status, reason, message })
  const answer = (...conditions: object[]) => ({ status: { conditions } })

  async function poll(answers: (() => Promise<Record<string, unknown>>)[], ms: number): Promise<RecordingLogger> {
    const logger = new RecordingLogger()
    const stop = new AbortController()
    let call = 0
    const runtime: Pick<Runtime, 'call'> = {
      call: () => (answers[Math.min(call++, answers.length - 1)] ?? (() => Promise.reject(new Error('none'))))(),
    }
    const done = pollRuntimeStatus(runtime, state, clock, logger, stop.signal)
    await clock.advance(ms)
    stop.abort()
    await done
    return logger
  }

  test('ready', async () => {
    await poll([async () => answer(condition('RuntimeReady', true), condition('NetworkReady', true))], 0)
    expect([texts(), state.networkProblem]).toEqual([[], ''])
  })

  test('a network that is not ready does not stop the loop', async () => {
    const logger = await poll(
      [async () => answer(condition('RuntimeReady', true), condition('NetworkReady', false, 'CNI', 'no plugin'))],
      20_000,
    )
    expect(texts()).toEqual([])
    expect(state.networkProblem).toBe(
      'container runtime network not ready: NetworkReady=false reason:CNI message:no plugin',
    )
    expect(logger.seen('Container runtime network not ready')).toHaveLength(1)
  })

  test('a missing condition is a false one', async () => {
    await poll([async () => answer()], 0)
    expect(texts().at(-1)).toMatch(/^container runtime not ready: RuntimeReady=false reason:ConditionMissing/)
  })

  test('failures are told once a minute, and the next good answer counts', async () => {
    const fail = () => Promise.reject(new Error('connection refused'))
    const good = async () => answer(condition('RuntimeReady', true), condition('NetworkReady', true))
    const logger = await poll([fail, fail, fail, good], 15_000)
    expect(logger.seen('Container runtime sanity check failed').map(({ fields }) => fields['err'])).toEqual([
      'connection refused',
    ])
    expect(texts()).toEqual([])
  })

  test('an answer of any shape is survived', async () => {
    for (const odd of [{}, { status: null }, { status: { conditions: 5 } }, { status: { conditions: [{}] } }]) {
      await poll([async () => odd], 0)
      expect(texts().at(-1)).toMatch(/ConditionMissing/)
    }
  })
})
