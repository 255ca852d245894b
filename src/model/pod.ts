import type { ContainerState, SandboxState } from './state.js'

/** Which pod: enough to print `namespace/name` and to look it up. */
export interface PodRef {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

export type ItemKind = 'sandbox' | 'container'

/** A sandbox or a container as the lists show it. Times are nanoseconds since 1970, exact. */
export interface ListedItem {
  readonly kind: ItemKind
  readonly id: string
  /** Container name; for a sandbox the pod's name. */
  readonly name: string
  readonly attempt: number
  /** CRI's own number (CriContainerState, CriSandboxState). */
  readonly criState: number
  readonly createdAt: bigint
  /** A container's sandbox; '' for a sandbox. */
  readonly sandboxId: string
  /** A container's image as given; '' for a sandbox. */
  readonly image: string
}

/** PodSandboxStatus, reduced to what an agent uses. */
export interface SandboxStatus {
  readonly id: string
  readonly name: string
  readonly uid: string
  readonly namespace: string
  readonly attempt: number
  readonly state: SandboxState
  readonly createdAt: bigint
  /** Primary address first. Empty in the host's network. */
  readonly ips: readonly string[]
  readonly hostNetwork: boolean
  readonly runtimeHandler: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** ContainerStatus, reduced to what an agent uses. Times are nanoseconds; 0n where the runtime knows none. */
export interface ContainerStatus {
  readonly id: string
  readonly name: string
  readonly attempt: number
  readonly state: ContainerState
  readonly createdAt: bigint
  readonly startedAt: bigint
  readonly finishedAt: bigint
  readonly exitCode: number
  readonly image: string
  readonly imageRef: string
  readonly imageId: string
  readonly reason: string
  readonly message: string
  readonly logPath: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** Why a pod could not be inspected: the call, the object, what the runtime said. */
export interface InspectError {
  readonly code: string
  readonly message: string
  readonly call: string
  readonly id: string
}

/**
 * One pod as the cache holds it. `listed` is the list view; `sandboxes` and `containers` are the inspected one, newest
 * first (attempt, then time, then id), and stay empty until `inspected`.
 */
export interface PodStatus extends PodRef {
  readonly inspected: boolean
  readonly ips: readonly string[]
  readonly listed: readonly ListedItem[]
  readonly sandboxes: readonly SandboxStatus[]
  readonly containers: readonly ContainerStatus[]
}

/** The default status of a pod that nobody knows (kubelet: container/cache.go). */
export function emptyPodStatus(uid: string): PodStatus {
  return { uid, namespace: '', name: '', inspected: false, ips: [], listed: [], sandboxes: [], containers: [] }
}
