import type { PlainMessage } from '../../src/cri/runtime.js'
import type { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'

/** What lists show of a sandbox or container, decoded by protobuf.js. */
interface Listed extends PlainMessage {
  readonly id: string
  readonly state: string
  readonly created_at: string
  readonly metadata: { readonly name: string; readonly attempt: number }
  readonly labels: Readonly<Record<string, string>>
  readonly pod_sandbox_id?: string
}

export async function listed(sim: SimulatedRuntime, filter: PlainMessage | null = null) {
  const sandboxes = await sim.call('ListPodSandbox', { filter })
  const containers = await sim.call('ListContainers', { filter })
  return {
    sandboxes: sandboxes['items'] as readonly Listed[],
    containers: containers['containers'] as readonly Listed[],
  }
}

/** A pod with one container of this command line, made over CRI; the container is created, not started. */
export async function makePod(sim: SimulatedRuntime, name: string, command: readonly string[] = []) {
  const metadata = { name, uid: `uid-${name}`, namespace: 'default', attempt: 0 }
  const labels = { 'io.kubernetes.pod.uid': metadata.uid, app: name }
  const config = { metadata, labels, log_directory: `/var/log/pods/${name}` }
  const { pod_sandbox_id: sandboxId } = await sim.call('RunPodSandbox', { config })
  await sim.call('PullImage', { image: { image: 'localhost/rt/work:1' } })
  const { container_id: containerId } = await sim.call('CreateContainer', {
    pod_sandbox_id: sandboxId,
    config: { metadata: { name: 'main', attempt: 0 }, image: { image: 'localhost/rt/work:1' }, command, labels },
    sandbox_config: config,
  })
  return { sandboxId: sandboxId as string, containerId: containerId as string, config }
}
