import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ThreadCounters } from './threadCounters.js'

/** Coarse on purpose: at 1 ms the monitor itself costs 3 ms of CPU a second. */
const resolutionMs = 20
const publishMs = 1000

/** Publishes this thread's event-loop delay once a second, each time of the last second alone. Returns how to end it. */
export function watchLoopDelay(counters: ThreadCounters): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const timer = setInterval(() => {
    counters.set('loopDelayP50', delay.percentile(50) / 1e9)
    counters.set('loopDelayP99', delay.percentile(99) / 1e9)
    counters.set('loopDelayMax', delay.max / 1e9)
    delay.reset()
  }, publishMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    delay.disable()
  }
}
