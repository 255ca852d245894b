import { PlegdError } from '../../model/errors.js'

/** HTTP/2 frames as RFC 9113 lays them out: a header of 9 bytes (length 3, type 1, flags 1, stream 4), then the payload. */
export const FRAME_HEADER = 9
/** The largest payload that we accept: SETTINGS_MAX_FRAME_SIZE is left at its default. */
export const MAX_FRAME = 16_384
/** The largest flow-control window, and the one that we open for what the runtime sends. */
export const MAX_WINDOW = 0x7fff_ffff
export const DEFAULT_WINDOW = 65_535
export const MAX_STREAM_ID = 0x7fff_ffff

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const Flag = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 } as const

export const Setting = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

/** Error codes by number (RFC 9113 section 7). */
const h2ErrorNames = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const
type H2ErrorName = (typeof h2ErrorNames)[number]

export const H2Error = Object.fromEntries(h2ErrorNames.map((name, number) => [name, number])) as {
  readonly [Name in H2ErrorName]: number
}

export function h2ErrorName(code: number): string {
  return h2ErrorNames[code] ?? `HTTP/2 error ${code}`
}

/** The peer broke the protocol: the connection is told `h2Code` and given up. Calls see it as the cause of their CriError. */
export class ProtocolFault extends PlegdError {
  readonly h2Code: number

  constructor(h2Code: number, message: string) {
    super('HTTP2_PROTOCOL', message, { h2Code })
    this.h2Code = h2Code
  }
}

export function writeFrameHeader(
  buf: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): void {
  buf[at] = length >>> 16
  buf[at + 1] = length >>> 8
  buf[at + 2] = length
  buf[at + 3] = type
  buf[at + 4] = flags
  writeUint32(buf, at + 5, streamId)
}

export function writeUint32(buf: Buffer, at: number, value: number): void {
  buf[at] = value >>> 24
  buf[at + 1] = value >>> 16
  buf[at + 2] = value >>> 8
  buf[at + 3] = value
}

/** Four bytes as an unsigned number. The caller knows that they are there. */
export function readUint32(buf: Buffer, at: number): number {
  return ((buf[at]! << 24) | (buf[at + 1]! << 16) | (buf[at + 2]! << 8) | buf[at + 3]!) >>> 0
}

/** Four bytes without their reserved first bit: stream ids and window increments. */
export function readUint31(buf: Buffer, at: number): number {
  return readUint32(buf, at) & 0x7fff_ffff
}
