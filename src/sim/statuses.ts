import type { ContainerStatus, SandboxStatus } from '../model/pod.js'
import { containerStateOf, sandboxStateOf } from '../model/state.js'
import type { ContainerRecord, SandboxRecord } from './records.js'

/** A sandbox's status as a transport gives it, read straight from the record. */
export function sandboxStatusOf(record: SandboxRecord): SandboxStatus {
  return {
    id: record.id,
    name: record.name,
    uid: record.uid,
    namespace: record.namespace,
    attempt: record.attempt,
    state: sandboxStateOf(record.state),
    createdAt: record.createdAt,
    ips: record.ips,
    hostNetwork: record.hostNetwork,
    runtimeHandler: record.runtimeHandler,
    labels: record.labels,
    annotations: record.annotations,
  }
}

/** A container's status as a transport gives it, read straight from the record. */
export function containerStatusOf(record: ContainerRecord): ContainerStatus {
  const { image } = record
  return {
    id: record.id,
    name: record.name,
    attempt: record.attempt,
    state: containerStateOf(record.state),
    createdAt: record.createdAt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    exitCode: record.exitCode,
    image: image.tags[0] ?? image.id,
    imageRef: image.digests[0] ?? image.id,
    imageId: image.id,
    reason: record.reason,
    message: record.message,
    logPath: record.logPath,
    labels: record.labels,
    annotations: record.annotations,
  }
}
