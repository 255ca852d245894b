import { type Facts, PlegdError } from '../model/errors.js'

/** gRPC status codes by number (grpc/status.proto). */
const grpcCodeNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const
export type GrpcCodeName = (typeof grpcCodeNames)[number]

export const GrpcCode = Object.fromEntries(grpcCodeNames.map((name, number) => [name, number])) as {
  readonly [Name in GrpcCodeName]: number
}

/** A CRI call that failed. `code` is `CRI_` and the gRPC code's name; `details` is what the other side said. */
export class CriError extends PlegdError {
  readonly grpcCode: number
  readonly call: string
  readonly details: string

  constructor(call: string, grpcCode: number, details: string, facts: Facts = {}, options?: ErrorOptions) {
    const name = grpcCodeNames[grpcCode] ?? `CODE_${grpcCode}`
    super(`CRI_${name}`, `${call}: ${name}: ${details}`, { call, grpcCode, ...facts }, options)
    this.grpcCode = grpcCode
    this.call = call
    this.details = details
  }
}

/** True where the object asked for is gone: NOT_FOUND, and cri-dockerd's UNKNOWN "No such container". */
export function isNotFound(error: unknown): boolean {
  if (!(error instanceof CriError)) return false
  if (error.grpcCode === GrpcCode.NOT_FOUND) return true
  return error.grpcCode === GrpcCode.UNKNOWN && /no such container/i.test(error.details)
}

export type EndpointErrorCode =
  | 'ENDPOINT_INVALID'
  | 'ENDPOINT_NO_SUCH_SOCKET'
  | 'ENDPOINT_NOT_A_SOCKET'
  | 'ENDPOINT_NO_PERMISSION'
  | 'ENDPOINT_NOTHING_LISTENING'
  | 'ENDPOINT_PATH_TOO_LONG'

/** An endpoint that can't be reached as it stands, and what to do about it. */
export class EndpointError extends PlegdError {
  constructor(code: EndpointErrorCode, message: string, facts: Facts = {}) {
    super(code, message, facts)
  }
}
