import { listModes } from '../cri/runtime.js'
import type { ThreadStats } from '../engine/api.js'
import type { Verdict } from '../model/health.js'
import { histograms, labelled, type MetricDefinition, type MetricsSnapshot, single } from './definition.js'

const verdicts: readonly Verdict[] = ['starting', 'healthy', 'slow', 'degraded', 'stuck']

const perThread = (value: (thread: ThreadStats) => number) => (from: MetricsSnapshot) =>
  from.stats.threads.map((thread) => [thread.name, value(thread)] as const)

/** What the kubelet has no metric for (kubelet-behaviour W18): health as it moves, queues, calls, threads, lists. */
export const engineMetrics: readonly MetricDefinition[] = [
  labelled('gauge', 'plegd_verdict', '1 for the verdict that holds, 0 for the others.', 'verdict', ({ health }) =>
    verdicts.map((verdict) => [verdict, verdict === health.verdict ? 1 : 0] as const),
  ),
  single(
    'gauge',
    'plegd_last_good_list_age_seconds',
    'Since the start of the last good list; before the first, since the start. Moves while a list hangs.',
    ({ stats }) => stats.lastSeenSeconds ?? stats.uptime,
  ),
  single(
    'gauge',
    'plegd_view_age_seconds',
    'Since the start of the last list that every shard has worked through; before the first, since the start.',
    ({ stats }) => stats.viewSeconds ?? stats.uptime,
  ),
  single(
    'gauge',
    'plegd_relist_in_progress_seconds',
    'How long the running relist has taken; 0 between two. Moves while a list hangs.',
    ({ stats }) => stats.relistInProgressSeconds,
  ),
  single('counter', 'plegd_relists_total', 'Relists begun.', ({ stats }) => stats.relists),
  single('counter', 'plegd_relist_failures_total', 'Relists whose list failed.', ({ stats }) => stats.relistFailures),
  histograms('plegd_relist_phase_duration_seconds', 'Duration of each phase of a relist.', 'phase', ({ stats }) =>
    Object.entries(stats.phases),
  ),
  single('gauge', 'plegd_pods', 'Pods that the engine knows.', ({ stats }) => stats.pods),
  single(
    'gauge',
    'plegd_degraded_pods',
    'Pods that can not be inspected. /statusz names them.',
    ({ stats }) => stats.degradedPods,
  ),
  single('counter', 'plegd_events_total', 'Lifecycle events delivered to the channel.', ({ stats }) => stats.events),
  single(
    'counter',
    'plegd_overflow_events_total',
    'Events that met a full channel and became a PodSync of their pod, or were lost (plegChannelOverflow).',
    ({ stats }) => stats.overflowEvents,
  ),
  single('gauge', 'plegd_channel_depth', 'Events waiting for the syncLoop.', ({ stats }) => stats.channelDepth),
  single('gauge', 'plegd_channel_capacity', 'Events the channel holds.', ({ stats }) => stats.channelCapacity),
  single(
    'gauge',
    'plegd_dirty_pods',
    'Pods that await a PodSync because the channel was full.',
    ({ stats }) => stats.dirtyPods,
  ),
  single(
    'counter',
    'plegd_duplicate_items_total',
    'Sandboxes and containers that a runtime listed twice in one list.',
    ({ stats }) => stats.duplicateItems,
  ),
  single(
    'gauge',
    'plegd_unidentified_items',
    'Sandboxes and containers of the last list without what tells their pod; left alone.',
    ({ stats }) => stats.unidentifiedItems,
  ),
  labelled('gauge', 'plegd_calls_inflight', 'CRI calls that have not answered yet.', 'operation_type', ({ stats }) =>
    stats.calls.map((call) => [call.operation, call.inflight] as const),
  ),
  labelled(
    'gauge',
    'plegd_oldest_inflight_call_seconds',
    'Age of the oldest CRI call that has not answered yet; 0 when none waits.',
    'operation_type',
    ({ stats }) => stats.calls.map((call) => [call.operation, call.oldestInflight] as const),
  ),
  single(
    'gauge',
    'plegd_listed_bytes',
    'Bytes of both lists of the last relist.',
    ({ stats }) => stats.last?.bytes ?? 0,
  ),
  labelled('gauge', 'plegd_listed_items', 'Items of the last relist.', 'kind', ({ stats }) => [
    ['sandbox', stats.last?.sandboxes ?? 0],
    ['container', stats.last?.containers ?? 0],
  ]),
  single(
    'gauge',
    'plegd_largest_message_bytes',
    "Largest single message of the last relist's lists.",
    ({ stats }) => stats.last?.largestMessage ?? 0,
  ),
  single(
    'gauge',
    'plegd_message_limit_ratio',
    'The larger list, as one message, as a share of messageWarnSize: at 1 the kubelet of this node can not list any more.',
    ({ stats, messageWarnBytes }) => (stats.last?.largestList ?? 0) / messageWarnBytes,
  ),
  {
    type: 'gauge',
    name: 'plegd_list_mode',
    help: '1 for the way in which the last list of a kind came, 0 for the others: streaming, unary, filtered (in parts, being over the limit).',
    labels: ['kind', 'mode'],
    read: ({ stats: { last } }) =>
      [['sandbox', last?.sandboxMode] as const, ['container', last?.containerMode] as const].flatMap(([kind, used]) =>
        listModes.map((mode) => ({ labels: { kind, mode }, value: mode === used ? 1 : 0 })),
      ),
  },
  single(
    'gauge',
    'plegd_changed_items',
    'Items that the last relist handed to shards.',
    ({ stats }) => stats.last?.changed ?? 0,
  ),
  single(
    'gauge',
    'plegd_copied_bytes',
    'Bytes that the last relist handed to shards.',
    ({ stats }) => stats.last?.bytesCopied ?? 0,
  ),
  labelled(
    'gauge',
    'plegd_thread_up',
    '1 while the thread lives.',
    'thread',
    perThread((thread) => (thread.alive ? 1 : 0)),
  ),
  labelled(
    'counter',
    'plegd_thread_restarts_total',
    'Starts of the thread after its first.',
    'thread',
    perThread((thread) => thread.restarts),
  ),
  {
    type: 'gauge',
    name: 'plegd_thread_loop_delay_seconds',
    help: "Delay of the thread's event loop over the last snapshots: p50, p99, max.",
    labels: ['thread', 'stat'],
    read: ({ stats }) =>
      stats.threads.flatMap((thread) => [
        { labels: { thread: thread.name, stat: 'p50' }, value: thread.loopDelayP50 },
        { labels: { thread: thread.name, stat: 'p99' }, value: thread.loopDelayP99 },
        { labels: { thread: thread.name, stat: 'max' }, value: thread.loopDelayMax },
      ]),
  },
  labelled(
    'gauge',
    'plegd_inbox_bytes',
    "Bytes waiting in the thread's inbox.",
    'thread',
    perThread((thread) => thread.inboxBytes),
  ),
  labelled(
    'gauge',
    'plegd_inbox_capacity_bytes',
    "Size of the thread's inbox.",
    'thread',
    perThread((thread) => thread.inboxCapacity),
  ),
  labelled(
    'gauge',
    'plegd_ring_bytes',
    "Bytes waiting in the thread's ring to the main thread.",
    'thread',
    perThread((thread) => thread.ringBytes),
  ),
  labelled(
    'gauge',
    'plegd_ring_capacity_bytes',
    "Size of the thread's ring to the main thread.",
    'thread',
    perThread((thread) => thread.ringCapacity),
  ),
]
