import { formatGoDuration } from '../model/duration.js'
import type { DegradedPod, Health, InflightCall } from '../model/health.js'

/** A status call that has been in flight for longer makes its pod degraded, before it has failed. */
const hangingAfterMs = 10_000
/** Relists in a row that must be quicker than the period before `slow` ends, so that the verdict does not flap. */
const recoverAfter = 3

export interface HealthInput {
  /** Now, start of the engine and start of the last good list (null: none yet), monotonic ms. */
  readonly now: number
  readonly startedAt: number
  readonly lastSeenAt: number | null
  readonly periodMs: number
  readonly thresholdMs: number
  /** Length of the last relists, newest last; those that failed are not among them. */
  readonly recentRelistMs: readonly number[]
  readonly attempts: number
  readonly lastError: string
  /** Oldest first. */
  readonly inflight: readonly InflightCall[]
  readonly degraded: readonly DegradedPod[]
}

/**
 * The verdict (DESIGN.md section 3). `ok` and `message` are the kubelet's PLEG health check (v1.37 pleg/generic.go
 * Healthy): age of the last successful list's start, strictly above the threshold.
 */
export function judge(input: HealthInput): Health {
  const { now, lastSeenAt, thresholdMs, inflight } = input
  const hanging = inflight.filter((call) => call.pod !== null && call.ageMs > hangingAfterMs)
  const degraded = withHanging(input.degraded, hanging)
  const common = { degraded, inflight, lastSeenMs: lastSeenAt === null ? null : now - lastSeenAt }
  if (lastSeenAt === null) {
    const age = now - input.startedAt
    const verdict = age > thresholdMs ? 'stuck' : 'starting'
    return { ...common, verdict, ok: false, message: 'pleg has yet to be successful', reason: neverListed(input, age) }
  }
  const age = now - lastSeenAt
  if (age > thresholdMs) {
    const message = `pleg was last seen active ${formatGoDuration(age)} ago; threshold is ${formatGoDuration(thresholdMs)}`
    return { ...common, verdict: 'stuck', ok: false, message, reason: whatBlocks(input) }
  }
  const healthy = { ...common, ok: true, message: '' }
  if (degraded.length > 0) return { ...healthy, verdict: 'degraded', reason: nameDegraded(degraded) }
  if (isSlow(input.recentRelistMs, input.periodMs)) {
    const last = input.recentRelistMs.at(-1)!
    const reason = `the last relist took ${formatGoDuration(Math.round(last))}; the period is ${formatGoDuration(input.periodMs)}`
    return { ...healthy, verdict: 'slow', reason }
  }
  return { ...healthy, verdict: 'healthy', reason: '' }
}

function isSlow(recent: readonly number[], periodMs: number): boolean {
  return recent.slice(-recoverAfter).some((ms) => ms > periodMs)
}

function neverListed(input: HealthInput, age: number): string {
  const tries = `no relist has succeeded yet (${input.attempts} attempts in ${formatGoDuration(Math.round(age))}`
  return `${tries}${input.lastError === '' ? '' : `, last error: ${input.lastError}`})${suffix(input)}`
}

function whatBlocks(input: HealthInput): string {
  const list = input.inflight.find((call) => call.pod === null)
  if (list !== undefined) return `${list.call} has not answered for ${seconds(list.ageMs)}${suffix(input)}`
  if (input.lastError !== '') return `the last relist failed: ${input.lastError}${suffix(input)}`
  return `no list is in flight${suffix(input)}`
}

/** The oldest call is the likely blocker. */
function suffix(input: HealthInput): string {
  const oldest = input.inflight.find((call) => call.pod !== null)
  if (oldest === undefined) return ''
  return `; oldest other call: ${oldest.call} ${oldest.id} (${name(oldest)}), ${seconds(oldest.ageMs)}`
}

function nameDegraded(degraded: readonly DegradedPod[]): string {
  const shown = degraded.slice(0, 5).map((pod) => {
    return `${pod.pod.namespace}/${pod.pod.name}: ${pod.call} ${pod.id} for ${seconds(pod.sinceMs)} (${pod.lastError})`
  })
  const more = degraded.length > shown.length ? `, and ${degraded.length - shown.length} more` : ''
  return `the lists are fine, but ${degraded.length} pods can't be inspected: ${shown.join(', ')}${more}`
}

function withHanging(failing: readonly DegradedPod[], hanging: readonly InflightCall[]): DegradedPod[] {
  const known = new Set(failing.map((one) => one.pod.uid))
  const all = [...failing]
  for (const { pod, call, id, ageMs } of hanging) {
    if (pod === null || known.has(pod.uid)) continue
    known.add(pod.uid)
    all.push({ pod, call, id, sinceMs: ageMs, failures: 0, lastError: 'no answer yet' })
  }
  return all
}

function name(call: InflightCall): string {
  return call.pod === null ? 'unknown pod' : `${call.pod.namespace}/${call.pod.name}`
}

function seconds(ms: number): string {
  return formatGoDuration(Math.round(ms / 100) * 100)
}
