import { configDocument } from '../config/load.js'
import type { PlegdConfig } from '../config/schema.js'
import type { Runtime } from '../cri/runtime.js'
import type { Engine } from '../engine/api.js'
import type { Logger } from '../model/logger.js'
import { SyncLoop } from '../sync/loop.js'
import { ReportingHandler } from '../sync/reporting.js'
import { RuntimeState } from '../sync/runtimeState.js'
import { pollRuntimeStatus } from '../sync/statusPoller.js'
import { agentChecks } from './checks.js'
import { logSummaries, showLive, type Terminal } from './display.js'
import { createServer, listen, type MetricsPage, requireLoopback } from './server.js'
import type { AgentFacts, AgentSnapshot } from './snapshot.js'

/** What an agent is put together from. It owns none of it: who made a part ends it. */
export interface AgentParts {
  readonly config: PlegdConfig
  readonly facts: AgentFacts
  readonly engine: Engine
  /** For the calls that are not hot. */
  readonly runtime: Pick<Runtime, 'call'>
  readonly metrics: (snapshot: () => AgentSnapshot) => MetricsPage
  readonly logger: Logger
  /** Absent: a line every few seconds. */
  readonly terminal?: Terminal
  /** Told where HTTP is served. */
  readonly onListening?: (url: string) => void
}

/**
 * Runs the agent until the signal aborts: engine, syncLoop, status poll, HTTP, summary. Then readiness drops first and the
 * rest ends.
 *
 * @throws UsageError or PlegdError HTTP_LISTEN before anything else has begun; later what broke the syncLoop.
 */
export async function runAgent(parts: AgentParts, signal: AbortSignal): Promise<void> {
  const { config, facts, engine, runtime, logger } = parts
  const { clock } = engine
  requireLoopback(config.healthzBindAddress)
  const state = new RuntimeState(clock, () => engine.health())
  const loop = new SyncLoop({
    handler: new ReportingHandler(logger),
    events: engine.events(),
    problems: () => state.problems(),
    clock,
    logger,
    housekeepingPeriodMs: config.housekeepingPeriod,
  })
  const snapshot = (): AgentSnapshot => ({
    ...facts,
    wallMs: clock.wallMs(),
    stats: engine.stats(),
    health: engine.health(),
    sync: loop.stats(),
    problems: state.problems(),
    network: state.networkProblem,
  })
  const app = createServer({
    checks: agentChecks({
      health: () => engine.health(),
      syncLoop: () => loop.healthCheck(),
      stopping: () => signal.aborted,
    }),
    metrics: parts.metrics(snapshot),
    snapshot,
    pods: () => engine.cache.list(),
    config: () => configDocument(config),
  })

  // One signal for all parts, so that the first that breaks ends the others.
  const parted = new AbortController()
  const stop = () => parted.abort()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    const url = await listen(app, config.healthzBindAddress, config.healthzPort)
    logger.info('Serving health, metrics and status', { url })
    parts.onListening?.(url)
    await engine.start()
    const show =
      parts.terminal === undefined
        ? logSummaries(logger, snapshot, clock, parted.signal)
        : showLive(parts.terminal, snapshot, clock, parted.signal)
    const poll = pollRuntimeStatus(runtime, state, clock, logger, parted.signal)
    await Promise.all([show, poll, loop.run(parted.signal)].map((part) => part.finally(stop)))
  } finally {
    signal.removeEventListener('abort', stop)
    await engine.stop()
    await app.close()
  }
}
