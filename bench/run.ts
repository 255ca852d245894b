import { systemClock } from '../src/model/clock.js'
import type { Block, BlockSpec, ContenderName } from './block.js'
import { milliseconds } from './report/format.js'
import { ownEngine, runBlock } from './runBlock.js'
import { blockId } from './summary.js'

/** The contenders that this machine has: the kubelet's where PLEGD_BENCH_KUBELET names its bench. */
export function availableContenders(): ContenderName[] {
  const kubelet: ContenderName[] = process.env['PLEGD_BENCH_KUBELET'] ? ['kubelet'] : []
  return ['plegd', 'floor', 'plain', ...kubelet]
}

/** Runs blocks one after another, and says on stderr how far it is. */
export async function runBlocks(specs: readonly BlockSpec[], engineFile = ownEngine): Promise<Block[]> {
  const blocks: Block[] = []
  for (const [i, spec] of specs.entries()) {
    const start = systemClock.now()
    process.stderr.write(`[${i + 1}/${specs.length}] ${blockId(spec)}`)
    blocks.push(await runBlock(spec, engineFile))
    process.stderr.write(` ${milliseconds(systemClock.now() - start)}\n`)
  }
  return blocks
}
