import type { Clock } from '../model/clock.js'
import { formatGoDuration } from '../model/duration.js'
import { messageOf } from '../model/errors.js'
import type { Logger } from '../model/logger.js'

/** A pass over this is told as an error (kubelet housekeepingWarningDuration). */
const warningMs = 1_000

/**
 * Runs housekeeping beside the loop: a pass that waits for a slow runtime must not hold up updates (kubernetes#98607,
 * creations half an hour late). A tick during a pass is skipped.
 */
export class Housekeeping {
  private readonly pass: (signal: AbortSignal) => Promise<void>
  private readonly clock: Clock
  private readonly logger: Logger
  private running: Promise<void> | undefined
  private startedAt = 0
  passes = 0

  constructor(pass: (signal: AbortSignal) => Promise<void>, clock: Clock, logger: Logger) {
    this.pass = pass
    this.clock = clock
    this.logger = logger
  }

  /** Of the pass that runs; 0 between two. */
  get runningMs(): number {
    return this.running === undefined ? 0 : this.clock.now() - this.startedAt
  }

  tick(signal: AbortSignal): void {
    if (this.running !== undefined) return
    this.startedAt = this.clock.now()
    this.passes++
    this.running = this.run(signal).finally(() => {
      this.running = undefined
    })
  }

  async ended(): Promise<void> {
    await this.running
  }

  private async run(signal: AbortSignal): Promise<void> {
    this.logger.v(4, 'SyncLoop (housekeeping)')
    try {
      await this.pass(signal)
    } catch (error) {
      if (!signal.aborted) this.logger.error('Failed cleaning pods', { err: messageOf(error) })
    }
    const tookMs = this.clock.now() - this.startedAt
    if (tookMs > warningMs) {
      this.logger.error('Housekeeping took longer than expected', {
        expected: formatGoDuration(warningMs),
        actual: formatGoDuration(tookMs),
      })
    }
    this.logger.v(4, 'SyncLoop (housekeeping) end', { duration: formatGoDuration(tookMs) })
  }
}
