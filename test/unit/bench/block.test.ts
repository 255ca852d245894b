import { describe, expect, it } from 'vitest'
import { compareReports } from '../../../bench/comparison.js'
import { runBlock } from '../../../bench/runBlock.js'
import { anyBlock } from './anyBlock.js'

const small = { pods: 20, restarts: 6, periodMs: 40, warmup: 1, laps: 2, relists: 2 } as const

describe('a block, in processes of its own', () => {
  it.each(['plegd', 'plain'] as const)(
    '%s finds every restart of the served node',
    async (contender) => {
      const { spec } = anyBlock({ kind: 'churn', contender, ...small })
      const { result } = await runBlock(spec)
      expect(result).toMatchObject({ pods: 20, eventsLost: 0, failures: 0 })
      expect(result.laps.map((lap) => lap.changeMs.length)).toEqual([2, 2])
      // At least the end of one container and the start of the next, of each restart.
      expect(result.events).toBeGreaterThanOrEqual(2 * small.restarts * 4)
      for (const lap of result.laps) expect(lap.cpuMs).toBeGreaterThan(0)
    },
    60_000,
  )
})

describe('comparing runs', () => {
  it('holds the same blocks against each other, by their laps', () => {
    const run = (ms: number) => ({
      blocks: [
        {
          ...anyBlock({ kind: 'idle', pods: 10 }),
          result: {
            ...anyBlock({ kind: 'idle', pods: 10 }).result,
            laps: Array.from({ length: 7 }, (_, i) => ({ relistMs: [ms + i / 100], changeMs: [], cpuMs: 1 })),
          },
        },
        anyBlock({ kind: 'idle', pods: ms }),
      ],
      micro: [{ id: 'table/lookup', rounds: [10, 10, 10, 10, 10] }],
    })
    const rows = compareReports(run(20), run(30)).map(({ id, metric, verdict }) => `${id} ${metric}: ${verdict}`)
    expect(rows).toEqual([
      'plegd/idle/10x2 relist: slower',
      'plegd/idle/10x2 CPU: within noise',
      'table/lookup time: within noise',
    ])
  })
})
