import type { PodLifecycleEvent } from '../model/event.js'
import type { ContainerStatus, InspectError, ListedItem, PodRef, SandboxStatus } from '../model/pod.js'

/** An event as it crosses a ring: the pod is said once, by the message; exit codes stand in the statuses. */
export interface CarriedEvent {
  readonly type: PodLifecycleEvent['type']
  readonly kind: PodLifecycleEvent['kind']
  readonly id: string
  readonly name: string
  readonly time: number
}

/** Shard → main. `stamp` is the monotonic time, in ms, before the list that the message stands on. */
export type ShardMessage =
  /** The pods that changed in a list and are now waiting for their inspection. */
  | { readonly t: 'pending'; readonly stamp: number; readonly uids: readonly string[] }
  /** All pods of the shard that no `pending` named are as they were: the list has been worked through. */
  | {
      readonly t: 'observed'
      readonly stamp: number
      readonly generation: number
      readonly pods: number
      readonly runningPods: number
    }
  /** One pod was listed on demand and is as the cache has it; or it is not there. */
  | { readonly t: 'observedPod'; readonly stamp: number; readonly uid: string }
  /** The list view of a pod that was not inspected yet, so that readers see something at once. */
  | { readonly t: 'listed'; readonly stamp: number; readonly pod: PodRef; readonly listed: readonly ListedItem[] }
  /**
   * A pod was inspected. `listed` is what the events stand on: after a crash the shard is seeded with it. `kept` are
   * ids whose status the cache already has and that can't have changed. With an `error` the pod stays as it was.
   */
  | {
      readonly t: 'inspected'
      readonly stamp: number
      readonly pod: PodRef
      readonly listed: readonly ListedItem[]
      readonly sandboxes: readonly SandboxStatus[]
      readonly containers: readonly ContainerStatus[]
      readonly kept: readonly string[]
      readonly events: readonly CarriedEvent[]
      /** False: more changes of the pod wait for another inspection. */
      readonly settled: boolean
    }
  | {
      readonly t: 'failed'
      readonly stamp: number
      readonly pod: PodRef
      readonly error: InspectError
      readonly failures: number
      readonly sinceStamp: number
    }
  /** A complete list did not show the pod any more. */
  | { readonly t: 'gone'; readonly stamp: number; readonly pod: PodRef; readonly events: readonly CarriedEvent[] }

/** Main → shard. */
export type ShardCommand =
  /** What the cache holds of a pod of this shard; sent before anything else to a shard that starts. */
  | {
      readonly t: 'seed'
      readonly pod: PodRef
      readonly listed: readonly ListedItem[]
      /** Ids whose final status the cache has. */
      readonly kept: readonly string[]
      readonly reinspect: boolean
    }
  | { readonly t: 'seeded' }
  | { readonly t: 'reinspect'; readonly uid: string }
  /** List and, if it changed, inspect this pod now. */
  | { readonly t: 'relist'; readonly uid: string }
