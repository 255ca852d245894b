import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Command } from '@commander-js/extra-typings'
import { type Churn, parseChurn } from '../../src/cli/commands/sim.js'
import { argument, integerArgument } from '../../src/cli/options.js'
import { createEngine } from '../../src/engine/engine.js'
import { systemClock } from '../../src/model/clock.js'
import { parseGoDuration } from '../../src/model/duration.js'
import type { PodLifecycleEvent } from '../../src/model/event.js'
import type { Change } from '../../src/sim/changeLog.js'
import { compare } from './compare.js'
import type { NodeCommand, NodeReport } from './node.js'

const sampleMs = 1000
const delayResolutionMs = 5
/** Differences that are printed; all of them count. */
const shown = 20
/** Relists without a change, after the node came to rest, before the engine's view counts as final. */
const quietRelists = 3

const program = new Command('soak')
  .description("Runs the engine beside a simulated node and holds every event against the node's own log.")
  .option('--pods <count>', 'pods of the node', integerArgument(1, 1_000_000), 2000)
  .option('--containers <count>', 'containers of each pod', integerArgument(1, 100), 2)
  .option('--churn <rate>', 'changes: 10/s, or 1%/s of the containers', argument(parseChurn), { share: 0.01 } as Churn)
  .option('--for <duration>', 'how long', argument(parseGoDuration), 60_000)
  .option('--seed <number>', 'of the node', integerArgument(0, 2 ** 32 - 1), 1)

async function main(): Promise<void> {
  const flags = program.parse().opts()
  const directory = mkdtempSync(join(tmpdir(), 'plegd-soak-'))
  const node = fork(new URL('./node.js', import.meta.url), { serialization: 'advanced' })
  const changes: Change[] = []
  const tell = (command: NodeCommand) => node.send(command)
  const reported = <T extends NodeReport['t']>(t: T) =>
    new Promise<Extract<NodeReport, { t: T }>>((resolve) => {
      node.on('message', (report: NodeReport) => {
        if (report.t === t) resolve(report as Extract<NodeReport, { t: T }>)
      })
    })
  node.on('message', (report: NodeReport) => {
    if (report.t === 'changes') for (const change of report.changes) changes.push(change)
  })
  const { pods, containers, churn, seed } = flags
  const perSecond = 'share' in churn ? churn.share * pods * containers : churn.perSecond
  tell({ t: 'start', socketPath: join(directory, 'cri.sock'), pods, containers, churn: perSecond, seed })
  const { endpoint } = await reported('serving')

  const engine = createEngine({ endpoint, channelCapacity: 1_000_000 })
  const events: PodLifecycleEvent[] = []
  const consume = (async () => {
    for await (const event of engine.events()) events.push(event)
  })()
  await engine.start()
  const figures = { longestGapMs: 0, lateRelists: 0, relists: 0, rssFirst: 0, rssLast: 0 }
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs })
  delay.enable()
  /** The start is over: every pod was inspected once. What follows is what a node lives with. */
  let steady = false
  let generation = 0
  let previousStamp: number | null = null
  const sample = () => {
    if (!steady && engine.cache.size >= pods) {
      steady = ![...engine.cache.list()].some(({ status }) => !status.inspected)
      if (!steady) return
      figures.rssFirst = process.memoryUsage().rss
      delay.reset()
    }
    const { last } = engine.stats()
    if (last === null || last.generation === generation) return
    figures.rssLast = process.memoryUsage().rss
    generation = last.generation
    figures.relists++
    if (steady && last.relistMs > 1000) figures.lateRelists++
    if (previousStamp !== null)
      figures.longestGapMs = Math.max(figures.longestGapMs, last.stamp + last.relistMs - previousStamp)
    previousStamp = last.stamp
  }
  const sampling = setInterval(sample, 100)
  const ends = systemClock.now() + flags.for
  while (systemClock.now() < ends) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(sampleMs, Math.max(1, ends - systemClock.now()))))
    const { events: count, last } = engine.stats()
    process.stderr.write(
      `\r${Math.round((ends - systemClock.now()) / 1000)} s left, ${count} events, relist ${last?.relistMs.toFixed(1)} ms   `,
    )
  }
  tell({ t: 'pause' })
  await reported('paused')
  await settle()
  clearInterval(sampling)
  const cached = [...engine.cache.list()].flatMap(({ status }) => [
    ...status.containers.map(({ id, state, exitCode }) => ({ id, state, exitCode })),
    ...status.sandboxes.map(({ id, state }) => ({
      id,
      state: state === 'ready' ? ('running' as const) : ('exited' as const),
      exitCode: 0,
    })),
  ])
  const { relistDuration, calls } = engine.stats()
  await engine.stop()
  await consume
  tell({ t: 'stop' })
  await once(node, 'exit')
  rmSync(directory, { recursive: true, force: true })

  const longestGapNs = BigInt(Math.ceil(figures.longestGapMs + 50)) * 1_000_000n
  const differences = compare({ changes, events, cached, longestGapNs })
  process.stderr.write('\n')
  // Node's histogram holds the time between two ticks: an idle loop shows the resolution itself.
  const delayMs = (ns: number) => Number(Math.max(0, ns / 1e6 - delayResolutionMs).toFixed(2))
  const mib = (bytes: number) => Math.round(bytes / 2 ** 20)
  const summary = {
    pods,
    containers: pods * containers,
    seconds: flags.for / 1000,
    relists: figures.relists,
    relistMeanMs: Number(((relistDuration.sum / relistDuration.count) * 1000).toFixed(2)),
    relistsOverPeriod: figures.lateRelists,
    changes: changes.length,
    events: events.length,
    statusCalls: calls.filter((call) => call.operation.endsWith('_status')).reduce((sum, call) => sum + call.total, 0),
    mainLoopDelayP99Ms: delayMs(delay.percentile(99)),
    mainLoopDelayMaxMs: delayMs(delay.max),
    rssMiB: { first: mib(figures.rssFirst), last: mib(figures.rssLast) },
    differences: differences.length,
  }
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`)
  for (const difference of differences.slice(0, shown)) process.stderr.write(`${difference}\n`)
  process.exitCode = differences.length === 0 ? 0 : 1

  /** The node is at rest: waits until some relists in a row find nothing, and no pod waits for its inspection. */
  async function settle(): Promise<void> {
    let quiet = 0
    let counted = generation
    while (quiet < quietRelists) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      const { last, degradedPods } = engine.stats()
      if (last === null || last.generation === counted) continue
      counted = last.generation
      const waiting = [...engine.cache.list()].some(({ status }) => !status.inspected)
      quiet = last.changed === 0 && degradedPods === 0 && !waiting ? quiet + 1 : 0
    }
  }
}

await main()
