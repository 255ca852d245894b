import type { LineSink } from '../telemetry/logger.js'

/** More than any terminal shows. */
const kept = 200

/** Keeps the newest log lines for a page that would otherwise be scrolled away by them. */
export class LogTail implements LineSink {
  readonly lines: string[] = []

  write(line: string): void {
    this.lines.push(line.trimEnd())
    if (this.lines.length > kept) this.lines.shift()
  }
}
