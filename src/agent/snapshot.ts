import type { EngineStats } from '../engine/api.js'
import type { Health } from '../model/health.js'
import type { RuntimeProblem } from '../sync/runtimeState.js'
import type { SyncStats } from '../sync/stats.js'

/** What never changes while the agent runs. */
export interface AgentFacts {
  readonly version: string
  readonly nodeName: string
  /** Where the runtime is, for people. */
  readonly runtime: string
  /** Age of the last good list beyond which PLEG is not healthy, ms. */
  readonly thresholdMs: number
}

/** The agent at one instant. */
export interface AgentSnapshot extends AgentFacts {
  readonly wallMs: number
  readonly stats: EngineStats
  readonly health: Health
  readonly sync: SyncStats
  /** What stops the syncLoop. */
  readonly problems: readonly RuntimeProblem[]
  /** '' or what is wrong with the runtime's network. */
  readonly network: string
}
