import type { PlainMessage } from '../cri/runtime.js'
import type { Piece } from './listBook.js'

/** CRI requests as proto-loader decodes them (defaults set, absent messages null); only what the simulator reads. */

type Labels = Record<string, string>

export interface PodSandboxFilter {
  readonly id: string
  readonly state: { readonly state: string } | null
  readonly label_selector: Labels
}

export interface ContainerFilter extends PodSandboxFilter {
  readonly pod_sandbox_id: string
}

interface PodSandboxConfig {
  readonly metadata: { name: string; uid: string; namespace: string; attempt: number } | null
  readonly log_directory: string
  readonly labels: Labels
  readonly annotations: Labels
  readonly linux: { security_context: { namespace_options: (PlainMessage & { network: string }) | null } | null } | null
}

export interface ImageSpec {
  readonly image: string
  readonly user_specified_image: string
}

interface ContainerConfig {
  readonly metadata: { name: string; attempt: number } | null
  readonly image: ImageSpec | null
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly envs: readonly { key: string; value: Uint8Array }[]
  readonly mounts: readonly PlainMessage[]
  readonly labels: Labels
  readonly annotations: Labels
  readonly log_path: string
  readonly linux: {
    readonly resources: PlainMessage | null
    readonly security_context: {
      readonly run_as_user: object | null
      readonly run_as_username: string
      readonly run_as_group: object | null
    } | null
  } | null
  readonly stop_signal: string
}

interface SandboxId {
  readonly pod_sandbox_id: string
}

interface ContainerId {
  readonly container_id: string
}

/** Request of each unary call that the simulator answers. */
export interface Requests {
  Version: object
  Status: { verbose: boolean }
  RuntimeConfig: object
  UpdateRuntimeConfig: object
  RunPodSandbox: { config: PodSandboxConfig | null; runtime_handler: string }
  StopPodSandbox: SandboxId
  RemovePodSandbox: SandboxId
  PodSandboxStatus: SandboxId & { verbose: boolean }
  ListPodSandbox: { filter: PodSandboxFilter | null }
  CreateContainer: SandboxId & { config: ContainerConfig | null; sandbox_config: PodSandboxConfig | null }
  StartContainer: ContainerId
  StopContainer: ContainerId & { timeout: string }
  RemoveContainer: ContainerId
  ContainerStatus: ContainerId & { verbose: boolean }
  ListContainers: { filter: ContainerFilter | null }
  UpdateContainerResources: ContainerId & { linux: PlainMessage | null; annotations: Labels }
  ReopenContainerLog: ContainerId
  ExecSync: ContainerId & { cmd: readonly string[]; timeout: string }
  ContainerStats: ContainerId
  ListContainerStats: { filter: Omit<ContainerFilter, 'state'> | null }
  PodSandboxStats: SandboxId
  ListPodSandboxStats: { filter: Omit<PodSandboxFilter, 'state'> | null }
  ListMetricDescriptors: object
  ListPodSandboxMetrics: object
  ListImages: { filter: { image: ImageSpec | null } | null }
  ImageStatus: { image: ImageSpec | null; verbose: boolean }
  PullImage: { image: ImageSpec | null }
  RemoveImage: { image: ImageSpec | null }
  ImageFsInfo: object
}

/** One function a call: the answer as a plain message, encoded, or, of the lists, as encoded pieces. */
export type Handlers = {
  readonly [Call in keyof Requests]: (request: Requests[Call], context: CallContext) => Answer | Promise<Answer>
}

export type Answer = PlainMessage | Buffer | readonly Piece[]

export interface CallContext {
  readonly signal?: AbortSignal
}
