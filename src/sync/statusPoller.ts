import type { Runtime } from '../cri/runtime.js'
import { type Clock, sleep } from '../model/clock.js'
import { messageOf } from '../model/errors.js'
import type { Logger } from '../model/logger.js'
import { ChangeLog } from './changeLog.js'
import type { RuntimeState } from './runtimeState.js'

const pollMs = 5_000

interface Condition {
  readonly type: string
  readonly status: boolean
  readonly reason: string
  readonly message: string
}

function conditionsOf(answer: unknown): readonly Condition[] {
  const status = (answer as { status?: { conditions?: unknown } | null }).status
  const list = Array.isArray(status?.conditions) ? (status.conditions as Partial<Condition>[]) : []
  return list.map(({ type = '', status = false, reason = '', message = '' }) => ({ type, status, reason, message }))
}

/** '' where the condition holds, else the kubelet's text for it. */
function complaint(conditions: readonly Condition[], type: string): string {
  const found = conditions.find((condition) => condition.type === type)
  if (found === undefined) return `${type}=false reason:ConditionMissing message:the runtime reports no such condition`
  return found.status ? '' : `${type}=false reason:${found.reason} message:${found.message}`
}

/** Asks the runtime for its status every 5 s (kubelet updateRuntimeUp) until the signal aborts. */
export async function pollRuntimeStatus(
  runtime: Pick<Runtime, 'call'>,
  state: RuntimeState,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const failures = new ChangeLog(clock)
  const notes = new ChangeLog(clock)
  while (!signal.aborted) {
    try {
      const conditions = conditionsOf(await runtime.call('Status', {}, { signal }))
      const notReady = complaint(conditions, 'RuntimeReady')
      const network = complaint(conditions, 'NetworkReady')
      state.statusAnswered(notReady, network === '' ? '' : `container runtime network not ready: ${network}`)
      failures.clear()
      if (notReady === '' && network === '') notes.clear()
      else if (notes.isNews(`${notReady};${network}`)) {
        if (network !== '') logger.info('Container runtime network not ready', { networkReady: network })
        if (notReady !== '') logger.info('Container runtime not ready', { runtimeReady: notReady })
      }
    } catch (error) {
      const err = messageOf(error)
      if (!signal.aborted && failures.isNews(err)) logger.error('Container runtime sanity check failed', { err })
    }
    await sleep(clock, pollMs, signal)
  }
}
