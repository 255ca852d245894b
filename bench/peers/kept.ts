import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from '../block.js'
import { type Machine, packageRoot } from '../machine.js'

/** What the kubelet's PLEG took on another machine, for those who have no Go. */
interface Kept {
  readonly kubernetes: string
  readonly machine: Machine
  readonly blocks: readonly Block[]
}

const file = join(packageRoot, 'bench/peers/kubelet.json')
/** What tools/build.sh builds the kubelet's bench from. */
const kubernetes = '1.37.2'

/** Blocks of the kubelet from another machine, each marked so. */
export function keptKubelet(): Block[] {
  const { blocks } = JSON.parse(readFileSync(file, 'utf8')) as Kept
  return blocks.map((block) => ({ ...block, elsewhere: true }))
}

export function keepKubelet(machine: Machine, blocks: readonly Block[]): void {
  const kept: Kept = { kubernetes, machine, blocks: blocks.filter(({ spec }) => spec.contender === 'kubelet') }
  writeFileSync(file, `${JSON.stringify(kept, null, 1)}\n`)
}
