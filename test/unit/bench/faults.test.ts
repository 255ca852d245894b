import { describe, expect, it } from 'vitest'
import type { BlockResult } from '../../../bench/block.js'
import { faults } from '../../../bench/faults.js'
import { anyBlock } from './anyBlock.js'

const idle = anyBlock({ kind: 'idle', pods: 5000 })
const broken = (result: Partial<BlockResult>, block = idle) =>
  faults({ ...block, result: { ...block.result, ...result } })

describe('the guard', () => {
  it('lets a block pass whose counts are what they have to be', () => {
    expect(faults(idle)).toEqual([])
    expect(faults(anyBlock({ kind: 'churn', pods: 1000 }))).toEqual([])
  })

  it.each<[string, Partial<BlockResult>, RegExp]>([
    ['an event too few or too many', { eventsLost: 1 }, /events lost: 1, not 0/],
    ['a list that failed', { failures: 1 }, /failed lists/],
    ['a third list call', { listCallsPerRelist: 2.1 }, /list calls per idle relist: 2.1, not 2/],
    ['a list call that is missing', { listCallsPerRelist: 1 }, /list calls/],
    ['a status call', { statusCallsPerRelist: 0.1 }, /status calls/],
    ['an unchanged item that was handed on', { itemsPerRelist: 1 }, /items handed on/],
    ['a byte that was copied', { bytesCopiedPerRelist: 1 }, /bytes copied/],
    ['a relist over the period', { laps: [{ relistMs: [3, 1000], changeMs: [], cpuMs: 1 }] }, /over the period/],
    ['no relist at all', { laps: [] }, /over the period/],
  ])('finds %s', (_, result, message) => {
    expect(broken(result)).toEqual([expect.stringMatching(message)])
  })

  it('does not ask of churn what only an idle node can give', () => {
    expect(broken({ itemsPerRelist: 40, statusCallsPerRelist: 80 }, anyBlock({ kind: 'churn', pods: 1000 }))).toEqual(
      [],
    )
  })
})
