import stringWidth from 'string-width'
import { formatGoDuration } from '../model/duration.js'
import { aggregateText } from '../sync/runtimeState.js'
import type { AgentSnapshot } from './snapshot.js'

const segmenter = new Intl.Segmenter()

/** At most `width` columns of a line, without control characters. */
function clip(text: string, width: number): string {
  const clean = text.replace(/\p{Cc}+/gu, ' ')
  if (stringWidth(clean) <= width) return clean
  let kept = ''
  let used = 0
  for (const { segment } of segmenter.segment(clean)) {
    used += stringWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

function bytesText(bytes: number): string {
  return bytes < 1_000_000 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function seenText({ health }: AgentSnapshot): string {
  if (health.lastSeenMs === null) return 'no list yet'
  return `last list ${formatGoDuration(Math.round(health.lastSeenMs / 100) * 100)} ago`
}

/** Events a second between two snapshots of one agent. */
function eventRate(now: AgentSnapshot, before: AgentSnapshot | undefined): string {
  const seconds = before === undefined ? now.stats.uptime : now.stats.uptime - before.stats.uptime
  const events = now.stats.events - (before?.stats.events ?? 0)
  return seconds > 0 ? `${(events / seconds).toFixed(1)}/s` : '-'
}

/** The summary where there is no terminal: one line. */
export function summaryFields(now: AgentSnapshot, before: AgentSnapshot | undefined): Record<string, unknown> {
  const { stats, health } = now
  return {
    verdict: health.verdict,
    pods: stats.pods,
    running: stats.runningPods,
    containers: stats.runningContainers['running'] ?? 0,
    relists: stats.relists,
    relistMs: stats.last === null ? null : Number(stats.last.relistMs.toFixed(1)),
    listedBytes: stats.last?.bytes ?? 0,
    events: stats.events,
    eventRate: eventRate(now, before),
    degraded: stats.degradedPods,
  }
}

/**
 * The live page, at most `height` lines of at most `width` columns: facts, degraded pods, calls that take long, and the
 * newest log lines in what is left. Pure.
 */
export function render(
  now: AgentSnapshot,
  before: AgentSnapshot | undefined,
  log: readonly string[],
  width: number,
  height: number,
): string {
  const { stats, health, problems } = now
  const { last } = stats
  const main = stats.threads.find(({ name }) => name === 'main')
  const lines = [
    `plegd ${now.version}  ${now.nodeName}  ${now.runtime}  up ${formatGoDuration(Math.round(stats.uptime) * 1_000)}`,
    `Verdict     ${health.verdict}${health.reason === '' ? '' : `: ${health.reason}`}`,
    `SyncLoop    ${problems.length === 0 ? 'running' : `skipping: ${aggregateText(problems)}`}`,
    `Pods        ${stats.pods} known, ${stats.runningPods} running; ${stats.runningContainers['running'] ?? 0} containers running`,
    `Relists     ${stats.relists}, ${stats.relistFailures} failed; ${seenText(now)}`,
  ]
  if (last !== null) {
    lines.push(
      `Last relist ${last.relistMs.toFixed(1)} ms for ${bytesText(last.bytes)}: sandboxes ${last.listSandboxesMs.toFixed(1)} ms, containers ${last.listContainersMs.toFixed(1)} ms; ${last.changed} changed`,
    )
  }
  lines.push(
    `Events      ${stats.events} (${eventRate(now, before)}); ${stats.channelDepth} of ${stats.channelCapacity} waiting`,
  )
  if (main !== undefined) lines.push(`Main thread p99 delay ${(main.loopDelayP99 * 1_000).toFixed(1)} ms`)
  for (const { pod, call, sinceMs } of health.degraded.slice(0, 5)) {
    lines.push(
      `Degraded    ${pod.namespace}/${pod.name}: ${call} for ${formatGoDuration(Math.round(sinceMs / 1_000) * 1_000)}`,
    )
  }
  for (const { call, pod, ageMs } of health.inflight.filter((each) => each.ageMs >= 1_000).slice(0, 3)) {
    const whose = pod === null ? '' : ` of ${pod.namespace}/${pod.name}`
    lines.push(`Waiting     ${call}${whose} for ${formatGoDuration(Math.round(ageMs / 1_000) * 1_000)}`)
  }
  const room = height - lines.length - 1
  if (room > 0 && log.length > 0) lines.push('', ...log.slice(-room))
  return lines
    .slice(0, Math.max(1, height))
    .map((line) => clip(line, width))
    .join('\n')
}
