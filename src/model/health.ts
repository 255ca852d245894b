import type { PodRef } from './pod.js'

/**
 * - `starting`: no list has come back yet, and the threshold has not passed since the start
 * - `healthy`
 * - `slow`: relists finish, but take longer than the period
 * - `degraded`: the lists are fine, but the named pods can't be inspected
 * - `stuck`: no list came back for longer than the threshold. The only one that stops the syncLoop.
 */
export type Verdict = 'starting' | 'healthy' | 'slow' | 'degraded' | 'stuck'

/** A call that has not answered yet. */
export interface InflightCall {
  readonly call: string
  /** Sandbox or container id; '' for a list. */
  readonly id: string
  readonly pod: PodRef | null
  readonly ageMs: number
}

export interface DegradedPod {
  readonly pod: PodRef
  /** The call that fails or hangs. */
  readonly call: string
  readonly id: string
  /** How long the pod could not be inspected. */
  readonly sinceMs: number
  readonly failures: number
  readonly lastError: string
}

export interface Health {
  readonly verdict: Verdict
  /** Whether the syncLoop may go on: what the kubelet's PLEG health check answers. */
  readonly ok: boolean
  /** The kubelet's sentence to the letter where it holds (`pleg was last seen active …`), else ''. */
  readonly message: string
  /** For people: what holds things up, in one line. */
  readonly reason: string
  /** Age of the last good list's start; null before the first. */
  readonly lastSeenMs: number | null
  readonly degraded: readonly DegradedPod[]
  /** Oldest first. */
  readonly inflight: readonly InflightCall[]
}
