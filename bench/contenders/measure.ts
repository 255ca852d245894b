import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { sleep, systemClock } from '../../src/model/clock.js'
import type { BlockResult, BlockSpec, Cold, Lap } from '../block.js'
import type { Control } from '../control.js'
import type { Contender } from './contender.js'
import { Observer } from './observer.js'

/** Coarse on purpose: the monitor takes CPU too, 4 ms a second at 10 ms. */
const loopResolutionMs = 20
const listViewPollMs = 2
/** Relists without an event after the start, before the node counts as settled. */
const quietRelists = 2

/** Runs one block in this process, which is the contender's alone: its CPU and memory are the contender's. */
export async function measure(spec: BlockSpec, contender: Contender, control: Control): Promise<BlockResult> {
  const observer = new Observer()
  const cold = await start(contender, observer)
  if (spec.laps > 0) await settled(observer)
  for (let i = 0; i < spec.warmup; i++) {
    if (spec.restarts > 0) await churn(spec, observer, control)
    else await observer.next()
  }
  const delay = monitorEventLoopDelay({ resolution: loopResolutionMs })
  delay.enable()
  const before = { ...contender.calls(), events: observer.events }
  const seen = { relists: 0, rounds: 0, items: 0, bytesCopied: 0, expected: 0 }
  const laps: Lap[] = []
  for (let lap = 0; lap < spec.laps; lap++) laps.push(await runLap(spec, observer, control, seen))
  delay.disable()
  if (spec.restarts > 0) await observer.next(systemClock.now())
  const calls = contender.calls()
  const last = observer.last!
  globalThis.gc?.()
  const per = (total: number) => (seen.relists === 0 ? null : total / seen.relists)
  const result: BlockResult = {
    pods: last.pods,
    containers: last.containers,
    bytes: last.bytes,
    laps,
    cold,
    events: observer.events - before.events,
    eventsLost: Math.abs(observer.events - before.events - seen.expected),
    listCallsPerRelist: spec.restarts > 0 ? null : per(calls.lists - before.lists),
    statusCallsPerRelist: seen.rounds === 0 ? null : (calls.statuses - before.statuses) / seen.rounds,
    itemsPerRelist: last.items === null ? null : per(seen.items),
    bytesCopiedPerRelist: last.bytesCopied === null ? null : per(seen.bytesCopied),
    ...loopDelay(delay, laps.length),
    peakRssMiB: process.resourceUsage().maxRSS / 1024,
    heapMiB: globalThis.gc === undefined ? null : process.memoryUsage().heapUsed / 2 ** 20,
    failures: calls.failures,
  }
  await contender.stop()
  return result
}

async function start(contender: Contender, observer: Observer): Promise<Cold> {
  const startedAt = systemClock.now()
  const first = observer.next()
  await contender.start({ relisted: (relist) => observer.relisted(relist), event: () => observer.event() })
  const { stamp, pods, containers, relistMs } = await first
  while (contender.listed() < pods) await sleep(systemClock, listViewPollMs)
  const listViewMs = systemClock.now() - stamp
  await observer.reach(pods + containers)
  return {
    threadsMs: stamp - startedAt,
    listViewMs,
    firstEventMs: observer.firstEventAt === null ? null : observer.firstEventAt - stamp,
    inspectedMs: observer.lastEventAt - stamp,
    relistMs,
  }
}

async function settled(observer: Observer): Promise<void> {
  for (let quiet = 0, events = observer.events; quiet < quietRelists; quiet++) {
    await observer.next()
    if (observer.events !== events) quiet = 0
    events = observer.events
  }
}

interface Seen {
  relists: number
  /** Relists, or churns where there are such: those that a relist saw only part of included. */
  rounds: number
  items: number
  bytesCopied: number
  expected: number
}

async function runLap(spec: BlockSpec, observer: Observer, control: Control, seen: Seen): Promise<Lap> {
  const relistMs: number[] = []
  const changeMs: number[] = []
  let cpuMs = 0
  if (spec.restarts === 0) {
    const before = process.cpuUsage()
    while (relistMs.length < spec.relists) {
      relistMs.push((await observer.next()).relistMs)
      seen.rounds++
      count(seen, observer)
    }
    cpuMs = cpuSince(before)
  }
  while (relistMs.length < spec.relists) {
    const sample = await churn(spec, observer, control)
    seen.rounds++
    seen.expected += sample.expected
    if (sample.mixed) continue
    relistMs.push(sample.relistMs)
    changeMs.push(sample.changeMs)
    cpuMs += sample.cpuMs
    count(seen, observer)
  }
  return { relistMs, changeMs, cpuMs: cpuMs / spec.relists }
}

/**
 * Containers restart, and the next relist that begins after that finds it. CPU is that from the restart until the last
 * event is there, whatever pause lies in between. `mixed`: a relist ran meanwhile, and may have seen part of it.
 */
async function churn(spec: BlockSpec, observer: Observer, control: Control) {
  const target = observer.events
  const ended = observer.next()
  const expected = await control.churn(spec.restarts)
  const changedAt = systemClock.now()
  const before = process.cpuUsage()
  const { stamp, relistMs } = await ended
  const mixed = stamp <= changedAt
  if (mixed) await observer.next(changedAt)
  if (!(await observer.reach(target + expected))) {
    throw new Error(`${observer.events - target} of ${expected} events came`)
  }
  return { expected, mixed, relistMs, changeMs: observer.lastEventAt - stamp, cpuMs: cpuSince(before) }
}

function count(seen: Seen, observer: Observer): void {
  seen.relists++
  seen.items += observer.last?.items ?? 0
  seen.bytesCopied += observer.last?.bytesCopied ?? 0
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function loopDelay(delay: IntervalHistogram, laps: number) {
  const ms = (ns: number) => Math.max(0, ns / 1e6 - loopResolutionMs)
  if (laps === 0) return { loopDelayP99Ms: null, loopDelayMaxMs: null }
  return { loopDelayP99Ms: ms(delay.percentile(99)), loopDelayMaxMs: ms(delay.max) }
}
