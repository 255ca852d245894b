import { expect, it } from 'vitest'
import { deadlineOf } from '../../../src/cri/deadline.js'
import type { PlainMessage, UnaryCall } from '../../../src/cri/runtime.js'

const cases: [UnaryCall, PlainMessage, number][] = [
  ['Version', {}, 1000],
  ['Version', { timeout: 5 }, 1000],
  ['RunPodSandbox', {}, 2000],
  ['StopContainer', { timeout: 30 }, 31_000],
  ['StopContainer', { timeout: '30' }, 31_000],
  ['StopContainer', {}, 1000],
  ['StopContainer', { timeout: -1 }, 1000],
  ['StopContainer', { timeout: 'soon' }, 1000],
  ['ExecSync', { timeout: '2' }, 3000],
]

it.each(cases)('%s %j may take %i ms', (call, request, ms) => {
  expect(deadlineOf(call, request, 1000, {})).toBe(ms)
})

it('what the caller says holds', () => {
  expect(deadlineOf('RunPodSandbox', {}, 1000, { deadlineMs: 5 })).toBe(5)
  expect(deadlineOf('StopContainer', { timeout: 30 }, 1000, { deadlineMs: 0 })).toBe(0)
})
