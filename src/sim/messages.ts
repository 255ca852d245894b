import type { PlainMessage } from '../cri/runtime.js'
import type { ContainerRecord, ImageRecord, SandboxRecord } from './records.js'

/** Records as CRI messages, in the form that proto-loader takes: snake_case, int64 as strings, enums as numbers. */

export function sandboxMetadata(sandbox: SandboxRecord): PlainMessage {
  const { name, uid, namespace, attempt } = sandbox
  return { name, uid, namespace, attempt }
}

export function containerMetadata(container: ContainerRecord): PlainMessage {
  return { name: container.name, attempt: container.attempt }
}

/** PodSandbox: an item of a list. */
export function podSandbox(sandbox: SandboxRecord): PlainMessage {
  return {
    id: sandbox.id,
    metadata: sandboxMetadata(sandbox),
    state: sandbox.state,
    created_at: sandbox.createdAt.toString(),
    labels: sandbox.labels,
    annotations: sandbox.annotations,
    runtime_handler: sandbox.runtimeHandler,
  }
}

/** Container: an item of a list. As in containerd, `image` holds the image's id, as a kubelet asked for it. */
export function container(record: ContainerRecord): PlainMessage {
  return {
    id: record.id,
    pod_sandbox_id: record.sandbox.id,
    metadata: containerMetadata(record),
    image: { image: record.image.id, user_specified_image: record.userImage },
    image_ref: record.image.id,
    state: record.state,
    created_at: record.createdAt.toString(),
    labels: record.labels,
    annotations: record.annotations,
    image_id: record.image.id,
  }
}

/** PodSandboxStatus: what PodSandboxStatus answers and events carry. */
export function podSandboxStatus(sandbox: SandboxRecord): PlainMessage {
  const [ip = '', ...more] = sandbox.ips
  return {
    id: sandbox.id,
    metadata: sandboxMetadata(sandbox),
    state: sandbox.state,
    created_at: sandbox.createdAt.toString(),
    network: { ip, additional_ips: more.map((address) => ({ ip: address })) },
    linux: { namespaces: { options: sandbox.namespaces ?? { pid: 'CONTAINER' } } },
    labels: sandbox.labels,
    annotations: sandbox.annotations,
    runtime_handler: sandbox.runtimeHandler,
  }
}

/** ContainerStatus: what ContainerStatus answers and events carry. */
export function containerStatus(record: ContainerRecord): PlainMessage {
  const { image } = record
  return {
    id: record.id,
    metadata: containerMetadata(record),
    state: record.state,
    created_at: record.createdAt.toString(),
    started_at: record.startedAt.toString(),
    finished_at: record.finishedAt.toString(),
    exit_code: record.exitCode,
    image: { image: image.tags[0] ?? image.id, user_specified_image: record.userImage },
    image_ref: image.digests[0] ?? image.id,
    reason: record.reason,
    message: record.message,
    labels: record.labels,
    annotations: record.annotations,
    mounts: record.mounts,
    log_path: record.logPath,
    resources: record.resources === null ? null : { linux: record.resources },
    image_id: image.id,
    user: { linux: { uid: '0', gid: '0', supplemental_groups: ['0'] } },
    stop_signal: record.stopSignal,
  }
}

/** Image: an item of ListImages. */
export function imageMessage(image: ImageRecord): PlainMessage {
  const { user } = image
  return {
    id: image.id,
    repo_tags: image.tags,
    repo_digests: image.digests,
    size: `${image.size}`,
    uid: user !== null && 'uid' in user ? { value: `${user.uid}` } : null,
    username: user !== null && 'name' in user ? user.name : '',
    spec: { image: image.tags[0] ?? image.id },
    pinned: image.pinned,
  }
}
