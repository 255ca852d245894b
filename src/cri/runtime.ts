import type { ContainerStatus, SandboxStatus } from '../model/pod.js'

/** Receives each item of a list, where it was read. `buf[start, end)` is one encoded PodSandbox or Container; it is only valid during the call. */
export interface ItemSink {
  item(buf: Buffer, start: number, end: number): void
  /**
   * Asked between two reads: a promise means "take no more from the runtime until it resolves" (back-pressure).
   * Absent: never.
   */
  congested?(): Promise<void> | undefined
}

/** Narrows a list on the runtime's side. All given conditions must hold. */
export interface ListFilter {
  readonly id?: string
  /** CRI's number: CriSandboxState or CriContainerState. */
  readonly state?: number
  /** Containers only. */
  readonly sandboxId?: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface CallOptions {
  /** Milliseconds until the call fails with DEADLINE_EXCEEDED. Default: the runtime's (2 min). 0 or less fails at once. */
  readonly deadlineMs?: number
  readonly signal?: AbortSignal
}

export interface ListOptions extends CallOptions {
  readonly filter?: ListFilter
}

/** What a list took. */
export interface ListReport {
  readonly items: number
  /** Bytes of the gRPC messages. */
  readonly bytes: number
  /** Size of the largest single message, to be held against the message limits of both sides. */
  readonly largestMessage: number
}

/** CRI v1 calls that are not hot: names as on the wire. Requests and answers are plain objects with snake_case keys as in proto/; int64 are strings, enums are names. */
export type UnaryCall = Exclude<
  | `${'Run' | 'Stop' | 'Remove' | 'List'}PodSandbox`
  | `${'Create' | 'Start' | 'Stop' | 'Remove' | 'Checkpoint'}Container`
  | 'Version'
  | 'Status'
  | 'PodSandboxStatus'
  | 'ContainerStatus'
  | 'ListContainers'
  | 'UpdateContainerResources'
  | 'ReopenContainerLog'
  | 'ExecSync'
  | 'Exec'
  | 'Attach'
  | 'PortForward'
  | 'ContainerStats'
  | 'ListContainerStats'
  | 'PodSandboxStats'
  | 'ListPodSandboxStats'
  | 'UpdateRuntimeConfig'
  | 'CheckpointPod'
  | 'RestorePod'
  | 'ListMetricDescriptors'
  | 'ListPodSandboxMetrics'
  | 'RuntimeConfig'
  | 'UpdatePodSandboxResources'
  | 'ListImages'
  | 'ImageStatus'
  | 'PullImage'
  | 'RemoveImage'
  | 'ImageFsInfo',
  never
>

export type PlainMessage = Record<string, unknown>

/**
 * The four hot calls of a relist: what a relist worker needs. One implementation per transport; all pass one
 * compliance suite (test/…/compliance). Connects on first use, reconnects for as long as it lives.
 *
 * Errors: CriError for what the runtime or the connection said, EndpointError for an endpoint that can't be one.
 */
export interface HotRuntime {
  readonly endpoint: string
  listPodSandboxes(sink: ItemSink, options?: ListOptions): Promise<ListReport>
  listContainers(sink: ItemSink, options?: ListOptions): Promise<ListReport>
  podSandboxStatus(id: string, options?: CallOptions): Promise<SandboxStatus>
  containerStatus(id: string, options?: CallOptions): Promise<ContainerStatus>
  close(): Promise<void>
}

/** A container runtime, whole. */
export interface Runtime extends HotRuntime {
  call(method: UnaryCall, request: PlainMessage, options?: CallOptions): Promise<PlainMessage>
  /** GetContainerEvents: the one call without a deadline. Ends when the runtime ends it, throws CriError when it breaks. */
  containerEvents(options?: { signal?: AbortSignal }): AsyncIterable<PlainMessage>
}
