import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ThreadCounters } from './threadCounters.js'

/** Coarse on purpose: at 1 ms the monitor itself costs 3 ms of CPU a second. */
const resolutionMs = 10
const publishMs = 1000

/** Publishes this thread's event-loop delay once a second, each time of the last second alone. Returns how to end it. */
export function watchLoopDelay(counters: ThreadCounters): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // Node's histogram holds the time between two ticks: an idle loop shows the resolution itself.
  const seconds = (ns: number) => Math.max(0, ns / 1e9 - resolutionMs / 1000)
  const timer = setInterval(() => {
    counters.set('loopDelayP50', seconds(delay.percentile(50)))
    counters.set('loopDelayP99', seconds(delay.percentile(99)))
    counters.set('loopDelayMax', seconds(delay.max))
    delay.reset()
  }, publishMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    delay.disable()
  }
}
