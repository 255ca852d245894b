import { table } from '../../src/agent/table.js'
import type { Block } from '../block.js'
import { crossing, type Fit, fitLine } from '../fit.js'
import { changeSpread, isUsual, relistSpread } from '../summary.js'
import { digits, milliseconds, percent } from './format.js'
import type { Section } from './tables.js'

/** kubelet pleg/generic.go: relistPeriod and relistThreshold, ms. */
export const periodMs = 1000
export const thresholdMs = 180_000
/** Two points always lie on a line. */
const leastSizes = 3

/** How far relists are from the kubelet's period and health threshold, and at how many pods they would reach them. */
export function headroomSection(blocks: readonly Block[]): Section | null {
  const rows = ['plegd', 'plain', 'kubelet'].flatMap((contender) =>
    (['idle', 'churn'] as const).flatMap((kind) => {
      const mine = blocks.filter(({ spec }) => spec.contender === contender && spec.kind === kind && isUsual(spec))
      const largest = mine.at(-1)
      if (largest === undefined) return []
      const p99 = (block: Block) => (kind === 'churn' ? changeSpread(block) : relistSpread(block)).p99
      const fit = fitLine(mine.map((block) => ({ x: block.result.pods, y: p99(block) })))
      const name = largest.elsewhere ? `${contender} (measured elsewhere)` : contender
      return [{ name, kind, pods: largest.result.pods, p99: p99(largest), fit, sizes: mine.length }]
    }),
  )
  if (rows.length === 0) return null
  const text = table(
    [
      { heading: 'CONTENDER', value: ({ name }) => name },
      { heading: 'RELIST', value: ({ kind }) => kind },
      { heading: 'PODS', value: ({ pods }) => pods },
      { heading: 'P99', value: ({ p99 }) => milliseconds(p99) },
      { heading: 'OF-PERIOD', value: ({ p99 }) => percent(p99 / periodMs) },
      { heading: 'OF-THRESHOLD', value: ({ p99 }) => percent(p99 / thresholdMs) },
      { heading: 'PERIOD-AT', value: ({ fit, sizes }) => podsAt(fit, sizes, periodMs) },
      { heading: 'THRESHOLD-AT', value: ({ fit, sizes }) => podsAt(fit, sizes, thresholdMs) },
      { heading: 'FIT', value: ({ fit, sizes }) => describe(fit, sizes) },
    ],
    rows,
  )
  return { title: 'Headroom: p99 against the period (1 s) and the health threshold (3 m)', text }
}

function podsAt(fit: Fit | null, sizes: number, y: number): string {
  const pods = fit === null || sizes < leastSizes ? null : crossing(fit, y)
  return pods === null ? '-' : `${Math.round(pods)} pods`
}

function describe(fit: Fit | null, sizes: number): string {
  if (fit === null || sizes < leastSizes) return `${sizes} sizes: no line`
  return `${digits(fit.intercept)} ms + ${digits(fit.slope * 1000)} ms/1000 pods (R² ${fit.r2.toFixed(3)}, ${sizes} sizes)`
}
