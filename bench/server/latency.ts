import { sleep, systemClock } from '../../src/model/clock.js'
import type { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'
import type { Model } from '../block.js'

/** Status calls that go on at once. `saturating`: as a runtime with eight workers. */
const workers: Readonly<Record<Model, number>> = { independent: Number.POSITIVE_INFINITY, lock: 1, saturating: 8 }
const statusCalls = new Set(['PodSandboxStatus', 'ContainerStatus'])

/** From now on the runtime's status calls take `latencyMs` each, as many at once as its model lets. */
export function slowDown(sim: SimulatedRuntime, model: Model, latencyMs: number): void {
  if (latencyMs <= 0) return
  const { answers } = sim
  const answer = answers.answer.bind(answers)
  const queue: (() => void)[] = []
  let free = workers[model]
  answers.answer = async (call, request, signal) => {
    if (statusCalls.has(call)) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => queue.push(resolve))
      await sleep(systemClock, latencyMs)
      const next = queue.shift()
      if (next === undefined) free++
      else next()
    }
    return answer(call, request, signal)
  }
}
