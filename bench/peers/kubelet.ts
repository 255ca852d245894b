import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { BlockResult, BlockSpec } from '../block.js'

/** One line of plegbench: a block of relists (contract: the tool's README). */
interface KubeletLine {
  readonly pods: number
  readonly containers: number
  readonly relist_ms: { readonly max: number }
  readonly cpu_s_per_relist: number
  readonly status_calls_per_relist: number
  readonly events_per_relist: number
  readonly peak_rss_mib: number
  readonly list_failures: number
  readonly list_error?: string
  readonly cold: { readonly relist_ms: number }
}

/**
 * The kubelet's own PLEG (Go) on the same socket: the program that PLEGD_BENCH_KUBELET names. A line a relist, so that its
 * times are raw as the others' are.
 */
export function startKubelet(spec: BlockSpec, socket: string): ChildProcess {
  const flags = {
    socket,
    relists: 1,
    blocks: spec.laps * spec.relists,
    warmup: spec.warmup,
    churn: spec.restarts,
    period: `${spec.periodMs}ms`,
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return spawn(process.env['PLEGD_BENCH_KUBELET']!, args, { stdio: ['ignore', 'pipe', 'ignore'] })
}

/** What it has printed when it ends. */
export async function kubeletResult(spec: BlockSpec, child: ChildProcess): Promise<BlockResult> {
  const lines: KubeletLine[] = []
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(JSON.parse(line) as KubeletLine))
  await once(child, 'close')
  const last = lines.at(-1)
  if (last === undefined) throw new Error(`${child.spawnfile} ended (${child.exitCode}) without a result`)
  const mean = (of: (line: KubeletLine) => number) => lines.reduce((sum, line) => sum + of(line), 0) / lines.length
  const laps = Array.from({ length: spec.laps }, (_, lap) => {
    const part = lines.slice(lap * spec.relists, (lap + 1) * spec.relists)
    const relistMs = part.map((line) => line.relist_ms.max)
    return {
      relistMs,
      // A relist of the kubelet ends when the last event of it is in the channel.
      changeMs: spec.restarts > 0 ? relistMs : [],
      cpuMs: (part.reduce((sum, line) => sum + line.cpu_s_per_relist, 0) / part.length) * 1000,
    }
  })
  return {
    pods: last.pods,
    containers: last.containers,
    bytes: null,
    laps,
    cold: {
      threadsMs: null,
      listViewMs: null,
      firstEventMs: null,
      inspectedMs: last.cold.relist_ms,
      relistMs: last.cold.relist_ms,
    },
    events: lines.reduce((sum, line) => sum + line.events_per_relist, 0),
    eventsLost: null,
    listCallsPerRelist: 2,
    statusCallsPerRelist: mean((line) => line.status_calls_per_relist),
    itemsPerRelist: null,
    bytesCopiedPerRelist: null,
    loopDelayP99Ms: null,
    loopDelayMaxMs: null,
    peakRssMiB: last.peak_rss_mib,
    heapMiB: null,
    failures: lines.reduce((sum, line) => sum + line.list_failures, 0),
    ...(last.list_error === undefined ? {} : { note: last.list_error }),
  }
}
