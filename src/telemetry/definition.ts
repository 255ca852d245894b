import type { EngineStats, HistogramSnapshot } from '../engine/api.js'
import type { Health } from '../model/health.js'
import type { SyncStats } from '../sync/stats.js'

/** Everything a scrape reads, taken once a scrape. */
export interface MetricsSnapshot {
  readonly stats: EngineStats
  readonly health: Health
  readonly sync: SyncStats
  /** Milliseconds since 1970. */
  readonly wallMs: number
  readonly nodeName: string
  readonly version: string
  /** The size that a list's messages are held against, bytes. */
  readonly messageWarnBytes: number
  readonly droppedLogLines: number
}

export interface Sample<Value> {
  readonly labels: Readonly<Record<string, string>>
  readonly value: Value
}

interface Described {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
}

/** One metric family and how it is read from a snapshot. */
export type MetricDefinition =
  | (Described & { readonly type: 'counter' | 'gauge'; read(from: MetricsSnapshot): readonly Sample<number>[] })
  | (Described & { readonly type: 'histogram'; read(from: MetricsSnapshot): readonly Sample<HistogramSnapshot>[] })

/** A family without labels: one sample. */
export function single(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: (from: MetricsSnapshot) => number,
): MetricDefinition {
  return { type, name, help, labels: [], read: (from) => [{ labels: {}, value: value(from) }] }
}

/** A family with one label, and a sample for each entry. */
export function labelled(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  label: string,
  entries: (from: MetricsSnapshot) => Iterable<readonly [label: string, value: number]>,
): MetricDefinition {
  const read = (from: MetricsSnapshot) =>
    Array.from(entries(from), ([key, value]) => ({ labels: { [label]: key }, value }))
  return { type, name, help, labels: [label], read }
}

export function histogram(
  name: string,
  help: string,
  value: (from: MetricsSnapshot) => HistogramSnapshot,
): MetricDefinition {
  return { type: 'histogram', name, help, labels: [], read: (from) => [{ labels: {}, value: value(from) }] }
}

export function histograms(
  name: string,
  help: string,
  label: string,
  entries: (from: MetricsSnapshot) => Iterable<readonly [label: string, value: HistogramSnapshot]>,
): MetricDefinition {
  const read = (from: MetricsSnapshot) =>
    Array.from(entries(from), ([key, value]) => ({ labels: { [label]: key }, value }))
  return { type: 'histogram', name, help, labels: [label], read }
}
