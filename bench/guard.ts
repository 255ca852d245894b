import { type BlockSpec, contenders } from './block.js'
import { endBySignal } from './cleanup.js'
import { faults } from './faults.js'
import { blockSections } from './report/tables.js'
import { runBlocks } from './run.js'

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

endBySignal()
const measured = await runBlocks(blocks)
for (const { title, text } of blockSections(measured)) process.stdout.write(`${title}\n${text}\n`)
const broken = measured.flatMap(faults)
for (const fault of broken) process.stderr.write(`error: ${fault}\n`)
process.exitCode = broken.length === 0 ? 0 : 1
