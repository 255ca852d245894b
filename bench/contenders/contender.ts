/** What a contender tells of each relist. Times in milliseconds, `stamp` on CLOCK_MONOTONIC, before the first list call. */
export interface Relisted {
  readonly stamp: number
  readonly relistMs: number
  readonly pods: number
  readonly containers: number
  readonly bytes: number | null
  readonly items: number | null
  readonly bytesCopied: number | null
}

export interface Hooks {
  relisted(relist: Relisted): void
  /** An event has left the channel. */
  event(): void
}

/** An agent that relists by itself, one pause after another, until it is stopped. */
export interface Contender {
  start(hooks: Hooks): Promise<void>
  stop(): Promise<void>
  /** Pods that a reader of its state sees. */
  listed(): number
  calls(): { readonly lists: number; readonly statuses: number; readonly failures: number }
}
