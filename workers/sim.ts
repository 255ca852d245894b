import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../src/model/errors.js'
import type { EmbeddedControl, EmbeddedReport, EmbeddedTask } from '../src/sim/embedded.js'
import { serveSimulatedRuntime } from '../src/sim/server/serve.js'
import { SimulatedRuntime } from '../src/sim/simulatedRuntime.js'

if (isMainThread || parentPort === null) throw new Error('workers/sim is the entry of a thread')
const port = parentPort
const { socketPath, simulation } = workerData as EmbeddedTask
const report = (message: EmbeddedReport) => port.postMessage(message)

const sim = new SimulatedRuntime(simulation)
try {
  const server = await serveSimulatedRuntime(sim, socketPath)
  sim.start()
  port.on('message', (message: EmbeddedControl) => {
    switch (message.t) {
      case 'stop':
        void server.stop().then(async () => {
          await sim.close()
          port.close()
        })
    }
  })
  report({ t: 'serving' })
} catch (error) {
  report({ t: 'failed', message: messageOf(error) })
}
