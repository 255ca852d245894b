import { createLogUpdate } from 'log-update'
import { type Clock, sleep } from '../model/clock.js'
import type { Logger } from '../model/logger.js'
import type { AgentSnapshot } from './snapshot.js'
import { render, summaryFields } from './summary.js'

/** A terminal that the live page is drawn on, and the log lines that would otherwise scroll it away. */
export interface Terminal {
  readonly stream: NodeJS.WriteStream
  readonly log: () => readonly string[]
}

const redrawMs = 500
const plainMs = 5_000

/** Draws the live page until the signal aborts; the last one stays. */
export async function showLive(
  terminal: Terminal,
  snapshot: () => AgentSnapshot,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { stream, log } = terminal
  const update = createLogUpdate(stream)
  let before: AgentSnapshot | undefined
  while (!signal.aborted) {
    const now = snapshot()
    update(render(now, before, log(), stream.columns || 80, (stream.rows || 24) - 1))
    before = now
    await sleep(clock, redrawMs, signal)
  }
  update.done()
}

/** One line every few seconds, where there is no terminal. */
export async function logSummaries(
  logger: Logger,
  snapshot: () => AgentSnapshot,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let before: AgentSnapshot | undefined
  for (;;) {
    await sleep(clock, plainMs, signal)
    if (signal.aborted) return
    const now = snapshot()
    logger.info('Summary', summaryFields(now, before))
    before = now
  }
}
