import type { ItemKind, PodRef } from './pod.js'

/** The kubelet's five (v1.37 pleg/pleg.go). `ContainerChanged` is computed but never leaves the engine. */
export type PodLifecycleEventType =
  | 'ContainerStarted'
  | 'ContainerDied'
  | 'ContainerRemoved'
  | 'ContainerChanged'
  | 'PodSync'

/** A change of one container or sandbox; of `PodSync`, of the pod as a whole (`id` is then ''). */
export interface PodLifecycleEvent {
  readonly type: PodLifecycleEventType
  readonly pod: PodRef
  readonly kind: ItemKind
  readonly id: string
  /** Container name; '' for a sandbox and for PodSync. */
  readonly name: string
  /** Of a ContainerDied whose status was still there to read. */
  readonly exitCode?: number
  /** Wall clock, ms since 1970, when the list that showed the change began. For people; orders come from the stream. */
  readonly time: number
}
