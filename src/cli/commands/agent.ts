import { runAgent } from '../../agent/run.js'
import { requireLoopback } from '../../agent/server.js'
import { configYaml } from '../../config/load.js'
import type { PlegdConfig } from '../../config/schema.js'
import { connectRuntime } from '../../cri/connect.js'
import { createEngine } from '../../engine/engine.js'
import type { Logger } from '../../model/logger.js'
import { startEmbeddedSim } from '../../sim/embedded.js'
import { createLogger, type LogDestination, stderrDestination } from '../../telemetry/logger.js'
import { createMetrics } from '../../telemetry/metrics.js'
import { agentOptions, resolveAgentConfig } from '../agentOptions.js'
import { LogTail } from '../logTail.js'
import { abortOnSignals, endMs } from '../signals.js'
import { print } from '../stdout.js'
import { packageVersion } from '../version.js'

/** The node that is shown where no runtime is named. */
const embeddedNode = { pods: 2_000, containersPerPod: 2, churn: 10 } as const

async function withEmbeddedNode(logger: Logger, run: (endpoint: string, name: string) => Promise<void>): Promise<void> {
  const sim = await startEmbeddedSim(embeddedNode, logger)
  try {
    await run(sim.endpoint, `embedded simulated node (${embeddedNode.pods} pods, ${embeddedNode.churn} changes/s)`)
  } finally {
    await sim.stop()
  }
}

async function observe(
  config: PlegdConfig,
  endpoint: string,
  runtimeName: string,
  logger: Logger,
  destination: LogDestination,
  tail: LogTail | undefined,
  signal: AbortSignal,
): Promise<void> {
  const transport = config.runtimeTransport === undefined ? {} : { transport: config.runtimeTransport }
  const engine = createEngine({
    endpoint,
    ...transport,
    relistPeriodMs: config.plegRelistPeriod,
    relistThresholdMs: config.plegRelistThreshold,
    channelCapacity: config.plegChannelCapacity,
    overflow: config.plegChannelOverflow,
    ...(config.shards === undefined ? {} : { shards: config.shards }),
    inspectConcurrency: config.inspectConcurrency,
    runtimeRequestTimeoutMs: config.runtimeRequestTimeout,
    messageWarnBytes: config.messageWarnSize,
    logger,
  })
  const runtime = await connectRuntime(endpoint, { ...transport, deadlineMs: config.runtimeRequestTimeout })
  const version = packageVersion()
  try {
    await runAgent(
      {
        config,
        facts: { version, nodeName: config.nodeName, runtime: runtimeName, thresholdMs: config.plegRelistThreshold },
        engine,
        runtime,
        metrics: (snapshot) =>
          createMetrics(() => ({
            ...snapshot(),
            messageWarnBytes: config.messageWarnSize,
            droppedLogLines: destination.dropped,
          })),
        logger,
        ...(tail === undefined ? {} : { terminal: { stream: process.stdout, log: () => tail.lines } }),
      },
      signal,
    )
  } finally {
    await runtime.close()
  }
}

export function agentCommand() {
  return agentOptions().action(async (flags) => {
    const { config, notices } = resolveAgentConfig(flags)
    for (const notice of notices) process.stderr.write(`${notice}\n`)
    if (flags.printConfig) return print(configYaml(config))
    requireLoopback(config.healthzBindAddress)

    const { signal } = abortOnSignals(endMs)
    const tail = process.stdout.isTTY && process.stderr.isTTY ? new LogTail() : undefined
    const destination = stderrDestination()
    const logger = createLogger(config.logging, tail ?? destination)
    try {
      const run = (endpoint: string, name: string) => observe(config, endpoint, name, logger, destination, tail, signal)
      const endpoint = config.containerRuntimeEndpoint
      await (endpoint === '' ? withEmbeddedNode(logger, run) : run(endpoint, endpoint))
    } finally {
      destination.flush()
    }
  })
}
