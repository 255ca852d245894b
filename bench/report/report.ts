import type { Block } from '../block.js'
import type { Machine } from '../machine.js'
import type { Settings } from '../settings.js'

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
}
