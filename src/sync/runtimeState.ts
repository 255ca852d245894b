import type { Clock } from '../model/clock.js'
import type { Health } from '../model/health.js'

/** Why the node is not ready, as the kubelet says it. `kind` stays the same while only an age in the text moves. */
export interface RuntimeProblem {
  readonly kind: 'status-unknown' | 'down' | 'pleg' | 'not-ready'
  readonly message: string
}

/** Age of the last good answer from which the runtime counts as down (kubelet runtime.go). */
const staleMs = 30_000

/** What stops the syncLoop (kubelet runtimeState): the runtime's own status, and PLEG's health. */
export class RuntimeState {
  private readonly clock: Clock
  private readonly health: () => Health
  private statusAt: number | undefined
  private notReady = ''
  private network = 'network state unknown'

  constructor(clock: Clock, health: () => Health) {
    this.clock = clock
    this.health = health
  }

  /** Why pods without the host's network can not run; '' when they can. It does not stop the loop. */
  get networkProblem(): string {
    return this.network
  }

  /** The runtime answered, and says what is wrong with itself and its network ('': nothing). */
  statusAnswered(notReady: string, network: string): void {
    this.notReady = notReady
    this.network = network
    if (notReady === '') this.statusAt = this.clock.now()
  }

  problems(): readonly RuntimeProblem[] {
    const health = this.health()
    const problems: RuntimeProblem[] = []
    if (this.statusAt === undefined) {
      problems.push({ kind: 'status-unknown', message: 'container runtime status check may not have completed yet' })
    } else {
      // A list that came back proves that the runtime is up as well as a Status answer does: one slow call is no outage.
      const statusAge = this.clock.now() - this.statusAt
      if (Math.min(statusAge, health.lastSeenMs ?? statusAge) >= staleMs) {
        problems.push({ kind: 'down', message: 'container runtime is down' })
      }
    }
    if (!health.ok) problems.push({ kind: 'pleg', message: `PLEG is not healthy: ${health.message}` })
    if (this.notReady !== '')
      problems.push({ kind: 'not-ready', message: `container runtime not ready: ${this.notReady}` })
    return problems
  }
}

/** As apimachinery prints an aggregate: one error bare, several in brackets. */
export function aggregateText(problems: readonly RuntimeProblem[]): string {
  const messages = problems.map(({ message }) => message)
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`
}
