import type { Block } from './block.js'
import { periodMs } from './report/headroom.js'
import { blockId, relistSpread } from './summary.js'

/** What holds on any machine. Returns what does not. */
export function faults(block: Block): string[] {
  const { spec, result } = block
  const found: string[] = []
  const expect = (what: string, value: number | null, wanted: number) => {
    if (value !== wanted) found.push(`${blockId(spec)}: ${what}: ${value}, not ${wanted}`)
  }
  expect('events lost', result.eventsLost, 0)
  expect('failed lists', result.failures, 0)
  if (spec.kind === 'idle') {
    expect('list calls per idle relist', result.listCallsPerRelist, 2)
    expect('status calls per idle relist', result.statusCallsPerRelist, 0)
    expect('items handed on per idle relist', result.itemsPerRelist, 0)
    expect('bytes copied per idle relist', result.bytesCopiedPerRelist, 0)
  }
  const { p99 } = relistSpread(block)
  if (!(p99 < periodMs))
    found.push(`${blockId(spec)}: relist p99 ${p99.toFixed(1)} ms, over the period of ${periodMs} ms`)
  return found
}
