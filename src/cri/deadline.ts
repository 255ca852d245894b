import type { CallOptions, PlainMessage, UnaryCall } from './runtime.js'

/** kubelet `runtimeRequestTimeout`. */
export const DEFAULT_DEADLINE_MS = 120_000

/**
 * Milliseconds that a call may take. What the caller asked for holds; else the runtime's, and more for calls that wait by
 * their nature: RunPodSandbox twice as long, StopContainer and ExecSync plus their own timeout (kubelet v1.37 remote_runtime.go).
 */
export function deadlineOf(call: UnaryCall, request: PlainMessage, base: number, options: CallOptions): number {
  if (options.deadlineMs !== undefined) return options.deadlineMs
  if (call === 'RunPodSandbox') return 2 * base
  if (call !== 'StopContainer' && call !== 'ExecSync') return base
  const seconds = Number(request['timeout'] ?? 0)
  return seconds > 0 ? base + seconds * 1000 : base
}
