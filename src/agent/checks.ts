import type { Health } from '../model/health.js'

/** One thing that must hold: answers '' or why it doesn't. */
export interface Check {
  readonly name: string
  run(): string
}

/** What an endpoint answers. */
export interface CheckAnswer {
  readonly status: 200 | 500
  readonly text: string
}

/** The answer of `/healthz` and its like, as Kubernetes components give it: `ok`, or the list where it is asked for or something failed. */
export function runChecks(endpoint: string, checks: readonly Check[], verbose: boolean): CheckAnswer {
  const results = checks.map((check) => ({ name: check.name, why: check.run() }))
  const failed = results.some(({ why }) => why !== '')
  if (!failed && !verbose) return { status: 200, text: 'ok' }
  const lines = results.map(({ name, why }) => (why === '' ? `[+]${name} ok` : `[-]${name} failed: ${why}`))
  lines.push(`${endpoint} check ${failed ? 'failed' : 'passed'}`)
  return { status: failed ? 500 : 200, text: `${lines.join('\n')}\n` }
}

/** The answer of `/healthz/NAME`. */
export function runCheck(check: Check): CheckAnswer {
  const why = check.run()
  return why === '' ? { status: 200, text: 'ok' } : { status: 500, text: `internal server error: ${why}\n` }
}

export interface CheckSources {
  readonly health: () => Health
  readonly syncLoop: () => string
  /** True from the first signal on. */
  readonly stopping: () => boolean
}

/**
 * - healthz: is something wrong that a person should look at? A start that has not listed yet is not (kubernetes#84891).
 * - livez: would a restart help? A stuck runtime is not cured by one.
 * - readyz: may what this agent says be relied on?
 */
export function agentChecks({
  health,
  syncLoop,
  stopping,
}: CheckSources): Readonly<Record<'healthz' | 'livez' | 'readyz', readonly Check[]>> {
  const ping: Check = { name: 'ping', run: () => '' }
  const loop: Check = { name: 'syncloop', run: syncLoop }
  const pleg: Check = {
    name: 'pleg',
    run: () => (health().verdict === 'stuck' ? health().message || health().reason : ''),
  }
  const listed: Check = {
    name: 'pleg',
    run: () => (health().ok ? '' : health().message || health().reason || 'pleg is not healthy'),
  }
  const shutdown: Check = { name: 'shutdown', run: () => (stopping() ? 'the agent is shutting down' : '') }
  return { healthz: [ping, loop, pleg], livez: [ping, loop], readyz: [ping, loop, listed, shutdown] }
}
