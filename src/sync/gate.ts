import type { Clock } from '../model/clock.js'
import { formatGoDuration } from '../model/duration.js'
import type { Logger } from '../model/logger.js'
import { ChangeLog } from './changeLog.js'
import { aggregateText, type RuntimeProblem } from './runtimeState.js'

/** Backoff of the syncLoop while the node is unhealthy (kubelet syncLoop): 100 ms, doubled up to 5 s, reset by the first success. */
const baseMs = 100
const maxMs = 5_000
/** A good verdict holds for this long, so that a burst of events does not ask for each. */
const freshMs = 10

/**
 * Lets the syncLoop through only while nothing is wrong. The kubelet writes its line at each turn of the backoff, that is
 * every 5 s; here it is written at each change and once a minute (see ChangeLog), and at V(4) every time.
 */
export class HealthGate {
  private readonly clock: Clock
  private readonly problems: () => readonly RuntimeProblem[]
  private readonly logger: Logger
  private readonly log: ChangeLog
  private backoffMs = baseMs
  private goodAt = Number.NEGATIVE_INFINITY
  private shutAt: number | undefined
  skipped = 0

  constructor(clock: Clock, problems: () => readonly RuntimeProblem[], logger: Logger) {
    this.clock = clock
    this.problems = problems
    this.logger = logger
    this.log = new ChangeLog(clock)
  }

  /** How long it has been shut; 0 while it is open. */
  get skippingMs(): number {
    return this.shutAt === undefined ? 0 : this.clock.now() - this.shutAt
  }

  /** 0: go on. Else milliseconds to wait before asking again. */
  delayMs(): number {
    const now = this.clock.now()
    if (now - this.goodAt < freshMs) return 0
    const problems = this.problems()
    if (problems.length === 0) {
      this.open(now)
      return 0
    }
    this.shutAt ??= now
    this.skipped++
    const err = aggregateText(problems)
    if (this.log.isNews(problems.map(({ kind }) => kind).join()))
      this.logger.error('Skipping pod synchronization', { err })
    else this.logger.v(4, 'Skipping pod synchronization', { err })
    const delay = this.backoffMs
    this.backoffMs = Math.min(maxMs, 2 * delay)
    return delay
  }

  private open(now: number): void {
    this.goodAt = now
    this.backoffMs = baseMs
    if (this.shutAt === undefined) return
    this.logger.info('Resuming pod synchronization', { skippedFor: formatGoDuration(now - this.shutAt) })
    this.shutAt = undefined
    this.log.clear()
  }
}
