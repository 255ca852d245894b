import type { Block, BlockSpec } from './block.js'
import { median, quantile } from './quantile.js'

/** What distinguishes a block from all others of a run; the same in another run. */
export function blockId(spec: BlockSpec): string {
  const parts = [spec.contender, spec.kind, `${spec.pods}x${spec.containers}`]
  if (spec.dead > 0) parts.push(`dead=${spec.dead}`)
  if (spec.restarts > 0) parts.push(`restarts=${spec.restarts}`)
  if (spec.statusLatencyMs > 0) parts.push(`latency=${spec.statusLatencyMs}ms`, spec.model)
  if (spec.inspectConcurrency !== null) parts.push(`concurrency=${spec.inspectConcurrency}`)
  if (spec.shards !== null) parts.push(`shards=${spec.shards}`)
  if (spec.transport !== null) parts.push(spec.transport)
  if (spec.server !== 'sim') parts.push(spec.server)
  return parts.join('/')
}

export interface Spread {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export function spread(values: readonly number[]): Spread {
  return {
    p50: quantile(values, 0.5),
    p95: quantile(values, 0.95),
    p99: quantile(values, 0.99),
    max: quantile(values, 1),
  }
}

export const relistSpread = ({ result }: Block) => spread(result.laps.flatMap((lap) => lap.relistMs))
/** Of list start to last event. */
export const changeSpread = ({ result }: Block) => spread(result.laps.flatMap((lap) => lap.changeMs))
export const cpuPerRelist = ({ result }: Block) => median(result.laps.map((lap) => lap.cpuMs))

/** Whoever it is that was measured. */
export function sameLoad(a: BlockSpec, b: BlockSpec): boolean {
  const keys = ['kind', 'server', 'pods', 'containers', 'dead', 'restarts', 'statusLatencyMs', 'model'] as const
  return keys.every((key) => a[key] === b[key])
}

/** The load by which sizes are held against each other: nothing dead, no latency, none or 1 % of the containers restarted. */
export function isUsual(spec: BlockSpec): boolean {
  const usualChurn = spec.kind !== 'churn' || Math.ceil(spec.pods * spec.containers * 0.01) === spec.restarts
  const own = spec.shards === null && spec.inspectConcurrency === null && spec.transport === null
  return own && usualChurn && spec.dead === 0 && spec.statusLatencyMs === 0
}
