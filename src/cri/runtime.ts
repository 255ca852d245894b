import type { ContainerStatus, SandboxStatus } from '../model/pod.js'

/** Receives each item of a list, where it was read. `buf[start, end)` is one encoded PodSandbox or Container; it is only valid during the call. */
export interface ItemSink {
  item(buf: Buffer, start: number, end: number): void
  /**
   * Asked between two reads: a promise means "take no more from the runtime until it resolves" (back-pressure).
   * Absent: never.
   */
  congested?(): Promise<void> | undefined
  /**
   * Asked at the end of a list that was put together from several answers: ids that the sink knows from lists before
   * and was not shown. Each is looked for once more, by its id. Absent: none.
   */
  unseen?(): Iterable<string>
}

/**
 * How a list came: `streaming` in many messages (StreamPodSandboxes, StreamContainers; KEP-5825), `unary` in one,
 * `filtered` in several unary answers, because one would be over the runtime's message limit.
 */
export const listModes = ['streaming', 'unary', 'filtered'] as const
export type ListMode = (typeof listModes)[number]

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
  readonly mode: ListMode
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
 * The four hot calls of a relist: what a relist worker needs. Connects on first use, reconnects for as long as it lives.
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

/**
 * What there is one implementation of per transport; all pass one compliance suite (test/…/compliance). A list is one
 * call, as it is named: which one to make is ListingRuntime's matter.
 */
export interface Transport extends HotRuntime {
  /** Rejects with UNIMPLEMENTED where the runtime can't stream; when it breaks, the sink has been shown part of the list. */
  streamPodSandboxes(sink: ItemSink, options?: ListOptions): Promise<ListReport>
  streamContainers(sink: ItemSink, options?: ListOptions): Promise<ListReport>
}

/** A container runtime, whole. */
export interface Runtime extends HotRuntime {
  call(method: UnaryCall, request: PlainMessage, options?: CallOptions): Promise<PlainMessage>
  /** GetContainerEvents: the one call without a deadline. Ends when the runtime ends it, throws CriError when it breaks. */
  containerEvents(options?: { signal?: AbortSignal }): AsyncIterable<PlainMessage>
}
