import type { HotRuntime } from '../cri/runtime.js'
import type { Clock } from '../model/clock.js'

/** What the calls of one kind took, milliseconds. */
export interface CallTimes {
  readonly call: string
  count: number
  errors: number
  totalMs: number
  maxMs: number
}

/** A runtime that notes how long its answers take. */
export function timeCalls(
  runtime: HotRuntime,
  clock: Clock,
): { readonly runtime: HotRuntime; readonly calls: readonly CallTimes[] } {
  const calls: CallTimes[] = []
  function timed<Arguments extends unknown[], Answer>(call: string, run: (...args: Arguments) => Promise<Answer>) {
    const times: CallTimes = { call, count: 0, errors: 0, totalMs: 0, maxMs: 0 }
    calls.push(times)
    return async (...args: Arguments): Promise<Answer> => {
      const start = clock.now()
      try {
        return await run(...args)
      } catch (error) {
        times.errors++
        throw error
      } finally {
        const ms = clock.now() - start
        times.count++
        times.totalMs += ms
        times.maxMs = Math.max(times.maxMs, ms)
      }
    }
  }
  return {
    calls,
    runtime: {
      endpoint: runtime.endpoint,
      listPodSandboxes: timed('ListPodSandbox', (sink, options) => runtime.listPodSandboxes(sink, options)),
      listContainers: timed('ListContainers', (sink, options) => runtime.listContainers(sink, options)),
      podSandboxStatus: timed('PodSandboxStatus', (id, options) => runtime.podSandboxStatus(id, options)),
      containerStatus: timed('ContainerStatus', (id, options) => runtime.containerStatus(id, options)),
      close: () => runtime.close(),
    },
  }
}
