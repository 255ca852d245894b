import { type Column, table } from '../../src/agent/table.js'
import type { Block } from '../block.js'
import { changeSpread, cpuPerRelist, relistSpread } from '../summary.js'
import { bytes, digits, mebibytes, milliseconds } from './format.js'

const who: Column<Block>[] = [
  { heading: 'CONTENDER', value: nameOf },
  { heading: 'PODS', value: ({ result }) => result.pods },
  { heading: 'CONTAINERS', value: ({ result }) => result.containers },
  { heading: 'DEAD', value: ({ spec }) => spec.dead * spec.pods * spec.containers },
]

const costs: Column<Block>[] = [
  { heading: 'CPU/RELIST', value: (block) => milliseconds(cpuPerRelist(block)) },
  { heading: 'LOOP-P99', value: ({ result }) => milliseconds(result.loopDelayP99Ms) },
  { heading: 'LOOP-MAX', value: ({ result }) => milliseconds(result.loopDelayMaxMs) },
  { heading: 'PEAK-RSS', value: ({ result }) => mebibytes(result.peakRssMiB) },
  { heading: 'JS-HEAP', value: ({ result }) => mebibytes(result.heapMiB) },
]

const relistTimes: Column<Block>[] = [
  { heading: 'RELIST-P50', value: (block) => milliseconds(relistSpread(block).p50) },
  { heading: 'P95', value: (block) => milliseconds(relistSpread(block).p95) },
  { heading: 'P99', value: (block) => milliseconds(relistSpread(block).p99) },
  { heading: 'MAX', value: (block) => milliseconds(relistSpread(block).max) },
]

const idle: Column<Block>[] = [
  ...who,
  { heading: 'LISTED', value: ({ result }) => bytes(result.bytes) },
  ...relistTimes,
  ...costs,
  { heading: 'RPCS', value: ({ result }) => digits(result.listCallsPerRelist) },
  { heading: 'ITEMS', value: ({ result }) => digits(result.itemsPerRelist) },
  { heading: 'COPIED', value: ({ result }) => bytes(result.bytesCopiedPerRelist) },
]

const churn: Column<Block>[] = [
  ...who,
  { heading: 'RESTARTS', value: ({ spec }) => spec.restarts },
  {
    heading: 'STATUS-TAKES',
    value: ({ spec }) => (spec.statusLatencyMs === 0 ? '-' : `${milliseconds(spec.statusLatencyMs)} ${spec.model}`),
  },
  { heading: 'TO-LAST-EVENT', value: (block) => milliseconds(changeSpread(block).p50) },
  { heading: 'P99', value: (block) => milliseconds(changeSpread(block).p99) },
  { heading: 'LISTS-P50', value: (block) => milliseconds(relistSpread(block).p50) },
  ...costs,
  { heading: 'EVENTS', value: ({ result }) => digits(result.events) },
  { heading: 'LOST', value: ({ result }) => digits(result.eventsLost) },
  { heading: 'STATUS-RPCS', value: ({ result }) => digits(result.statusCallsPerRelist) },
]

const start: Column<Block>[] = [
  ...who,
  { heading: 'THREADS-UP', value: ({ result }) => milliseconds(result.cold?.threadsMs ?? null) },
  { heading: 'LIST-VIEW', value: ({ result }) => milliseconds(result.cold?.listViewMs ?? null) },
  { heading: 'FIRST-EVENT', value: ({ result }) => milliseconds(result.cold?.firstEventMs ?? null) },
  { heading: 'ALL-INSPECTED', value: ({ result }) => milliseconds(result.cold?.inspectedMs ?? null) },
]

export interface Section {
  readonly title: string
  readonly text: string
}

/** The tables of a run: nothing changed, containers restarted, the first relist after a start. */
export function blockSections(blocks: readonly Block[]): Section[] {
  const of = (kind: Block['spec']['kind']) => blocks.filter(({ spec }) => spec.kind === kind)
  // A peer's start is that of its idle block: it takes long enough once.
  const starts = blocks.filter(
    ({ spec }) => spec.kind === (spec.contender === 'plegd' ? 'cold' : 'idle') && spec.contender !== 'floor',
  )
  return [
    { title: 'Nothing changed, per relist', text: table(idle, of('idle')) },
    { title: 'Containers restarted before each relist', text: table(churn, of('churn')) },
    { title: 'First relist after a start', text: table(start, starts) },
  ].filter((_, i) => [of('idle'), of('churn'), starts][i]!.length > 0)
}

function nameOf({ spec, elsewhere }: Block): string {
  const { contender, transport, shards, inspectConcurrency } = spec
  const said = [
    elsewhere ? 'measured elsewhere' : null,
    transport,
    shards === null ? null : `shards=${shards}`,
    inspectConcurrency === null ? null : `limit=${inspectConcurrency}`,
  ].filter((part) => part !== null)
  return said.length === 0 ? contender : `${contender} (${said.join(', ')})`
}
