import type { PodLifecycleEvent } from '../../src/model/event.js'
import type { ContainerState } from '../../src/model/state.js'
import type { Change } from '../../src/sim/changeLog.js'

/** A changed pod is inspected well within this; a container that is removed earlier may keep its exit code to itself. */
const inspectionNs = 500_000_000n

/** The life of one container or sandbox, from the simulator's log. Times in nanoseconds. */
interface Life {
  readonly pod: string
  started: bigint | null
  ended: bigint | null
  removed: bigint | null
  exitCode: number | undefined
  readonly born: bigint
}

/** A container in the engine's cache at the end. */
export interface CachedContainer {
  readonly id: string
  readonly state: ContainerState
  readonly exitCode: number
}

export interface Evidence {
  readonly changes: readonly Change[]
  readonly events: readonly PodLifecycleEvent[]
  readonly cached: readonly CachedContainer[]
  /** The longest time that a change could hide between two lists: from the begin of one to the end of the next. */
  readonly longestGapNs: bigint
}

/**
 * Every difference between what happened on the simulated node and what the engine said of it, one line each. A state
 * that began and ended between two lists is invisible to any poller (kubelet pleg/generic.go says so too), and only such
 * a one may be missing; nothing may come twice, and nothing may be invented.
 */
export function compare({ changes, events, cached, longestGapNs }: Evidence): string[] {
  const differences: string[] = []
  const lives = livesOf(changes)
  const seen = new Map<string, PodLifecycleEvent[]>()
  for (const event of events) {
    if (event.type === 'PodSync') differences.push(`pod ${event.pod.uid}: a PodSync, so the channel was full`)
    const of = seen.get(event.id)
    if (of === undefined) seen.set(event.id, [event])
    else of.push(event)
  }
  for (const id of seen.keys())
    if (id !== '' && !lives.has(id)) differences.push(`${id}: events of something that never was`)
  for (const [id, life] of lives) {
    for (const difference of compareOne(life, seen.get(id) ?? [], longestGapNs))
      differences.push(`${id} (${life.pod}): ${difference}`)
  }
  const inCache = new Map(cached.map((container) => [container.id, container]))
  for (const [id, life] of lives) {
    if (life.removed !== null) {
      if (inCache.has(id)) differences.push(`${id}: removed, but still in the cache`)
      continue
    }
    const container = inCache.get(id)
    if (container === undefined) differences.push(`${id}: not in the cache`)
    else if (container.state !== (life.ended !== null ? 'exited' : life.started !== null ? 'running' : 'created')) {
      differences.push(`${id}: ${container.state} in the cache`)
    } else if (life.ended !== null && life.exitCode !== undefined && container.exitCode !== life.exitCode) {
      differences.push(`${id}: exit code ${container.exitCode} in the cache, not ${life.exitCode}`)
    }
  }
  return differences
}

function compareOne(life: Life, events: readonly PodLifecycleEvent[], gap: bigint): string[] {
  const differences: string[] = []
  const count = (type: PodLifecycleEvent['type']) => events.filter((event) => event.type === type).length
  const expect = (type: PodLifecycleEvent['type'], happened: boolean, visible: boolean) => {
    const got = count(type)
    if (got > 1) differences.push(`${got} times ${type}`)
    else if (got === 1 && !happened) differences.push(`${type}, which did not happen`)
    else if (got === 0 && happened && visible) differences.push(`no ${type}`)
  }
  const lasted = (from: bigint | null, to: bigint | null) => from !== null && (to === null || to - from > gap)
  expect('ContainerStarted', life.started !== null, lasted(life.started, life.ended ?? life.removed))
  const wasVisible = lasted(life.born, life.removed)
  expect(
    'ContainerDied',
    life.ended !== null || life.removed !== null,
    wasVisible && (life.started !== null || life.removed !== null),
  )
  expect('ContainerRemoved', life.removed !== null, wasVisible)
  const died = events.find((event) => event.type === 'ContainerDied')
  // Gone before its status could be asked for: no exit code is honest, a wrong one is not.
  if (died?.exitCode !== undefined && died.exitCode !== life.exitCode) {
    differences.push(`exit code ${died.exitCode}, not ${life.exitCode}`)
  }
  if (
    died !== undefined &&
    died.exitCode === undefined &&
    life.exitCode !== undefined &&
    lasted(life.ended, life.removed === null ? null : life.removed - inspectionNs)
  ) {
    differences.push(`no exit code, though ${life.exitCode} could be read`)
  }
  const order = events.map((event) => ['ContainerStarted', 'ContainerDied', 'ContainerRemoved'].indexOf(event.type))
  if (order.some((place, i) => i > 0 && place < order[i - 1]!))
    differences.push(`in the order ${events.map((e) => e.type)}`)
  return differences
}

function livesOf(changes: readonly Change[]): Map<string, Life> {
  const lives = new Map<string, Life>()
  for (const { id, type, timeNs, podUid, exitCode } of changes) {
    let life = lives.get(id)
    if (life === undefined) {
      life = { pod: podUid, born: timeNs, started: null, ended: null, removed: null, exitCode: undefined }
      lives.set(id, life)
    }
    switch (type) {
      case 'SandboxStarted':
      case 'ContainerStarted':
        life.started = timeNs
        break
      case 'SandboxStopped':
      case 'ContainerDied':
        life.ended = timeNs
        life.exitCode = exitCode
        break
      case 'SandboxRemoved':
      case 'ContainerRemoved':
        life.removed = timeNs
        break
      case 'ContainerCreated':
        break
    }
  }
  return lives
}
