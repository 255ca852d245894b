import { Buffer } from 'node:buffer'
import type { ItemKind } from '../../model/pod.js'
import type { ListFilter } from '../runtime.js'
import { lengthTag, varintTag } from './reader.js'

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

function bytesField(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint(lengthTag(field)), varint(value.length), value])
}

function stringField(field: number, value: string): Buffer {
  return bytesField(field, Buffer.from(value))
}

/** Length of the prefix that gRPC puts before each message: a flag and a big-endian length. */
export const PREFIX_BYTES = 5

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** ListPodSandboxRequest or ListContainersRequest (also right for the Stream… calls), with gRPC's 5-byte prefix. */
export function encodeListRequest(kind: ItemKind, filter: ListFilter = {}): Buffer {
  const parts: Buffer[] = []
  if (filter.id !== undefined) parts.push(stringField(1, filter.id))
  if (filter.state !== undefined) parts.push(bytesField(2, Buffer.concat([varint(varintTag(1)), varint(filter.state)])))
  if (kind === 'container' && filter.sandboxId !== undefined) parts.push(stringField(3, filter.sandboxId))
  for (const [key, value] of Object.entries(filter.labels ?? {})) {
    const entry = Buffer.concat([stringField(1, key), stringField(2, value)])
    parts.push(bytesField(kind === 'container' ? 4 : 3, entry))
  }
  return framed(parts.length === 0 ? Buffer.alloc(0) : bytesField(1, Buffer.concat(parts)))
}

/** PodSandboxStatusRequest or ContainerStatusRequest (not verbose), with gRPC's 5-byte prefix. */
export function encodeStatusRequest(id: string): Buffer {
  return framed(stringField(1, id))
}
