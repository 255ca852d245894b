import { CriError, GrpcCode } from '../errors.js'
import { H2Error, h2ErrorName } from './frames.js'
import { decodeHeaderBlock } from './hpack.js'

/** What a gRPC client needs of a header block, of the head as of the trailers. */
export interface ResponseHeaders {
  /** 0 where the block has no `:status`, as in trailers. */
  readonly httpStatus: number
  readonly contentType: string
  /** '' where absent. */
  readonly grpcStatus: string
  readonly grpcMessage: string
}

const LARGEST_REMEMBERED = 256

/**
 * Decodes header blocks, and remembers the last short one: without a dynamic table equal bytes mean equal headers, and a
 * runtime answers call after call with the same bytes.
 */
export class HeaderMemo {
  readonly #bytes = Buffer.allocUnsafe(LARGEST_REMEMBERED)
  #length = 0
  #headers: ResponseHeaders | undefined

  decode(buf: Buffer, start: number, end: number): ResponseHeaders {
    if (this.#headers !== undefined && this.#holds(buf, start, end)) return this.#headers
    const headers = decodeHeaders(buf, start, end)
    if (end - start <= LARGEST_REMEMBERED) {
      this.#length = buf.copy(this.#bytes, 0, start, end)
      this.#headers = headers
    }
    return headers
  }

  #holds(buf: Buffer, start: number, end: number): boolean {
    if (end - start !== this.#length) return false
    for (let i = 0; i < this.#length; i++) if (buf[start + i] !== this.#bytes[i]) return false
    return true
  }
}

function decodeHeaders(buf: Buffer, start: number, end: number): ResponseHeaders {
  const headers = { httpStatus: 0, contentType: '', grpcStatus: '', grpcMessage: '' }
  decodeHeaderBlock(buf, start, end, (name, value) => {
    if (name === ':status') headers.httpStatus = Number(value) || -1
    else if (name === 'content-type') headers.contentType = value
    else if (name === 'grpc-status') headers.grpcStatus = value
    else if (name === 'grpc-message') headers.grpcMessage = value
  })
  return headers
}

/** Why a head is no gRPC answer; undefined where it is one. */
export function rejectHead(call: string, head: ResponseHeaders): CriError | undefined {
  if (head.httpStatus !== 200) {
    return new CriError(call, codeOfHttpStatus(head.httpStatus), `HTTP status ${head.httpStatus}`)
  }
  if (/^application\/grpc([+;]|$)/i.test(head.contentType)) return undefined
  return new CriError(call, GrpcCode.UNKNOWN, `content-type "${head.contentType}" is not gRPC's`)
}

/** The error that trailers (or a head without a body) tell of; undefined for OK. */
export function statusError(call: string, trailers: ResponseHeaders): CriError | undefined {
  const { grpcStatus } = trailers
  if (grpcStatus === '0') return undefined
  if (grpcStatus === '')
    return new CriError(call, GrpcCode.INTERNAL, 'the runtime ended the call without a grpc-status')
  if (!/^\d{1,9}$/.test(grpcStatus)) {
    return new CriError(call, GrpcCode.UNKNOWN, `grpc-status "${grpcStatus}" is not a number`)
  }
  const code = Number(grpcStatus)
  return code === GrpcCode.OK ? undefined : new CriError(call, code, decodeGrpcMessage(trailers.grpcMessage))
}

/** Percent-encoded UTF-8; what isn't well encoded stays as it is (gRPC over HTTP/2, "Status-Message"). */
export function decodeGrpcMessage(encoded: string): string {
  if (!encoded.includes('%')) return encoded
  const bytes = Buffer.from(encoded, 'latin1')
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const hex = encoded.slice(at + 1, at + 3)
    const escaped = bytes[at] === 0x25 && /^[0-9a-f]{2}$/i.test(hex)
    bytes[length++] = escaped ? Number.parseInt(hex, 16) : bytes[at]!
    if (escaped) at += 2
  }
  return bytes.toString('utf8', 0, length)
}

/** Source: grpc/doc/http-grpc-status-mapping.md. */
function codeOfHttpStatus(status: number): number {
  switch (status) {
    case 400:
      return GrpcCode.INTERNAL
    case 401:
      return GrpcCode.UNAUTHENTICATED
    case 403:
      return GrpcCode.PERMISSION_DENIED
    case 404:
      return GrpcCode.UNIMPLEMENTED
    case 429:
    case 502:
    case 503:
    case 504:
      return GrpcCode.UNAVAILABLE
    default:
      return GrpcCode.UNKNOWN
  }
}

/** A stream that the runtime reset. Source: "HTTP2 Transport Mapping" of gRPC over HTTP/2. */
export function resetError(call: string, h2Code: number): CriError {
  const facts = { h2Code, h2Error: h2ErrorName(h2Code) }
  const said = `the runtime reset the stream: ${h2ErrorName(h2Code)}`
  switch (h2Code) {
    case H2Error.REFUSED_STREAM:
      return new CriError(call, GrpcCode.UNAVAILABLE, said, facts)
    case H2Error.CANCEL:
      return new CriError(call, GrpcCode.CANCELLED, said, facts)
    case H2Error.ENHANCE_YOUR_CALM:
      // Not to be taken for a message over a size limit, which comes as a grpc-status with the same code.
      return new CriError(call, GrpcCode.RESOURCE_EXHAUSTED, `bandwidth exhausted: ${said}`, facts)
    case H2Error.INADEQUATE_SECURITY:
      return new CriError(call, GrpcCode.PERMISSION_DENIED, `permission denied: ${said}`, facts)
    case H2Error.STREAM_CLOSED:
    case H2Error.HTTP_1_1_REQUIRED:
      return new CriError(call, GrpcCode.UNKNOWN, said, facts)
    default:
      return new CriError(call, GrpcCode.INTERNAL, said, facts)
  }
}
