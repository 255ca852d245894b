import type { Block, BlockSpec } from '../../../bench/block.js'

/** A block with which nothing is wrong. */
export function anyBlock(spec: Partial<BlockSpec> & Pick<BlockSpec, 'kind' | 'pods'>, ms = 2): Block {
  const containers = 2
  const restarts = spec.kind === 'churn' ? Math.ceil(spec.pods * containers * 0.01) : 0
  return {
    spec: {
      contender: 'plegd',
      server: 'sim',
      containers,
      dead: 0,
      restarts,
      statusLatencyMs: 0,
      model: 'independent',
      inspectConcurrency: null,
      shards: null,
      transport: null,
      periodMs: 0,
      warmup: 0,
      laps: 1,
      relists: 1,
      seed: 1,
      ...spec,
    },
    result: {
      pods: spec.pods,
      containers: spec.pods * containers,
      bytes: 1000,
      laps: [{ relistMs: [ms / 2], changeMs: restarts > 0 ? [ms] : [], cpuMs: ms }],
      cold: null,
      events: 3 * restarts,
      eventsLost: 0,
      listCallsPerRelist: 2,
      statusCallsPerRelist: 0,
      itemsPerRelist: 0,
      bytesCopiedPerRelist: 0,
      loopDelayP99Ms: 1,
      loopDelayMaxMs: 1,
      peakRssMiB: 100,
      heapMiB: 10,
      failures: 0,
    },
  }
}
