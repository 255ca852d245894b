import type { Block } from '../block.js'
import type { Machine } from '../machine.js'
import type { Settings } from '../settings.js'
import { blockId } from '../summary.js'

/** One micro bench: raw means of its rounds, nanoseconds an operation. */
export interface Micro {
  readonly id: string
  readonly rounds: readonly number[]
}

/** A run, as `--json` writes it. */
export interface Report {
  readonly version: 1
  readonly machine: Machine
  readonly settings: Settings | null
  readonly blocks: readonly Block[]
  readonly micro: readonly Micro[]
  /** Of several runs put together: where each was made. */
  readonly sources?: readonly Machine[]
}

/** Whether a file's content is a run of this version; what is in its blocks is taken on trust. */
export function isReport(value: unknown): value is Report {
  const { version, blocks, micro } = (value ?? {}) as Partial<Report>
  return version === 1 && Array.isArray(blocks) && Array.isArray(micro)
}

/** Several runs as one; where two have measured the same, the later counts. */
export function merged(reports: readonly Report[]): Report {
  const [first] = reports
  const blocks = new Map(reports.flatMap((run) => run.blocks.map((block) => [blockId(block.spec), block])))
  const micro = new Map(reports.flatMap((run) => run.micro.map((bench) => [bench.id, bench])))
  const sorted = [...blocks.values()].sort((a, b) => a.spec.pods - b.spec.pods)
  const sources = reports.map(({ machine }) => machine)
  return { version: 1, machine: first!.machine, settings: null, blocks: sorted, micro: [...micro.values()], sources }
}
