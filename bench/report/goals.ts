import { table } from '../../src/agent/table.js'
import type { Block } from '../block.js'
import { changeSpread, cpuPerRelist, relistSpread, sameLoad } from '../summary.js'
import { digits, mebibytes, milliseconds } from './format.js'
import type { Section } from './tables.js'

/** One goal held against what a run measured. `reason`: what stands in the way, from the same run. */
interface Goal {
  readonly goal: string
  readonly at: string
  readonly wanted: string
  readonly measured: string
  readonly met: boolean
  readonly reason: string
}

const ratioFrom = 1000

/** What plegd must reach (per relist, whole process), as far as the run has measured what it takes to say. */
export function goalsSection(blocks: readonly Block[]): Section | null {
  const goals = blocks.flatMap((block) => (block.spec.contender === 'plegd' ? goalsOf(block, blocks) : []))
  if (goals.length === 0) return null
  const text = table(
    [
      { heading: 'GOAL', value: ({ goal }) => goal },
      { heading: 'AT', value: ({ at }) => at },
      { heading: 'WANTED', value: ({ wanted }) => wanted },
      { heading: 'MEASURED', value: ({ measured }) => measured },
      { heading: 'MET', value: ({ met }) => (met ? 'yes' : 'no') },
      { heading: 'REASON', value: ({ met, reason }) => (met ? '' : reason) },
    ],
    goals,
  )
  return { title: 'Goals', text }
}

function goalsOf(block: Block, blocks: readonly Block[]): Goal[] {
  const { spec, result } = block
  // What another machine took says nothing about a ratio.
  const here = blocks.filter(({ elsewhere }) => !elsewhere)
  const same = (contender: string) =>
    here.find((other) => other.spec.contender === contender && sameLoad(other.spec, spec))
  const goals: Goal[] = []
  const at = `${spec.pods} pods`
  const below = (goal: string, value: number | null, most: number, unit: (value: number) => string, reason: string) => {
    if (value === null || Number.isNaN(value)) return
    goals.push({ goal, at, wanted: `at most ${unit(most)}`, measured: unit(value), met: value <= most, reason })
  }
  const times = (goal: string, mine: number, theirs: number, least: number, reason: string) => {
    const ratio = theirs / mine
    const measured = `${digits(ratio)} (${milliseconds(mine)} to ${milliseconds(theirs)})`
    goals.push({ goal, at, wanted: `at least ${least} times`, measured, met: ratio >= least, reason })
  }
  const kubelet = same('kubelet')
  if (spec.kind === 'idle') {
    const floor = same('floor')
    if (kubelet !== undefined && spec.pods >= ratioFrom) {
      times('less CPU than the kubelet, idle', cpuPerRelist(block), cpuPerRelist(kubelet), 40, floorCpu(floor))
      const [mine, theirs] = [relistSpread(block).p50, relistSpread(kubelet).p50]
      times('less time than the kubelet, idle', mine, theirs, 20, floorTime(floor))
    }
    if (spec.pods <= 110) {
      below('CPU of a small node', cpuPerRelist(block), 2, milliseconds, floorCpu(floor))
      below(
        'memory of a small node',
        result.peakRssMiB,
        110,
        mebibytes,
        `${mebibytes(result.heapMiB)} are objects, the rest is Node with its threads`,
      )
    }
    if (spec.pods >= 100_000) {
      below('idle relist within the period', relistSpread(block).p99, 1000, milliseconds, floorTime(floor))
      const own = result.heapMiB === null ? null : result.peakRssMiB - result.heapMiB
      below(
        "memory without the cache's objects",
        own,
        300,
        mebibytes,
        `${mebibytes(result.heapMiB)} more are the cache's`,
      )
    }
  }
  if (spec.kind === 'churn') {
    const lists = milliseconds(relistSpread(block).p50)
    const statuses = `lists ${lists}, then ${digits(result.statusCallsPerRelist)} status calls, each decoded, carried and merged`
    if (spec.statusLatencyMs === 5 && spec.restarts === 100 && spec.model === 'independent') {
      below('100 changed pods, 5 ms a status', changeSpread(block).p50, 60, milliseconds, statuses)
    } else if (spec.statusLatencyMs === 0) {
      if (kubelet !== undefined && spec.pods >= ratioFrom) {
        const [mine, theirs] = [changeSpread(block).p50, changeSpread(kubelet).p50]
        times('less time than the kubelet, churn', mine, theirs, 15, statuses)
        times('less CPU than the kubelet, churn', cpuPerRelist(block), cpuPerRelist(kubelet), 15, statuses)
      }
      if (spec.pods === 10_000) {
        const merging = `${spec.restarts} pods a relist are unpacked and cached here`
        below('main-thread delay p99', result.loopDelayP99Ms, 5, milliseconds, merging)
        below('main-thread pause', result.loopDelayMaxMs, 20, milliseconds, merging)
      }
    }
  }
  if (spec.kind === 'cold' && spec.pods === 10_000 && result.cold !== null) {
    below(
      'list view after a start',
      result.cold.listViewMs,
      300,
      milliseconds,
      'every item is new: decoded, carried, cached',
    )
    below(
      'all inspected after a start',
      result.cold.inspectedMs,
      3000,
      milliseconds,
      'a status call for each sandbox and container',
    )
  }
  return goals
}

function floorCpu(floor: Block | undefined): string {
  return floor === undefined
    ? 'no floor measured'
    : `reading the same bytes and looking at none: ${milliseconds(cpuPerRelist(floor))}`
}

function floorTime(floor: Block | undefined): string {
  return floor === undefined
    ? 'no floor measured'
    : `reading the same bytes and looking at none: ${milliseconds(relistSpread(floor).p50)}`
}
