import { syncSources } from '../sync/stats.js'
import { labelled, type MetricDefinition, type MetricsSnapshot, single } from './definition.js'

const queues = ({ sync }: MetricsSnapshot) => [
  ['config', { depth: sync.configDepth, capacity: sync.configCapacity }] as const,
  ['probe', { depth: sync.probeDepth, capacity: sync.probeCapacity }] as const,
]

/** The syncLoop and the process around it. */
export const agentMetrics: readonly MetricDefinition[] = [
  labelled(
    'counter',
    'plegd_syncloop_iterations_total',
    'Iterations of the syncLoop by what it took.',
    'source',
    ({ sync }) => syncSources.map((source) => [source, sync.taken[source]] as const),
  ),
  single(
    'counter',
    'plegd_syncloop_skipped_total',
    'Rounds that the syncLoop skipped because the node is not healthy.',
    ({ sync }) => sync.skipped,
  ),
  single(
    'gauge',
    'plegd_syncloop_skipping_seconds',
    'How long the syncLoop has been skipping; 0 while it runs.',
    ({ sync }) => sync.skippingSeconds,
  ),
  single(
    'gauge',
    'plegd_syncloop_last_iteration_age_seconds',
    'Since the syncLoop last began or ended an iteration; 0 before its first.',
    ({ sync }) => sync.lastIterationSeconds ?? 0,
  ),
  labelled('gauge', 'plegd_syncloop_queue_depth', 'What waits for the syncLoop, by source.', 'source', (from) =>
    queues(from).map(([source, queue]) => [source, queue.depth] as const),
  ),
  labelled('gauge', 'plegd_syncloop_queue_capacity', 'What may wait for the syncLoop, by source.', 'source', (from) =>
    queues(from).map(([source, queue]) => [source, queue.capacity] as const),
  ),
  single('counter', 'plegd_housekeepings_total', 'Housekeeping passes.', ({ sync }) => sync.housekeepings),
  single(
    'gauge',
    'plegd_housekeeping_in_progress_seconds',
    'How long the running pass has taken; 0 between two.',
    ({ sync }) => sync.housekeepingSeconds,
  ),
  single(
    'counter',
    'plegd_log_dropped_lines_total',
    'Log lines lost because stderr was not read.',
    ({ droppedLogLines }) => droppedLogLines,
  ),
  labelled('gauge', 'plegd_build_info', 'The version that runs. Always 1.', 'version', ({ version }) => [[version, 1]]),
  single('counter', 'process_cpu_seconds_total', 'CPU time of all threads, user and system.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }),
  single('gauge', 'process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss()),
  single(
    'gauge',
    'process_start_time_seconds',
    'Unix time at which the process started.',
    ({ wallMs }) => wallMs / 1_000 - process.uptime(),
  ),
]
