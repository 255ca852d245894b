import type { CachedPod } from '../engine/api.js'
import type { ContainerStatus, PodStatus } from '../model/pod.js'

/** Pods turned into text before the event loop has its turn. */
const sliceSize = 50

/** RFC 3339 with seconds, as Kubernetes writes times; nanoseconds that no runtime can mean (0, before 1970) are left out. */
function timeText(ns: bigint): string | undefined {
  if (ns <= 0n) return undefined
  const date = new Date(Number(ns / 1_000_000n))
  return Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(0, 19)}Z`
}

function terminated(status: ContainerStatus) {
  return {
    exitCode: status.exitCode,
    reason: status.reason || undefined,
    message: status.message || undefined,
    startedAt: timeText(status.startedAt),
    finishedAt: timeText(status.finishedAt),
    containerID: status.id,
  }
}

function stateOf(status: ContainerStatus) {
  if (status.state === 'running') return { running: { startedAt: timeText(status.startedAt) } }
  if (status.state === 'exited') return { terminated: terminated(status) }
  return { waiting: { reason: status.state === 'created' ? 'ContainerCreating' : 'ContainerStatusUnknown' } }
}

/** The newest status of each name; `containers` come newest first. */
export function newestContainers(containers: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const newest = new Map<string, ContainerStatus>()
  for (const container of containers) if (!newest.has(container.name)) newest.set(container.name, container)
  return [...newest.values()]
}

/** As near to a pod's phase as the runtime's records allow: restart policies are not among them. */
export function phaseOf(pod: PodStatus): 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown' {
  const containers = newestContainers(pod.containers)
  const sandbox = pod.sandboxes[0]
  if (!pod.inspected || sandbox === undefined) return 'Unknown'
  if (containers.some(({ state }) => state === 'running')) return 'Running'
  const ended = containers.filter(({ state }) => state === 'exited')
  if (sandbox.state === 'ready') return ended.length > 0 ? 'Running' : 'Pending'
  if (ended.length === 0) return 'Pending'
  return ended.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed'
}

function containerObject(status: ContainerStatus, all: readonly ContainerStatus[]) {
  const before = all.find(
    ({ name, attempt, state }) => name === status.name && attempt < status.attempt && state === 'exited',
  )
  return {
    name: status.name,
    state: stateOf(status),
    lastState: before === undefined ? {} : { terminated: terminated(before) },
    ready: status.state === 'running',
    restartCount: status.attempt,
    image: status.image,
    imageID: status.imageId || status.imageRef,
    containerID: status.id,
  }
}

/** One pod in the shape of v1.Pod, as far as the runtime knows it. Undefined members are left out of the JSON. */
export function podObject({ status: pod, error }: CachedPod) {
  const sandbox = pod.sandboxes[0]
  const oldest = pod.sandboxes.at(-1)
  const labels = Object.entries(sandbox?.labels ?? {}).filter(([key]) => !key.startsWith('io.kubernetes.'))
  return {
    metadata: {
      name: pod.name,
      namespace: pod.namespace,
      uid: pod.uid,
      creationTimestamp: oldest === undefined ? undefined : timeText(oldest.createdAt),
      labels: labels.length === 0 ? undefined : Object.fromEntries(labels),
    },
    spec: { hostNetwork: sandbox?.hostNetwork || undefined, runtimeClassName: sandbox?.runtimeHandler || undefined },
    status: {
      phase: phaseOf(pod),
      reason: error === null ? undefined : 'InspectFailed',
      message: error === null ? undefined : `${error.call} ${error.id}: ${error.message}`,
      podIP: pod.ips[0],
      podIPs: pod.ips.length === 0 ? undefined : pod.ips.map((ip) => ({ ip })),
      startTime: sandbox === undefined ? undefined : timeText(sandbox.createdAt),
      containerStatuses: newestContainers(pod.containers).map((container) =>
        containerObject(container, pod.containers),
      ),
    },
  }
}

/** A v1.PodList as text, in slices, so that thousands of pods neither block the event loop nor stand in memory at once. */
export async function* podListText(pods: Iterable<CachedPod>): AsyncGenerator<string> {
  let text = '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":['
  let count = 0
  for (const pod of pods) {
    text += `${count === 0 ? '' : ','}${JSON.stringify(podObject(pod))}`
    if (++count % sliceSize > 0) continue
    yield text
    text = ''
    await new Promise((resolve) => setImmediate(resolve))
  }
  yield `${text}]}\n`
}
