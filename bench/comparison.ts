import { table } from '../src/agent/table.js'
import type { Block } from './block.js'
import { median } from './quantile.js'
import { digits, milliseconds } from './report/format.js'
import type { Micro, Report } from './report/report.js'
import type { Section } from './report/tables.js'
import { blockId } from './summary.js'
import { judge, type Verdict } from './verdict.js'

interface Metric {
  readonly name: string
  /** One value a lap. */
  readonly of: (block: Block) => readonly number[]
}

const metrics: readonly Metric[] = [
  { name: 'relist', of: ({ result }) => result.laps.map((lap) => median(lap.relistMs)) },
  {
    name: 'to last event',
    of: ({ result }) => result.laps.filter((lap) => lap.changeMs.length > 0).map((lap) => median(lap.changeMs)),
  },
  { name: 'CPU', of: ({ result }) => result.laps.map((lap) => lap.cpuMs) },
]

export interface Compared extends Verdict {
  readonly id: string
  readonly metric: string
  readonly before: number
  readonly after: number
}

type Measured = Pick<Report, 'blocks' | 'micro'>

/** Everything that both runs have measured. */
export function compareReports(before: Measured, after: Measured): Compared[] {
  const rows: Compared[] = []
  const add = (id: string, metric: string, old: readonly number[], now: readonly number[]) => {
    if (old.length === 0 || now.length === 0) return
    rows.push({ id, metric, before: median(old), after: median(now), ...judge(old, now) })
  }
  const blocks = new Map(before.blocks.map((block) => [blockId(block.spec), block]))
  for (const block of after.blocks) {
    const old = blocks.get(blockId(block.spec))
    if (old !== undefined) for (const { name, of } of metrics) add(blockId(block.spec), name, of(old), of(block))
  }
  const micro = new Map(before.micro.map((bench) => [bench.id, bench]))
  for (const { id, rounds } of after.micro) add(id, 'time', micro.get(id)?.rounds.map(toMs) ?? [], rounds.map(toMs))
  return rows
}

const toMs = (ns: Micro['rounds'][number]) => ns / 1e6

export function comparisonSection(rows: readonly Compared[]): Section {
  const text = table(
    [
      { heading: 'BENCH', value: ({ id }) => id },
      { heading: 'METRIC', value: ({ metric }) => metric },
      { heading: 'BEFORE', value: ({ before }) => milliseconds(before) },
      { heading: 'AFTER', value: ({ after }) => milliseconds(after) },
      { heading: 'RATIO', value: ({ ratio }) => digits(ratio) },
      {
        heading: '95%-INTERVAL',
        value: ({ low, high }) => (Number.isNaN(low) ? '-' : `${digits(low)} to ${digits(high)}`),
      },
      { heading: 'VERDICT', value: ({ verdict }) => verdict },
    ],
    rows,
  )
  return { title: 'Compared', text }
}
