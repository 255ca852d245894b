import { createWriteStream, type WriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { Command, Option } from '@commander-js/extra-typings'
import { parseRate } from '../../config/units.js'
import { parseGoDuration } from '../../model/duration.js'
import { messageOf, UsageError } from '../../model/errors.js'
import { changeLine } from '../../sim/changeLog.js'
import type { Fault } from '../../sim/faults.js'
import { serveSimulatedRuntime } from '../../sim/server/serve.js'
import { SimulatedRuntime } from '../../sim/simulatedRuntime.js'
import { argument, bytesArgument, integerArgument } from '../options.js'
import { print } from '../stdout.js'

type SimFlags = ReturnType<ReturnType<typeof simOptions>['opts']>

/** Changes a second: a number of them, or a share of the node's containers. */
export type Churn = { readonly perSecond: number } | { readonly share: number }

/** `10/s`, `30/m`, `0`, or `1%/s`: a share of the containers. Throws UsageError. */
export function parseChurn(text: string): Churn {
  const percent = /^(\d+(?:\.\d+)?)%\/s$/.exec(text)?.[1]
  return percent === undefined ? { perSecond: parseRate(text) } : { share: Number(percent) / 100 }
}

/** `ContainerStatus=5ms`. Throws UsageError. */
export function parseLatency(text: string): Fault {
  const [, call, duration] = /^([A-Za-z]+)=(.+)$/.exec(text) ?? []
  if (call === undefined || duration === undefined) {
    throw new UsageError(
      `invalid latency ${JSON.stringify(text)}: expected a CRI call and a duration, such as ContainerStatus=5ms`,
    )
  }
  return { call, kind: 'latency', ms: parseGoDuration(duration) }
}

function simOptions() {
  return new Command('sim')
    .description(
      'Serve a simulated container runtime: a node of pods in memory that lives by itself, for tests and load.',
    )
    .addOption(new Option('--socket <path>', 'unix socket to serve CRI on').makeOptionMandatory())
    .addOption(new Option('--pods <count>', 'pods at the start').default(110).argParser(integerArgument(0, 1_000_000)))
    .addOption(
      new Option('--containers <count>', 'containers of each pod').default(2).argParser(integerArgument(0, 100)),
    )
    .addOption(
      new Option('--dead <count>', 'dead predecessors that each container has')
        .default(0)
        .argParser(integerArgument(0, 1000)),
    )
    .addOption(
      new Option(
        '--churn <rate>',
        'containers that end and restart, pods that are replaced: 10/s, or 1%/s of the containers',
      )
        .default({ perSecond: 0 } as Churn, '0')
        .argParser(argument(parseChurn)),
    )
    .addOption(
      new Option('--seed <number>', 'the same seed gives the same node and life')
        .default(1)
        .argParser(integerArgument(0, 2 ** 32 - 1)),
    )
    .addOption(
      new Option('--latency <call=duration>', 'how late a call answers: ContainerStatus=5ms; may be repeated')
        .default([] as Fault[])
        .argParser((text, earlier: Fault[]) => [...earlier, argument(parseLatency)(text)]),
    )
    .addOption(
      new Option('--max-message <size>', "largest answer, as a runtime's limit: 16Mi (default: none)").argParser(
        bytesArgument,
      ),
    )
    .option('--log <file>', 'write every change of the node there, as JSON lines')
}

export function simCommand() {
  return simOptions().action(runSim)
}

/**
 * Serves a simulated runtime until SIGTERM or SIGINT. One JSON line on stdout says that it serves; all else goes to
 * stderr. Throws UsageError for a call that CRI doesn't have, EndpointError for a socket that can't be one.
 */
async function runSim(flags: SimFlags): Promise<void> {
  const { churn, pods, containers } = flags
  const log = flags.log === undefined ? null : openLog(flags.log)
  const sim = new SimulatedRuntime({
    pods,
    containersPerPod: containers,
    deadPerContainer: flags.dead,
    churn: 'share' in churn ? churn.share * pods * containers : churn.perSecond,
    seed: flags.seed,
    ...(log === null ? {} : { onChange: (change) => log.write(changeLine(change)) }),
  })
  for (const fault of flags.latency) {
    if (!sim.answers.has(fault.call)) throw new UsageError(`no CRI call is named ${fault.call}`)
    sim.faults.set(fault)
  }
  const ended = terminated()
  const server = await serveSimulatedRuntime(sim, resolve(flags.socket), {
    ...(flags.maxMessage === undefined ? {} : { maxSendBytes: flags.maxMessage }),
  })
  sim.start()
  await print(
    `${JSON.stringify({ endpoint: server.endpoint, pods: sim.sandboxCount, containers: sim.containerCount, seed: flags.seed })}\n`,
  )
  const signal = await ended
  process.stderr.write(`${signal}: ending the simulated runtime after ${sim.log.lastSeq} changes\n`)
  await server.stop()
  await sim.close()
  if (log !== null) await finished(log.end())
}

function openLog(path: string): WriteStream {
  const file = createWriteStream(path)
  file.on('error', (error) => {
    process.stderr.write(`error: ${path}: ${messageOf(error)}\n`)
    process.exitCode = 1
  })
  return file
}

function terminated(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  })
}
