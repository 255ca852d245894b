import type { ItemKind } from '../../model/pod.js'
import type { ListFilter } from '../runtime.js'

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return bytes
}

function field(number: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(body.length)]), body])
}

function text(number: number, value: string | undefined): Buffer[] {
  return value === undefined || value === '' ? [] : [field(number, Buffer.from(value))]
}

/** A message with gRPC's five bytes before it. */
function prefixed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** A ListPodSandboxRequest or ListContainersRequest (the streamed ones have the same fields), with gRPC's prefix. */
export function encodeListRequest(kind: ItemKind, filter: ListFilter = {}): Buffer {
  const at = kind === 'sandbox' ? { sandboxId: 0, labels: 3 } : { sandboxId: 3, labels: 4 }
  const parts = text(1, filter.id)
  if (filter.state !== undefined) {
    const value = filter.state === 0 ? Buffer.alloc(0) : Buffer.from([0x08, ...varint(filter.state)])
    parts.push(field(2, value))
  }
  if (kind === 'container') parts.push(...text(at.sandboxId, filter.sandboxId))
  for (const [key, value] of Object.entries(filter.labels ?? {})) {
    parts.push(field(at.labels, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))])))
  }
  return prefixed(parts.length === 0 ? Buffer.alloc(0) : field(1, Buffer.concat(parts)))
}

/** A PodSandboxStatusRequest or ContainerStatusRequest, not verbose, with gRPC's prefix. */
export function encodeStatusRequest(id: string): Buffer {
  return prefixed(Buffer.concat(text(1, id)))
}
