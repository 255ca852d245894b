import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'

/** Serves crisim's control contract, as far as a bench needs it, for the simulated runtime. */
export function serveControl(sim: SimulatedRuntime, path: string): void {
  const obey = async (line: string): Promise<object> => {
    const [command = '', count = '0'] = line.trim().split(' ')
    switch (command) {
      case 'churn':
        return { flipped: sim.restart(Number(count)) }
      case 'settle':
        await settle(sim)
        return {}
      case 'stats':
        return { pods: sim.sandboxCount, containers: sim.containerCount }
      default:
        return { error: 'unknown command' }
    }
  }
  const server = createServer((socket) => {
    const answer = (value: object) => socket.write(`${JSON.stringify(value)}\n`)
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', (line) => void obey(line).then(answer))
  })
  server.listen(path)
}

async function settle(sim: SimulatedRuntime): Promise<void> {
  const empty = Buffer.alloc(0)
  await sim.answers.answer('ListPodSandbox', empty)
  await sim.answers.answer('ListContainers', empty)
}
