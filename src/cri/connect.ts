import { systemClock } from '../model/clock.js'
import type { HotRuntime } from './runtime.js'

export interface ConnectOptions {
  /** `h2`: our own framing, unix sockets only (default there); `grpc`: @grpc/grpc-js. */
  readonly transport?: 'h2' | 'grpc' | undefined
  /** Deadline of calls that name none, ms. Default 2 min (kubelet `runtimeRequestTimeout`). */
  readonly deadlineMs?: number
}

/** The hot calls of the runtime at `endpoint`. Connects at the first call. */
export async function connectHot(endpoint: string, options: ConnectOptions = {}): Promise<HotRuntime> {
  const { H2Runtime } = await import('./h2/runtime.js')
  const socketPath = endpoint.replace(/^unix:(\/\/)?/, '')
  return new H2Runtime({ endpoint, socketPath, clock: systemClock, deadlineMs: options.deadlineMs ?? 120_000 })
}
