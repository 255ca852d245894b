import type { Fields, Logger } from '../../src/model/logger.js'

export interface LogLine {
  readonly severity: 'error' | 'warn' | 'info'
  readonly v: number
  readonly message: string
  readonly fields: Fields
}

/** Keeps what is logged. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = []

  error(message: string, fields: Fields = {}): void {
    this.lines.push({ severity: 'error', v: 0, message, fields })
  }

  warn(message: string, fields: Fields = {}): void {
    this.lines.push({ severity: 'warn', v: 0, message, fields })
  }

  info(message: string, fields: Fields = {}): void {
    this.lines.push({ severity: 'info', v: 0, message, fields })
  }

  v(level: number, message: string, fields: Fields = {}): void {
    this.lines.push({ severity: 'info', v: level, message, fields })
  }

  /** Lines with this message, as seen at verbosity `max`. */
  seen(message: string, max = 2): LogLine[] {
    return this.lines.filter((line) => line.message === message && line.v <= max)
  }
}
