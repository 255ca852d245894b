import { containerStates } from '../model/state.js'
import { histogram, histograms, labelled, type MetricDefinition, single } from './definition.js'

/** The kubelet's own families under the kubelet's names, types and labels (v1.37 pkg/kubelet/metrics/metrics.go). */
export const kubeletMetrics: readonly MetricDefinition[] = [
  histogram(
    'kubelet_pleg_relist_duration_seconds',
    'Duration of a relist, failed ones included.',
    ({ stats }) => stats.relistDuration,
  ),
  histogram(
    'kubelet_pleg_relist_interval_seconds',
    'Time between the starts of a relist and of the last good one before it.',
    ({ stats }) => stats.relistInterval,
  ),
  histogram(
    'kubelet_pleg_pod_relist_duration_seconds',
    'Duration of relisting one pod on demand.',
    ({ stats }) => stats.podRelistDuration,
  ),
  single(
    'counter',
    'kubelet_pleg_discard_events',
    'Events lost because the channel was full. 0 unless plegChannelOverflow is discard.',
    ({ stats }) => stats.discardedEvents,
  ),
  // The kubelet leaves 0 until a list has worked; the age of that is 56 years (kubernetes#45419). Here it is then the start.
  single(
    'gauge',
    'kubelet_pleg_last_seen_seconds',
    'Unix time of the start of the last good list; before the first, of the start of the engine.',
    ({ stats, wallMs }) => wallMs / 1_000 - (stats.lastSeenSeconds ?? stats.uptime),
  ),
  single('gauge', 'kubelet_running_pods', 'Pods with a running sandbox.', ({ stats }) => stats.runningPods),
  // The kubelet keeps the last value of a state that no container is in any more; here it goes to 0.
  labelled('gauge', 'kubelet_running_containers', 'Containers by state.', 'container_state', ({ stats }) =>
    containerStates.map((state) => [state, stats.runningContainers[state] ?? 0] as const),
  ),
  labelled('counter', 'kubelet_runtime_operations_total', 'CRI calls.', 'operation_type', ({ stats }) =>
    stats.calls.map((call) => [call.operation, call.total] as const),
  ),
  labelled(
    'counter',
    'kubelet_runtime_operations_errors_total',
    'CRI calls that failed.',
    'operation_type',
    ({ stats }) => stats.calls.map((call) => [call.operation, call.errors] as const),
  ),
  histograms('kubelet_runtime_operations_duration_seconds', 'Duration of CRI calls.', 'operation_type', ({ stats }) =>
    stats.calls.map((call) => [call.operation, call.duration] as const),
  ),
  labelled('gauge', 'kubelet_node_name', "The node's name. Always 1.", 'node', ({ nodeName }) => [[nodeName, 1]]),
]
