import { basename } from 'node:path'
import { pino } from 'pino'
import type { Fields, Logger } from '../model/logger.js'
import { boundedText, escapeRest, type PlainValue, plainField } from './fields.js'
import { klogLine, type Severity } from './klog.js'

export interface LogOptions {
  readonly format: 'text' | 'json'
  /** Highest `v` that is written. */
  readonly verbosity: number
}

/** Takes whole lines. */
export interface LineSink {
  write(line: string): void
}

/** Stderr without waiting for it. */
export interface LogDestination extends LineSink {
  /** Lines lost because stderr was not read for `maxBuffered` bytes. */
  readonly dropped: number
  /** Writes what is buffered, waiting for it. Also done when the process ends. */
  flush(): void
}

/** Beyond this much unread text new lines are dropped and counted: a stuck reader must not cost memory. */
const maxBuffered = 4 << 20

/** Asynchronous, so that a slow terminal never blocks the main thread; pino flushes it at exit. */
export function stderrDestination(): LogDestination {
  const stream = pino.destination({ fd: 2, sync: false, maxLength: maxBuffered })
  let dropped = 0
  stream.on('drop', () => {
    dropped++
  })
  // A closed stderr leaves nobody to tell.
  stream.on('error', () => {})
  return {
    write: (line) => void stream.write(line),
    flush: () => {
      try {
        stream.flushSync()
      } catch {
        // As above; and before the descriptor is open there is nothing buffered that could be written.
      }
    },
    get dropped() {
      return dropped
    },
  }
}

/** `file:line` of who called the logger's method `below`. */
function callerOf(below: (...args: never[]) => void): string {
  const { prepareStackTrace, stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 1
    Error.prepareStackTrace = (_error, sites) => sites[0]
    const holder: { stack?: NodeJS.CallSite } = {}
    Error.captureStackTrace(holder, below)
    const site = holder.stack
    return site === undefined
      ? 'unknown:0'
      : `${basename(site.getFileName() ?? 'unknown')}:${site.getLineNumber() ?? 0}`
  } finally {
    Error.prepareStackTrace = prepareStackTrace
    Error.stackTraceLimit = stackTraceLimit
  }
}

type Emit = (severity: Severity, v: number, message: string, fields: Map<string, PlainValue>, caller: string) => void

function textEmit(sink: LineSink, wallMs: () => number): Emit {
  return (severity, _v, message, fields, caller) => sink.write(klogLine(severity, wallMs(), caller, message, fields))
}

/** The kubelet's JSON: `ts` (ms since 1970), `caller`, `msg`, `v` (not on errors), `err`; and `level`. */
function jsonEmit(sink: LineSink, wallMs: () => number): Emit {
  const destination = { write: (line: string) => sink.write(escapeRest(line)) }
  const log = pino(
    {
      base: null,
      level: 'info',
      timestamp: () => `,"ts":${wallMs()}`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  return (severity, v, message, fields, caller) => {
    const facts = { caller, ...(severity === 'error' ? {} : { v }), ...Object.fromEntries(fields) }
    log[severity](facts, message)
  }
}

/**
 * A logger in the kubelet's two formats. Values are bounded and free of control characters, so that one call is one
 * line whatever a runtime answered.
 */
export function createLogger(options: LogOptions, sink: LineSink, wallMs: () => number = Date.now): Logger {
  const emit = (options.format === 'json' ? jsonEmit : textEmit)(sink, wallMs)
  const write = (
    below: (...args: never[]) => void,
    severity: Severity,
    v: number,
    message: string,
    fields?: Fields,
  ) => {
    if (v > options.verbosity) return
    const plain = new Map<string, PlainValue>()
    for (const [key, value] of Object.entries(fields ?? {})) {
      if (value !== undefined) plain.set(key, plainField(value))
    }
    emit(severity, v, boundedText(message), plain, callerOf(below))
  }
  const logger: Logger = {
    error: (message, fields) => write(logger.error, 'error', 0, message, fields),
    warn: (message, fields) => write(logger.warn, 'warn', 0, message, fields),
    info: (message, fields) => write(logger.info, 'info', 0, message, fields),
    v: (level, message, fields) => write(logger.v, 'info', level, message, fields),
  }
  return logger
}
