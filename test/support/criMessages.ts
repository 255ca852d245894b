import { join } from 'node:path'
import protobuf from 'protobufjs'
import { root } from './shared.js'

/** CRI v1 as protobufjs reads it from proto/: the yardstick for our own wire code. */
export function loadCri(): protobuf.Namespace {
  const proto = new protobuf.Root()
  proto.resolvePath = (_origin, target) => join(root, 'proto', target)
  const loaded = proto.loadSync('runtime/v1/service.proto', { keepCase: true }).lookup('runtime.v1')
  if (!(loaded instanceof protobuf.Namespace)) throw new Error('no package runtime.v1')
  return loaded
}

const cri = loadCri()

export type Plain = Record<string, unknown>

/** `message` has keys as in proto/, int64 as strings. */
export function encode(type: string, message: Plain): Buffer {
  const found = cri.lookupType(type)
  return Buffer.from(found.encode(found.fromObject(message)).finish())
}

export function decode(type: string, bytes: Uint8Array): Plain {
  const found = cri.lookupType(type)
  return found.toObject(found.decode(bytes), { longs: String, defaults: true })
}

/** One length-delimited field, whatever its number. */
export function lengthField(field: number, value: Uint8Array): Buffer {
  const writer = protobuf.Writer.create().uint32(field * 8 + 2)
  return Buffer.from(writer.bytes(value).finish())
}

/** A message as gRPC frames it. */
export function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}
