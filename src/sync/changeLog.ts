import type { Clock } from '../model/clock.js'

/**
 * Decides which of many equal reports become a line: the first of each state, and one reminder a minute while it lasts.
 * Counting lines is then counting changes (gardener#844), and a log alert over some minutes still sees a state that lasts.
 */
export class ChangeLog {
  private readonly clock: Clock
  private readonly reminderMs: number
  private state = ''
  private loggedAt = 0

  constructor(clock: Clock, reminderMs = 60_000) {
    this.clock = clock
    this.reminderMs = reminderMs
  }

  /** True where the state differs from the last one told, or that was told long ago. */
  isNews(state: string): boolean {
    const now = this.clock.now()
    if (state === this.state && now - this.loggedAt < this.reminderMs) return false
    this.state = state
    this.loggedAt = now
    return true
  }

  /** Back to the good state, which is never told. */
  clear(): void {
    this.state = ''
  }
}
