import { expect, test } from 'vitest'
import { timeCalls } from '../../../src/cli/callTimes.js'
import { eventObject } from '../../../src/cli/commands/events.js'
import type { HotRuntime } from '../../../src/cri/runtime.js'
import type { PodLifecycleEvent } from '../../../src/model/event.js'
import { FakeClock } from '../../support/fakeClock.js'
import { containerStatus, sandboxStatus } from '../../support/pods.js'

const pod = { uid: 'u', namespace: 'ns', name: 'web-0' }
const time = Date.UTC(2026, 11, 1, 14, 15, 15, 525)
const json = (event: PodLifecycleEvent) => JSON.parse(JSON.stringify(eventObject(event))) as unknown

test('events as programs read them: what has no value is absent', () => {
  expect(json({ type: 'ContainerDied', pod, kind: 'container', id: 'c', name: 'web', exitCode: 0, time })).toEqual({
    type: 'ContainerDied',
    pod,
    kind: 'container',
    id: 'c',
    container: 'web',
    exitCode: 0,
    time: '2026-12-01T14:15:15.525Z',
  })
  expect(json({ type: 'ContainerStarted', pod, kind: 'sandbox', id: 's', name: '', time })).toEqual({
    type: 'ContainerStarted',
    pod,
    kind: 'sandbox',
    id: 's',
    time: '2026-12-01T14:15:15.525Z',
  })
  expect(json({ type: 'PodSync', pod, kind: 'sandbox', id: '', name: '', time })).toEqual({
    type: 'PodSync',
    pod,
    time: '2026-12-01T14:15:15.525Z',
  })
})

test('call times count failures too, and pass answers and errors on', async () => {
  const clock = new FakeClock()
  const after = <Answer>(ms: number, answer: () => Answer) =>
    new Promise<Answer>((resolve, reject) => {
      clock.after(ms, () => {
        try {
          resolve(answer())
        } catch (error) {
          reject(error)
        }
      })
    })
  const report = { mode: 'unary', items: 0, bytes: 0, largestMessage: 0 } as const
  let calls = 0
  const plain: HotRuntime = {
    endpoint: 'x',
    listPodSandboxes: () => after(10, () => report),
    listContainers: () => after(20, () => report),
    podSandboxStatus: () => after(5, () => sandboxStatus()),
    containerStatus: () =>
      after(++calls * 100, () => {
        if (calls === 2) throw new Error('gone')
        return containerStatus()
      }),
    close: async () => {},
  }
  const timed = timeCalls(plain, clock)
  const first = timed.runtime.containerStatus('a')
  await clock.advance(100)
  expect(await first).toMatchObject({ id: 'c1' })
  const second = expect(timed.runtime.containerStatus('b')).rejects.toThrow('gone')
  await clock.advance(200)
  await second
  expect(timed.calls.map(({ call, count }) => [call, count])).toEqual([
    ['ListPodSandbox', 0],
    ['ListContainers', 0],
    ['PodSandboxStatus', 0],
    ['ContainerStatus', 2],
  ])
  expect(timed.calls[3]).toMatchObject({ errors: 1, totalMs: 300, maxMs: 200 })
})
