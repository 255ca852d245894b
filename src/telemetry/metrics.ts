import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { HistogramSnapshot } from '../engine/api.js'
import { agentMetrics } from './agentMetrics.js'
import type { MetricDefinition, MetricsSnapshot, Sample } from './definition.js'
import { engineMetrics } from './engineMetrics.js'
import { kubeletMetrics } from './kubeletMetrics.js'

/** Every family that /metrics serves. No label names a pod or a container: a page stays small on any node. */
export const metricDefinitions: readonly MetricDefinition[] = [...kubeletMetrics, ...engineMetrics, ...agentMetrics]

/** The page that a scrape gets. */
export interface MetricsPage {
  readonly contentType: string
  render(): Promise<string>
}

/** The samples of one histogram as Prometheus counts them: each bucket holds all below it too. */
function* bucketSamples(name: string, { labels, value }: Sample<HistogramSnapshot>) {
  let below = 0
  for (const [i, bound] of value.bounds.entries()) {
    below += value.counts[i] ?? 0
    yield { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below }
  }
  yield { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: value.count }
  yield { metricName: `${name}_sum`, labels, value: value.sum }
  yield { metricName: `${name}_count`, labels, value: value.count }
}

/** A histogram whose buckets were counted elsewhere. */
class SnapshotHistogram extends Histogram {
  readonly #read: () => readonly Sample<HistogramSnapshot>[]
  readonly #head: { name: string; help: string }

  constructor(head: { name: string; help: string }, read: () => readonly Sample<HistogramSnapshot>[]) {
    super({ ...head, registers: [] })
    this.#read = read
    this.#head = head
  }

  /** What prom-client 15 asks for when it writes a text page. */
  getForPromString() {
    const values = this.#read().flatMap((sample) => Array.from(bucketSamples(this.#head.name, sample)))
    return { ...this.#head, type: 'histogram', values }
  }
}

/** Reads `snapshot` once a scrape, so that a page shows one instant. */
export function createMetrics(snapshot: () => MetricsSnapshot): MetricsPage {
  const registry = new Registry()
  let current: MetricsSnapshot | undefined
  const now = () => {
    current ??= snapshot()
    return current
  }
  for (const definition of metricDefinitions) {
    const { name, help } = definition
    const labelNames = [...definition.labels]
    if (definition.type === 'histogram') {
      registry.registerMetric(new SnapshotHistogram({ name, help }, () => definition.read(now())))
    } else if (definition.type === 'gauge') {
      const collect = function (this: Gauge) {
        this.reset()
        for (const { labels, value } of definition.read(now())) this.set(labels, value)
      }
      new Gauge({ name, help, labelNames, registers: [registry], collect })
    } else {
      const collect = function (this: Counter) {
        this.reset()
        for (const { labels, value } of definition.read(now())) this.inc(labels, value)
      }
      new Counter({ name, help, labelNames, registers: [registry], collect })
    }
  }
  return {
    contentType: registry.contentType,
    render: () => {
      current = undefined
      return registry.metrics()
    },
  }
}
