import { type Block, type BlockSpec, contenders } from './block.js'
import { periodMs } from './report/headroom.js'
import { blockSections } from './report/tables.js'
import { runBlocks } from './run.js'
import { blockId, relistSpread } from './summary.js'

const base = {
  contender: contenders[0],
  server: 'sim',
  containers: 2,
  dead: 0,
  statusLatencyMs: 0,
  model: 'independent',
  inspectConcurrency: null,
  shards: null,
  transport: null,
  seed: 1,
} as const satisfies Partial<BlockSpec>

/** A pause after each relist, so that what is counted at its end is of this one. */
const pauseMs = 100
const blocks: readonly BlockSpec[] = [
  { ...base, kind: 'idle', pods: 110, restarts: 0, periodMs: pauseMs, warmup: 3, laps: 1, relists: 10 },
  { ...base, kind: 'churn', pods: 1000, restarts: 20, periodMs: 2 * pauseMs, warmup: 3, laps: 1, relists: 10 },
  { ...base, kind: 'idle', pods: 5000, restarts: 0, periodMs: pauseMs, warmup: 5, laps: 1, relists: 30 },
]

/** What holds on any machine. Returns what does not. */
function faults(block: Block): string[] {
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

const measured = await runBlocks(blocks)
for (const { title, text } of blockSections(measured)) process.stdout.write(`${title}\n${text}\n`)
const broken = measured.flatMap(faults)
for (const fault of broken) process.stderr.write(`error: ${fault}\n`)
process.exitCode = broken.length === 0 ? 0 : 1
