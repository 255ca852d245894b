/** A sandbox as the simulated runtime holds it. Times are nanoseconds since 1970. */
export interface SandboxRecord {
  readonly id: string
  readonly name: string
  readonly uid: string
  readonly namespace: string
  readonly attempt: number
  readonly createdAt: bigint
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly runtimeHandler: string
  readonly logDirectory: string
  readonly hostNetwork: boolean
  /** What a PodSandboxStatus says beside the fields here, encoded: the namespaces. */
  readonly encodedStatus: Buffer
  /** CriSandboxState. */
  state: number
  /** Primary address first; empty in the host's network and once stopped, as in containerd. */
  ips: readonly string[]
  /** In the order of their creation, dead ones included. */
  readonly containers: Set<ContainerRecord>
}

/** A container as the simulated runtime holds it. Times are nanoseconds since 1970, 0n where there is none yet. */
export interface ContainerRecord {
  readonly id: string
  readonly sandbox: SandboxRecord
  readonly name: string
  readonly attempt: number
  readonly createdAt: bigint
  readonly image: ImageRecord
  /** The image as the pod's author wrote it. */
  readonly userImage: string
  readonly labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  readonly command: readonly string[]
  readonly envs: Readonly<Record<string, string>>
  /** Absolute path; '' where no log was asked for. */
  readonly logPath: string
  /** What a ContainerStatus says beside the fields here, encoded: mounts, user, stop signal, resources. */
  encodedStatus: Buffer
  /** CriContainerState. */
  state: number
  startedAt: bigint
  finishedAt: bigint
  exitCode: number
  reason: string
  message: string
}

/** An image as the runtime's store holds it. */
export interface ImageRecord {
  /** `sha256:` and 64 hex digits. */
  readonly id: string
  readonly tags: string[]
  readonly digests: string[]
  /** Bytes. */
  readonly size: number
  readonly pinned: boolean
  /** Who its processes run as: a number, a name, or nothing (root). */
  readonly user: { readonly uid: number } | { readonly name: string } | null
}

/** What a change of the simulated node was; containers in the PLEG's words. */
export type ChangeType =
  | 'SandboxStarted'
  | 'SandboxStopped'
  | 'SandboxRemoved'
  | 'ContainerCreated'
  | 'ContainerStarted'
  | 'ContainerDied'
  | 'ContainerRemoved'
