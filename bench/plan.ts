import type { BlockSpec, ContenderName } from './block.js'
import type { Settings } from './settings.js'

/** Between two relists with churn: room for the churn, and for the runtime to put its lists together. */
const churnPauseMs = ({ pods, containers, dead }: Base) => Math.max(120, pods * (1 + containers * (1 + dead)) * 0.01)
const kubeletPeriodMs = 1000
/** From here on a relist takes long enough that fewer of them do. */
const manyPods = 50_000

/** The blocks of a run, smallest first. `available` are the contenders that this machine has. */
export function plan(settings: Settings, available: readonly ContenderName[]): BlockSpec[] {
  const chosen = (settings.contenders ?? available).filter((name) => available.includes(name))
  const blocks: BlockSpec[] = []
  const common = { server: settings.server, seed: settings.seed, ...own }
  const { containers, dead, statusLatency, model, churn } = settings
  for (const [pods, perPod, deadEach, latencyMs, how, share] of product(
    [...settings.pods].sort((a, b) => a - b),
    containers,
    dead,
    statusLatency,
    model,
    churn,
  )) {
    const base = {
      ...common,
      pods,
      containers: perPod,
      dead: deadEach,
      restarts: Math.ceil((pods * perPod * share) / 100),
      statusLatencyMs: latencyMs,
      model: how,
    }
    for (const contender of chosen) blocks.push(...ofContender(contender, base, settings, share === churn[0]))
  }
  const asIs = statusLatency.length === 1 && statusLatency[0] === 0 && churn.some((share) => share > 0)
  if (asIs && settings.pods.includes(slowRuntime.pods)) {
    // The plain agent would take a minute, and teach nothing that the kubelet does not.
    const patient = chosen.filter((name) => name !== 'plain')
    const base = { ...common, ...slowRuntime }
    blocks.push(...patient.flatMap((contender) => ofContender(contender, base, settings, false)))
  }
  return blocks
}

/** A burst of changes on a runtime that takes its time over statuses: what a serial inspection stands still for. */
const slowRuntime = {
  pods: 1000,
  containers: 2,
  dead: 0,
  restarts: 100,
  statusLatencyMs: 5,
  model: 'independent',
} as const

/** plegd's own axes, where they are not asked for. */
const own = { inspectConcurrency: null, shards: null, transport: null } as const
type Base = Omit<BlockSpec, 'kind' | 'contender' | 'periodMs' | 'warmup' | 'laps' | 'relists'>

function ofContender(contender: ContenderName, base: Base, settings: Settings, first: boolean): BlockSpec[] {
  const { pods, restarts } = base
  const kind = restarts > 0 ? 'churn' : 'idle'
  const periodMs = kind === 'churn' ? Math.max(settings.period, churnPauseMs(base)) : settings.period
  if (contender !== 'plegd') {
    if (contender === 'floor' ? kind === 'churn' : pods > settings.peersUpTo) return []
    const few = base.statusLatencyMs > 0 ? { warmup: 1, laps: 1, relists: 3 } : { warmup: 3, laps: 3, relists: 3 }
    const counts = contender === 'floor' ? counted(pods, kind, settings) : few
    // The kubelet's bench waits for the churn itself.
    return [{ ...base, kind, contender, periodMs: contender === 'kubelet' ? settings.period : periodMs, ...counts }]
  }
  const variants = product(
    settings.inspectConcurrency ?? [null],
    settings.shards ?? [null],
    settings.transport ?? [null],
  )
  return variants.flatMap(([inspectConcurrency, shards, transport]) => {
    const spec = { ...base, contender, inspectConcurrency, shards, transport }
    const measured: BlockSpec = { ...spec, kind, periodMs, ...counted(pods, kind, settings) }
    const start: BlockSpec = {
      ...spec,
      kind: 'cold',
      restarts: 0,
      periodMs: kubeletPeriodMs,
      warmup: 0,
      laps: 0,
      relists: 0,
    }
    return first ? [start, measured] : [measured]
  })
}

function counted(pods: number, kind: 'idle' | 'churn', { laps }: Settings) {
  const relists = kind === 'churn' ? 4 : 20
  // A daemon runs for months: its code is compiled by the time that anybody looks.
  return { warmup: 10, laps, relists: pods >= manyPods ? Math.ceil(relists / 4) : relists }
}

/** Every combination, the last list changing fastest. */
function product<T extends readonly (readonly unknown[])[]>(...lists: T): { [K in keyof T]: T[K][number] }[] {
  let rows: unknown[][] = [[]]
  for (const list of lists) rows = rows.flatMap((row) => list.map((value) => [...row, value]))
  return rows as { [K in keyof T]: T[K][number] }[]
}
