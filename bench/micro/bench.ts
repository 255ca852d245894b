import { Bench } from 'tinybench'
import type { Micro } from '../report/report.js'

/** One micro bench. `id` is stable: code names it where it is the reason why something is as it is. */
export interface MicroBench {
  readonly id: string
  /** Operations of one call. */
  readonly operations: number
  /** Answers what its work came to, so that no work can be left out. */
  run(): unknown
}

const rounds = 7
const roundMs = 120

/** Each bench in each round, so that a slow minute of the machine hits all of them. */
export async function runMicro(benches: readonly MicroBench[]): Promise<Micro[]> {
  const results = new Map<string, number[]>(benches.map(({ id }) => [id, []]))
  for (let round = 0; round < rounds; round++) {
    const bench = new Bench({ time: roundMs, iterations: 5, warmupTime: roundMs / 4, warmupIterations: 2 })
    for (const { id, run } of benches) bench.add(id, () => void run())
    await bench.run()
    for (const { id, operations } of benches) {
      const result = bench.getTask(id)?.result
      if (result?.state !== 'completed') throw new Error(`${id} did not run: ${result?.state}`)
      results.get(id)?.push((result.latency.p50 * 1e6) / operations)
    }
    process.stderr.write(`micro, round ${round + 1} of ${rounds}\n`)
  }
  return [...results].map(([id, values]) => ({ id, rounds: values }))
}
