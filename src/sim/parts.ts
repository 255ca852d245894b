import { CriError, GrpcCode } from '../cri/errors.js'
import type { Clock } from '../model/clock.js'
import type { Codec } from './codec.js'
import type { ImageStore } from './images.js'
import type { SimulatedNode } from './node.js'
import type { Random } from './random.js'
import type { ContainerRecord, SandboxRecord } from './records.js'
import type { Timers } from './timers.js'

/** What the answers to CRI calls are made of. */
export interface Parts {
  readonly node: SimulatedNode
  readonly codec: Codec
  readonly images: ImageStore
  readonly clock: Clock
  /** Ends of processes that were started over CRI. */
  readonly timers: Timers
  /** Where each list starts; null: always at the same place. */
  readonly order: Random | null
}

/** By id or by a prefix that only one has, as containerd looks things up; undefined if there is none. */
function find<T>(map: ReadonlyMap<string, T>, id: string): T | undefined {
  const exact = map.get(id)
  if (exact !== undefined || id === '' || id.length >= 64) return exact
  let found: T | undefined
  for (const [key, value] of map) {
    if (!key.startsWith(id)) continue
    if (found !== undefined) return undefined
    found = value
  }
  return found
}

export function findSandbox(node: SimulatedNode, id: string): SandboxRecord | undefined {
  return find(node.sandboxes, id)
}

export function findContainer(node: SimulatedNode, id: string): ContainerRecord | undefined {
  return find(node.containers, id)
}

export function needSandbox(node: SimulatedNode, call: string, id: string): SandboxRecord {
  const record = findSandbox(node, id)
  if (record !== undefined) return record
  throw new CriError(call, GrpcCode.NOT_FOUND, `an error occurred when try to find sandbox "${id}": not found`)
}

export function needContainer(node: SimulatedNode, call: string, id: string): ContainerRecord {
  const record = findContainer(node, id)
  if (record !== undefined) return record
  throw new CriError(call, GrpcCode.NOT_FOUND, `an error occurred when try to find container "${id}": not found`)
}

export function invalid(call: string, what: string): CriError {
  return new CriError(call, GrpcCode.INVALID_ARGUMENT, what)
}
