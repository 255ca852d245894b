import { Buffer } from 'node:buffer'

/** A frame as a peer would write it; nothing is checked, so that tests can break every rule. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(streamId, 5)
  return Buffer.concat([head, payload])
}

export function settings(entries: Record<number, number> = {}): Buffer {
  const parts = Object.entries(entries).map(([id, value]) => {
    const entry = Buffer.alloc(6)
    entry.writeUInt16BE(Number(id), 0)
    entry.writeUInt32BE(value, 2)
    return entry
  })
  return frame(4, 0, 0, Buffer.concat(parts))
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A literal header without Huffman and without indexing (RFC 7541 section 6.2.2). Texts under 127 bytes. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name, 'latin1'),
    Buffer.from([value.length]),
    Buffer.from(value, 'latin1'),
  ])
}

const status200 = Buffer.from([0x88])
export const grpcHead = Buffer.concat([status200, literal('content-type', 'application/grpc')])
export const okTrailers = literal('grpc-status', '0')

export function trailers(status: number, message: string): Buffer {
  return Buffer.concat([literal('grpc-status', String(status)), literal('grpc-message', message)])
}

/** One gRPC message with its prefix. */
export function message(payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0]), uint32(payload.length), payload])
}

/** A whole answer of 200, one DATA frame, and trailers. */
export function answer(streamId: number, payload: Uint8Array): Buffer {
  return Buffer.concat([
    frame(1, 0x4, streamId, grpcHead),
    frame(0, 0, streamId, message(payload)),
    frame(1, 0x5, streamId, okTrailers),
  ])
}
