import type { Change } from '../../src/sim/changeLog.js'
import { serveSimulatedRuntime } from '../../src/sim/server/serve.js'
import { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'

/** What the parent tells this process. */
export type NodeCommand =
  | {
      readonly t: 'start'
      readonly socketPath: string
      readonly pods: number
      readonly containers: number
      readonly churn: number
      readonly seed: number
    }
  | { readonly t: 'pause' }
  | { readonly t: 'stop' }

/** What it tells the parent: `changes` in order, then `paused` behind the last of them. */
export type NodeReport =
  | { readonly t: 'serving'; readonly endpoint: string }
  | { readonly t: 'changes'; readonly changes: readonly Change[] }
  | { readonly t: 'paused' }

const flushMs = 200

/** The simulated node of a soak, in a process of its own, as a runtime is. */
function main(): void {
  const send = (report: NodeReport) => process.send?.(report)
  let changes: Change[] = []
  const flush = () => {
    if (changes.length > 0) send({ t: 'changes', changes })
    changes = []
  }
  let sim: SimulatedRuntime | null = null
  const obey = async (command: NodeCommand) => {
    switch (command.t) {
      case 'start': {
        const { pods, containers, churn, seed, socketPath } = command
        sim = new SimulatedRuntime({
          pods,
          containersPerPod: containers,
          churn,
          seed,
          onChange: (change) => changes.push(change),
        })
        const { endpoint } = await serveSimulatedRuntime(sim, socketPath)
        sim.start()
        setInterval(flush, flushMs)
        send({ t: 'serving', endpoint })
        break
      }
      case 'pause':
        sim?.pause()
        flush()
        send({ t: 'paused' })
        break
      case 'stop':
        process.exit(0)
    }
  }
  process.on('message', (command: NodeCommand) => void obey(command))
  process.on('disconnect', () => process.exit(1))
}

main()
