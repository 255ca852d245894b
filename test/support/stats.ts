import type { CallStats, EngineStats, HistogramSnapshot, ThreadStats } from '../../src/engine/api.js'
import type { Health } from '../../src/model/health.js'
import type { SyncStats } from '../../src/sync/stats.js'

export function histogramOf(bounds: readonly number[], counts: readonly number[], sum = 0): HistogramSnapshot {
  return { bounds, counts, sum, count: counts.reduce((all, count) => all + count, 0) }
}

const nothing = histogramOf([1, 10], [0, 0, 0])

export function threadStats(name: string, over: Partial<ThreadStats> = {}): ThreadStats {
  return {
    name,
    alive: true,
    restarts: 0,
    loopDelayP50: 0.001,
    loopDelayP99: 0.002,
    loopDelayMax: 0.003,
    inboxBytes: 0,
    inboxCapacity: 1_024,
    ringBytes: 0,
    ringCapacity: 2_048,
    ...over,
  }
}

export function callStats(operation: string, over: Partial<CallStats> = {}): CallStats {
  return { operation, total: 0, errors: 0, duration: nothing, inflight: 0, oldestInflight: 0, ...over }
}

export function engineStats(over: Partial<EngineStats> = {}): EngineStats {
  return {
    uptime: 100,
    relists: 90,
    relistFailures: 1,
    last: null,
    relistDuration: nothing,
    relistInterval: nothing,
    podRelistDuration: nothing,
    phases: { list_sandboxes: nothing, list_containers: nothing },
    relistInProgressSeconds: 0,
    lastSeenSeconds: 1,
    viewSeconds: 0,
    runningPods: 0,
    runningContainers: {},
    pods: 0,
    degradedPods: 0,
    calls: [callStats('list_podsandbox')],
    threads: [threadStats('main'), threadStats('shard-0')],
    channelDepth: 0,
    channelCapacity: 1_000,
    dirtyPods: 0,
    events: 0,
    overflowEvents: 0,
    discardedEvents: 0,
    duplicateItems: 0,
    unidentifiedItems: 0,
    ...over,
  }
}

export function healthOf(over: Partial<Health> = {}): Health {
  return {
    verdict: 'healthy',
    ok: true,
    message: '',
    reason: '',
    lastSeenMs: 1_000,
    degraded: [],
    inflight: [],
    ...over,
  }
}

export function syncStats(over: Partial<SyncStats> = {}): SyncStats {
  return {
    taken: { config: 0, pleg: 0, sync: 0, probe: 0, housekeeping: 0 },
    skipped: 0,
    skippingSeconds: 0,
    lastIterationSeconds: null,
    configDepth: 0,
    configCapacity: 50,
    probeDepth: 0,
    probeCapacity: 20,
    housekeepings: 0,
    housekeepingSeconds: 0,
    ...over,
  }
}
