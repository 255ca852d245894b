import { containerFilter } from './containerCalls.js'
import { containerMatches, sandboxMatches } from './filters.js'
import { needContainer, needSandbox, type Parts } from './parts.js'
import type { Handlers } from './requests.js'
import { sandboxFilter } from './sandboxCalls.js'
import { containerStats, podSandboxStats } from './stats.js'

type NodeCalls =
  | 'Version'
  | 'Status'
  | 'RuntimeConfig'
  | 'UpdateRuntimeConfig'
  | 'ContainerStats'
  | 'ListContainerStats'
  | 'PodSandboxStats'
  | 'ListPodSandboxStats'
  | 'ListMetricDescriptors'
  | 'ListPodSandboxMetrics'

/** How the simulated runtime calls itself in `Version`. */
const runtimeName = 'plegd-sim'
const runtimeVersion = '0.1.0'

export function nodeCalls({ node }: Parts): Pick<Handlers, NodeCalls> {
  return {
    // `version` is the kubelet's runtime API version, 0.1.0 since it exists.
    Version: () => ({
      version: '0.1.0',
      runtime_name: runtimeName,
      runtime_version: runtimeVersion,
      runtime_api_version: 'v1',
    }),

    Status: ({ verbose }) => ({
      status: {
        conditions: [
          { type: 'RuntimeReady', status: true },
          { type: 'NetworkReady', status: true },
        ],
      },
      info: verbose ? { config: JSON.stringify({ simulated: true }) } : {},
      runtime_handlers: [{ name: '', features: null }],
      features: { supplemental_groups_policy: true },
    }),

    RuntimeConfig: () => ({ linux: { cgroup_driver: 'SYSTEMD' } }),

    UpdateRuntimeConfig: () => ({}),

    ContainerStats: ({ container_id }) => ({
      stats: containerStats(needContainer(node, 'ContainerStats', container_id), node.stamp()),
    }),

    ListContainerStats: ({ filter }) => {
      const wanted = containerFilter(filter === null ? null : { ...filter, state: null })
      const now = node.stamp()
      const matching = [...node.containers.values()].filter((record) => containerMatches(wanted, record))
      return { stats: matching.map((record) => containerStats(record, now)) }
    },

    PodSandboxStats: ({ pod_sandbox_id }) => ({
      stats: podSandboxStats(needSandbox(node, 'PodSandboxStats', pod_sandbox_id), node.stamp()),
    }),

    ListPodSandboxStats: ({ filter }) => {
      const wanted = sandboxFilter(filter === null ? null : { ...filter, state: null })
      const now = node.stamp()
      const matching = [...node.sandboxes.values()].filter((record) => sandboxMatches(wanted, record))
      return { stats: matching.map((record) => podSandboxStats(record, now)) }
    },

    ListMetricDescriptors: () => ({ descriptors: [] }),

    ListPodSandboxMetrics: () => ({ pod_metrics: [] }),
  }
}
