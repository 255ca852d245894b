import { table } from '../../src/agent/table.js'
import { median, quantile } from '../quantile.js'
import { digits } from '../report/format.js'
import type { Micro } from '../report/report.js'
import type { Section } from '../report/tables.js'
import { type MicroBench, runMicro } from './bench.js'
import { codecBenches } from './codec.js'
import { diffBenches } from './diff.js'
import { listed } from './listed.js'
import { ringBenches } from './ring.js'
import { scanBenches } from './scan.js'
import { tableBenches } from './table.js'

const pods = 10_000

async function allBenches(): Promise<MicroBench[]> {
  const [sandboxes, containers] = await listed(pods)
  return [
    ...scanBenches([sandboxes, containers]),
    ...tableBenches(containers),
    ...diffBenches(containers),
    ...ringBenches(),
    ...(await codecBenches()),
  ]
}

export const runAllMicro = async (): Promise<Micro[]> => runMicro(await allBenches())

export function microSection(micro: readonly Micro[]): Section | null {
  if (micro.length === 0) return null
  const text = table(
    [
      { heading: 'BENCH', value: ({ id }) => id },
      { heading: 'NS/OPERATION', value: ({ rounds }) => digits(median(rounds)) },
      { heading: 'FASTEST-ROUND', value: ({ rounds }) => digits(quantile(rounds, 0)) },
      { heading: 'SLOWEST', value: ({ rounds }) => digits(quantile(rounds, 1)) },
    ],
    micro,
  )
  return { title: 'Parts (each named in the code that it justifies)', text }
}
