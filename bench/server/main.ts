import { Command, Option } from '@commander-js/extra-typings'
import { integerArgument } from '../../src/cli/options.js'
import { GrpcCode } from '../../src/cri/errors.js'
import { serveSimulatedRuntime } from '../../src/sim/server/serve.js'
import { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'
import { models } from '../block.js'
import { serveControl } from './controlSocket.js'
import { slowDown } from './latency.js'

const count = integerArgument(0, 1_000_000)
const flags = new Command('bench-server')
  .requiredOption('--socket <path>')
  .requiredOption('--pods <count>', '', count)
  .requiredOption('--containers <count>', '', count)
  .requiredOption('--dead <count>', '', count)
  .requiredOption('--seed <number>', '', integerArgument(0, 2 ** 32 - 1))
  .requiredOption('--latency-ms <ms>', '', Number)
  .addOption(new Option('--model <name>').choices(models).makeOptionMandatory())
  .parse()
  .opts()

const { pods, containers, dead, seed } = flags
const sim = new SimulatedRuntime({ pods, containersPerPod: containers, deadPerContainer: dead, seed })
// As containerd: the kubelet that it is compared with asks for unary lists too.
for (const call of ['StreamPodSandboxes', 'StreamContainers']) {
  sim.faults.set({ call, kind: 'error', code: GrpcCode.UNIMPLEMENTED, message: `unknown method ${call}` })
}
slowDown(sim, flags.model, flags.latencyMs)
await serveSimulatedRuntime(sim, flags.socket)
serveControl(sim, `${flags.socket}.ctl`)
process.stdout.write(`${JSON.stringify({ pods: sim.sandboxCount, containers: sim.containerCount })}\n`)
