/** What the syncLoop selects between. */
export type SyncSource = 'config' | 'pleg' | 'sync' | 'probe' | 'housekeeping'
export const syncSources: readonly SyncSource[] = ['config', 'pleg', 'sync', 'probe', 'housekeeping']

/** A cheap snapshot of the syncLoop. Durations in seconds. */
export interface SyncStats {
  /** Iterations by what was taken. */
  readonly taken: Readonly<Record<SyncSource, number>>
  /** Rounds in which the health gate was shut. */
  readonly skipped: number
  /** How long the gate has been shut; 0 while it is open. */
  readonly skippingSeconds: number
  /** Since the loop last began or ended an iteration; null before the first. */
  readonly lastIterationSeconds: number | null
  readonly configDepth: number
  readonly configCapacity: number
  readonly probeDepth: number
  readonly probeCapacity: number
  readonly housekeepings: number
  /** Of the pass that runs now; 0 between two. */
  readonly housekeepingSeconds: number
}
