import type { PodLifecycleEvent } from '../model/event.js'
import type { PodRef } from '../model/pod.js'

/** What a configuration source says about pods (kubelet types/pod_update.go; SET never reaches the loop). */
export interface PodUpdate<Pod extends PodRef> {
  readonly op: 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE'
  readonly source: string
  readonly pods: readonly Pod[]
}

export interface ProbeResult {
  readonly probe: 'liveness' | 'readiness' | 'startup'
  readonly pod: PodRef
  readonly containerId: string
  readonly success: boolean
}

/**
 * What the syncLoop does nothing about itself. All methods but `onHousekeeping` only hand work on and return at once:
 * the loop waits for none of it.
 */
export interface SyncHandler<Pod extends PodRef = PodRef> {
  /** Whether the pod is one that this agent is to run; events of others are ignored. */
  knows(uid: string): boolean
  onAdditions(pods: readonly Pod[], source: string): void
  /** UPDATE and DELETE alike: a deletion is a pod with a deletion time. */
  onUpdates(pods: readonly Pod[], source: string): void
  onRemoves(pods: readonly Pod[], source: string): void
  onReconcile(pods: readonly Pod[], source: string): void
  /** Pods whose state changed, whose probes did, or that are due. */
  onSyncs(pods: readonly PodRef[]): void
  /** Besides `onSyncs`: for what removes dead containers. */
  onContainerDied(event: PodLifecycleEvent): void
  /** Before the `onSyncs` of its pod. */
  onProbe(result: ProbeResult): void
  /** Pods whose resync or deadline is due, asked each second. */
  duePods(): readonly PodRef[]
  /** Whether all configuration sources have been heard; `seen` are those whose updates the loop has taken. */
  sourcesReady(seen: ReadonlySet<string>): boolean
  /** Runs beside the loop, never twice at a time; updates go on meanwhile. */
  onHousekeeping(signal: AbortSignal): Promise<void>
}
