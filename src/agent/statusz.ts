import { formatGoDuration } from '../model/duration.js'
import { aggregateText } from '../sync/runtimeState.js'
import type { AgentSnapshot } from './snapshot.js'
import { type Column, table } from './table.js'

/** Pods and calls named on the page; the counts tell the rest. */
const shown = 100

const age = (ms: number) => formatGoDuration(Math.round(ms))
const ageSeconds = (seconds: number) => age(seconds * 1_000)
const milliseconds = (seconds: number) => `${(seconds * 1_000).toFixed(1)}ms`

/** The page for programs: the same facts, nothing unbounded. */
export function statuszObject(snapshot: AgentSnapshot) {
  const { version, nodeName, runtime, health, stats, sync, problems, network } = snapshot
  return {
    version,
    nodeName,
    runtime,
    uptimeSeconds: stats.uptime,
    verdict: health.verdict,
    ok: health.ok,
    message: health.message,
    reason: health.reason,
    syncLoop: { running: problems.length === 0, problems: problems.map(({ message }) => message), ...sync },
    network,
    lastGoodListAgeMs: health.lastSeenMs,
    relists: stats.relists,
    relistFailures: stats.relistFailures,
    relistInProgressSeconds: stats.relistInProgressSeconds,
    lastRelist: stats.last,
    degradedPods: stats.degradedPods,
    degraded: health.degraded.slice(0, shown),
    inflight: health.inflight.slice(0, shown),
    threads: stats.threads,
    channel: {
      depth: stats.channelDepth,
      capacity: stats.channelCapacity,
      dirtyPods: stats.dirtyPods,
      overflowEvents: stats.overflowEvents,
    },
  }
}

function section<Row>(title: string, columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const rest = rows.length > shown ? `… and ${rows.length - shown} more\n` : ''
  return rows.length === 0 ? '' : `\n${title}\n${table(columns, rows.slice(0, shown))}${rest}`
}

function facts(snapshot: AgentSnapshot): string {
  const { health, stats, sync, problems } = snapshot
  const { last } = stats
  const reason = health.reason === '' ? '' : `: ${health.reason}`
  const seen =
    health.lastSeenMs === null ? 'no list has come back yet' : `last good list began ${age(health.lastSeenMs)} ago`
  const running =
    stats.relistInProgressSeconds > 0 ? `, one has been running for ${ageSeconds(stats.relistInProgressSeconds)}` : ''
  const lines = [
    `plegd ${snapshot.version} on ${snapshot.nodeName}, up ${age(Math.round(stats.uptime) * 1_000)}`,
    `Runtime:      ${snapshot.runtime}${snapshot.network === '' ? '' : ` (${snapshot.network})`}`,
    `Verdict:      ${health.verdict}${reason}`,
    `PLEG:         ${seen}; threshold is ${age(snapshot.thresholdMs)}; ${stats.relists} relists, ${stats.relistFailures} failed${running}`,
    `SyncLoop:     ${problems.length === 0 ? 'running' : `skipping for ${ageSeconds(sync.skippingSeconds)}: ${aggregateText(problems)}`}`,
    `Pods:         ${stats.pods} known, ${stats.runningPods} running, ${stats.degradedPods} degraded`,
    `Events:       ${stats.events} delivered, ${stats.channelDepth} of ${stats.channelCapacity} waiting, ${stats.overflowEvents} met a full channel`,
  ]
  if (last !== null) {
    lines.push(
      `Last relist:  ${last.relistMs.toFixed(1)}ms: sandboxes ${last.listSandboxesMs.toFixed(1)}ms (${last.sandboxes}, ${last.sandboxMode}), containers ${last.listContainersMs.toFixed(1)}ms (${last.containers}, ${last.containerMode}), ${last.bytes} bytes, largest message ${last.largestMessage}, ${last.changed} changed`,
    )
  }
  return `${lines.join('\n')}\n`
}

/** The page for people. */
export function statuszText(snapshot: AgentSnapshot): string {
  const { health, stats } = snapshot
  const degraded = section(
    'DEGRADED PODS',
    [
      { heading: 'NAMESPACE', value: ({ pod }) => pod.namespace },
      { heading: 'POD', value: ({ pod }) => pod.name },
      { heading: 'CALL', value: ({ call }) => call },
      { heading: 'ID', value: ({ id }) => id },
      { heading: 'SINCE', value: ({ sinceMs }) => age(sinceMs) },
      { heading: 'FAILURES', value: ({ failures }) => failures },
      { heading: 'LAST ERROR', value: ({ lastError }) => lastError },
    ],
    health.degraded,
  )
  const inflight = section(
    'CALLS IN FLIGHT',
    [
      { heading: 'CALL', value: ({ call }) => call },
      { heading: 'AGE', value: ({ ageMs }) => age(ageMs) },
      { heading: 'POD', value: ({ pod }) => (pod === null ? '' : `${pod.namespace}/${pod.name}`) },
      { heading: 'ID', value: ({ id }) => id },
    ],
    health.inflight,
  )
  const threads = section(
    'THREADS',
    [
      { heading: 'NAME', value: ({ name }) => name },
      { heading: 'ALIVE', value: ({ alive }) => (alive ? 'yes' : 'no') },
      { heading: 'RESTARTS', value: ({ restarts }) => restarts },
      { heading: 'DELAY P50', value: ({ loopDelayP50 }) => milliseconds(loopDelayP50) },
      { heading: 'P99', value: ({ loopDelayP99 }) => milliseconds(loopDelayP99) },
      { heading: 'MAX', value: ({ loopDelayMax }) => milliseconds(loopDelayMax) },
      { heading: 'INBOX', value: (thread) => `${thread.inboxBytes}/${thread.inboxCapacity}` },
      { heading: 'RING', value: (thread) => `${thread.ringBytes}/${thread.ringCapacity}` },
    ],
    stats.threads,
  )
  return facts(snapshot) + degraded + inflight + threads
}
