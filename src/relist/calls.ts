/** The hot calls by name; metrics label them as the kubelet does (`list_podsandbox`, …). */
export type HotCall = 'ListPodSandbox' | 'ListContainers' | 'PodSandboxStatus' | 'ContainerStatus'

/** Where a shard's time goes: working a list into its records, asking for one pod's statuses, listing one pod. */
export type ShardPhase = 'diff' | 'inspect' | 'pod_relist'

/** Sees each call begin and end, so that one that hangs can be named while it hangs. */
export interface CallObserver {
  /** `id` and `podUid` are '' for a list. The token is given back to `end`. */
  begin(call: HotCall, id: string, podUid: string): number
  end(token: number, ok: boolean): void
  phase(phase: ShardPhase, ms: number): void
}

export const hotCalls: readonly HotCall[] = ['ListPodSandbox', 'ListContainers', 'PodSandboxStatus', 'ContainerStatus']
