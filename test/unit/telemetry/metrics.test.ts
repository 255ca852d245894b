import { describe, expect, test } from 'vitest'
import type { MetricsSnapshot } from '../../../src/telemetry/definition.js'
import { createMetrics, metricDefinitions } from '../../../src/telemetry/metrics.js'
import { expectDocPart } from '../../support/docs.js'
import { callStats, engineStats, healthOf, histogramOf, syncStats, threadStats } from '../../support/stats.js'

const snapshotOf = (over: Partial<MetricsSnapshot> = {}): MetricsSnapshot => ({
  stats: engineStats(),
  health: healthOf(),
  sync: syncStats(),
  wallMs: 1_000_000,
  nodeName: 'node-1',
  version: '1.2.3',
  messageWarnBytes: 1_000,
  droppedLogLines: 0,
  ...over,
})

async function page(over: Partial<MetricsSnapshot> = {}): Promise<string[]> {
  return (await createMetrics(() => snapshotOf(over)).render()).split('\n')
}

describe('the kubelet’s families', () => {
  test('a histogram is cumulative, with +Inf, sum and count', async () => {
    const lines = await page({ stats: engineStats({ relistDuration: histogramOf([0.1, 1], [3, 2, 1], 9.5) }) })
    expect(lines).toContain('# TYPE kubelet_pleg_relist_duration_seconds histogram')
    expect(lines.filter((line) => line.startsWith('kubelet_pleg_relist_duration_seconds'))).toEqual([
      'kubelet_pleg_relist_duration_seconds_bucket{le="0.1"} 3',
      'kubelet_pleg_relist_duration_seconds_bucket{le="1"} 5',
      'kubelet_pleg_relist_duration_seconds_bucket{le="+Inf"} 6',
      'kubelet_pleg_relist_duration_seconds_sum 9.5',
      'kubelet_pleg_relist_duration_seconds_count 6',
    ])
  })

  test('names, types and labels', async () => {
    const calls = [callStats('container_status', { total: 7, errors: 2, duration: histogramOf([1], [7, 0], 0.5) })]
    const lines = await page({
      stats: engineStats({ runningPods: 4, runningContainers: { running: 8 }, discardedEvents: 3, calls }),
    })
    for (const line of [
      '# TYPE kubelet_pleg_discard_events counter',
      'kubelet_pleg_discard_events 3',
      'kubelet_pleg_last_seen_seconds 999',
      'kubelet_running_pods 4',
      'kubelet_running_containers{container_state="running"} 8',
      'kubelet_running_containers{container_state="exited"} 0',
      '# TYPE kubelet_runtime_operations_total counter',
      'kubelet_runtime_operations_total{operation_type="container_status"} 7',
      'kubelet_runtime_operations_errors_total{operation_type="container_status"} 2',
      'kubelet_runtime_operations_duration_seconds_bucket{operation_type="container_status",le="1"} 7',
      'kubelet_node_name{node="node-1"} 1',
    ])
      expect(lines).toContain(line)
  })
})

test('before the first list the age counts from the start, and is no epoch, NaN or 2^63', async () => {
  const lines = await page({ stats: engineStats({ lastSeenSeconds: null, uptime: 179 }) })
  expect(lines).toContain('plegd_last_good_list_age_seconds 179')
  expect(lines).toContain('kubelet_pleg_last_seen_seconds 821')
})

test('while a list hangs the gauges move and the histogram does not', async () => {
  let seconds = 15
  const metrics = createMetrics(() =>
    snapshotOf({
      stats: engineStats({
        relistInProgressSeconds: seconds,
        lastSeenSeconds: seconds,
        calls: [callStats('list_podsandbox', { inflight: 1, oldestInflight: seconds })],
      }),
    }),
  )
  const read = async () => {
    const lines = (await metrics.render()).split('\n')
    const value = (start: string) => Number(lines.find((line) => line.startsWith(`${start} `))?.split(' ')[1])
    return {
      moving: [
        value('plegd_relist_in_progress_seconds'),
        value('plegd_oldest_inflight_call_seconds{operation_type="list_podsandbox"}'),
        value('plegd_last_good_list_age_seconds'),
      ],
      still: value('kubelet_pleg_relist_duration_seconds_count'),
    }
  }
  const first = await read()
  seconds = 30
  expect(first).toEqual({ moving: [15, 15, 15], still: 0 })
  expect(await read()).toEqual({ moving: [30, 30, 30], still: 0 })
})

test('a counter may be read twice', async () => {
  const metrics = createMetrics(() => snapshotOf({ stats: engineStats({ events: 5 }) }))
  await metrics.render()
  expect(await metrics.render()).toContain('\nplegd_events_total 5\n')
})

test('a page is of one instant, also when two are asked for at once', async () => {
  let taken = 0
  const metrics = createMetrics(() => snapshotOf({ stats: engineStats({ events: ++taken, relists: taken }) }))
  for (const text of await Promise.all([metrics.render(), metrics.render()])) {
    const [, events] = /^plegd_events_total (\d+)$/m.exec(text) ?? []
    expect(text).toContain(`\nplegd_relists_total ${events}\n`)
  }
  expect(taken).toBe(2)
})

test('no family names a pod or a container', () => {
  const labels = new Set(metricDefinitions.flatMap((definition) => definition.labels))
  expect([...labels].filter((label) => /pod|uid|container$|namespace|sandbox/.test(label))).toEqual([])
})

test('a page of a node with 64 shards is small', async () => {
  const bounds = Array.from({ length: 20 }, (_, i) => 2 ** i)
  const counts = [...bounds, 1]
  const calls = ['list_podsandbox', 'list_containers', 'podsandbox_status', 'container_status'].map((operation) =>
    callStats(operation, { duration: histogramOf(bounds, counts) }),
  )
  const threads = Array.from({ length: 66 }, (_, n) => threadStats(`shard-${n}`))
  const text = (await page({ stats: engineStats({ calls, threads }) })).join('\n')
  expect(text.length).toBeLessThan(200_000)
})

test('docs/metrics.md lists what the registry holds', async () => {
  const rows = metricDefinitions.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  expectDocPart(
    'metrics.md',
    'families',
    `| name | type | labels | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`,
  )
  const served = (await page()).flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
  expect(served.sort()).toEqual(metricDefinitions.map(({ name }) => name).sort())
})
