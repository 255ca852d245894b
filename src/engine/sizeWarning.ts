import type { Logger } from '../model/logger.js'
import type { RelistReport } from '../relist/lister.js'

/** Share of the limit from which on a list is worth a warning. */
const warnShare = 0.75

/** Warns before a node has so many pods that nobody can list them in one message any more. */
export class SizeWarning {
  private readonly limit: number
  private readonly logger: Logger
  private warned = false

  /** `limit`: of one message, bytes. */
  constructor(limit: number, logger: Logger) {
    this.limit = limit
    this.logger = logger
  }

  /** Warns once per crossing, not once per relist. */
  check({ largestList, sandboxes, containers, sandboxMode, containerMode }: RelistReport): void {
    const { limit } = this
    const over = largestList > limit * warnShare
    if (over && !this.warned) {
      this.logger.warn('A list nears the message limit of runtimes and of the kubelet', {
        bytes: largestList,
        limit,
        sandboxes,
        containers,
        podsAtLimit: Math.floor((sandboxes * limit) / largestList),
        sandboxMode,
        containerMode,
      })
    }
    this.warned = over
  }
}
