import { systemClock } from '../model/clock.js'
import { DEFAULT_DEADLINE_MS } from './deadline.js'
import { type Endpoint, parseEndpoint } from './endpoint.js'
import { EndpointError } from './errors.js'
import { ListingRuntime } from './listing.js'
import type { HotRuntime, Runtime, Transport } from './runtime.js'
import { SplitRuntime } from './splitRuntime.js'

export interface ConnectOptions {
  /** `h2`: our own framing, unix sockets only (default there); `grpc`: @grpc/grpc-js. */
  readonly transport?: 'h2' | 'grpc' | undefined
  /** Deadline of calls that name none, ms. Default 2 min (kubelet `runtimeRequestTimeout`). */
  readonly deadlineMs?: number | undefined
}

/**
 * The hot calls of the runtime at `endpoint`. Connects at the first call.
 *
 * @throws EndpointError where the endpoint can't be one
 */
export async function connectHot(endpoint: string, options: ConnectOptions = {}): Promise<HotRuntime> {
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS
  const transport = await openTransport(endpoint, options.transport, deadlineMs)
  return new ListingRuntime({ transport, clock: systemClock, deadlineMs })
}

/**
 * The whole runtime at `endpoint`: the hot calls as `connectHot` has them, all others over grpc-js.
 *
 * @throws EndpointError where the endpoint can't be one
 */
export async function connectRuntime(endpoint: string, options: ConnectOptions = {}): Promise<Runtime> {
  const openCold = () => openGrpc(endpoint, parseEndpoint(endpoint), options.deadlineMs ?? DEFAULT_DEADLINE_MS)
  return new SplitRuntime(await connectHot(endpoint, options), openCold)
}

/**
 * The hot calls as the transport has them, each list the one call that it is named after.
 *
 * @throws EndpointError where the endpoint can't be one
 */
export async function openTransport(
  endpoint: string,
  transport: ConnectOptions['transport'],
  deadlineMs: number,
): Promise<Transport> {
  const target = parseEndpoint(endpoint)
  if (!takesH2(endpoint, target, transport)) return openGrpc(endpoint, target, deadlineMs)
  const { H2Runtime } = await import('./h2/runtime.js')
  return new H2Runtime({ endpoint, socketPath: target.path, clock: systemClock, deadlineMs })
}

function takesH2(
  endpoint: string,
  target: Endpoint,
  transport: ConnectOptions['transport'],
): target is Extract<Endpoint, { kind: 'unix' }> {
  if (target.kind === 'unix') return transport !== 'grpc'
  if (transport !== 'h2') return false
  throw new EndpointError('ENDPOINT_INVALID', `${endpoint}: transport h2 is for unix sockets only; use grpc`, {
    endpoint,
  })
}

/** grpc-js is loaded here and not before: it costs a thread some 20 MiB that a relist has no use for. */
async function openGrpc(endpoint: string, target: Endpoint, deadlineMs: number): Promise<Runtime & Transport> {
  const { GrpcRuntime } = await import('./grpc/grpcRuntime.js')
  return new GrpcRuntime(endpoint, target, deadlineMs)
}
