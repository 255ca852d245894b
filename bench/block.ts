/** How the served runtime takes its time over status calls: each by itself, one after another, or eight at a time. */
export const models = ['independent', 'lock', 'saturating'] as const
export type Model = (typeof models)[number]

/** `floor` reads the same lists and looks at none: what the transport and the runtime alone take. */
export const contenders = ['plegd', 'floor', 'plain', 'kubelet'] as const
export type ContenderName = (typeof contenders)[number]
/** `cold`: a start, at the kubelet's period. `idle`: nothing changes. `churn`: containers restart before each relist. */
export type BlockKind = 'cold' | 'idle' | 'churn'

/** One measurement: one contender, in a process of its own, against a runtime of its own. Times in milliseconds. */
export interface BlockSpec {
  readonly kind: BlockKind
  readonly contender: ContenderName
  readonly server: 'sim' | 'crisim'
  readonly pods: number
  /** Of each pod. */
  readonly containers: number
  /** Dead predecessors that each container has from the start. */
  readonly dead: number
  /** Containers restarted before each relist. */
  readonly restarts: number
  readonly statusLatencyMs: number
  readonly model: Model
  /** Of plegd; null: the engine's own. */
  readonly inspectConcurrency: number | null
  readonly shards: number | null
  readonly transport: 'h2' | 'grpc' | null
  /** Pause after each relist. */
  readonly periodMs: number
  /** Relists that are not measured, after the first. */
  readonly warmup: number
  readonly laps: number
  /** Measured relists of each lap. */
  readonly relists: number
  readonly seed: number
}

/** What a lap gives: raw times, so that blocks can be put together and compared. */
export interface Lap {
  readonly relistMs: readonly number[]
  /** From the start of the list to the last event in the channel; empty where nothing changed. */
  readonly changeMs: readonly number[]
  /** Whole process, all threads, per relist. */
  readonly cpuMs: number
}

/** The first relist after a start, counted from the start of its first list. */
export interface Cold {
  /** From the start of the engine to the start of the first list; null where the contender does not tell. */
  readonly threadsMs: number | null
  readonly listViewMs: number | null
  readonly firstEventMs: number | null
  /** Every pod inspected, its events in the channel. */
  readonly inspectedMs: number
  readonly relistMs: number
}

/** What a contender's process reports of a block. null: the contender does not tell. */
export interface BlockResult {
  readonly pods: number
  readonly containers: number
  readonly bytes: number | null
  readonly laps: readonly Lap[]
  readonly cold: Cold | null
  readonly events: number | null
  /** What the server changed and no event told, or that events told and the server did not change. */
  readonly eventsLost: number | null
  readonly listCallsPerRelist: number | null
  readonly statusCallsPerRelist: number | null
  /** Items handed on by the lister, and the bytes copied for it. */
  readonly itemsPerRelist: number | null
  readonly bytesCopiedPerRelist: number | null
  readonly loopDelayP99Ms: number | null
  readonly loopDelayMaxMs: number | null
  readonly peakRssMiB: number
  /** JavaScript objects of the main thread after a collection: what the pod cache holds. */
  readonly heapMiB: number | null
  /** List failures, for a contender that goes on after one. */
  readonly failures: number
  readonly note?: string
}

export interface Block {
  readonly spec: BlockSpec
  readonly result: BlockResult
  /** Not of this run: kept from another machine. */
  readonly elsewhere?: boolean
}
