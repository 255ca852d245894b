import { ProtoWriter } from './protoWriter.js'
import type { ContainerRecord, SandboxRecord } from './records.js'

/**
 * The hot messages, written by hand: ten times cheaper than through objects. Field numbers are proto/'s; fields stand
 * in the order of their numbers, as Go writes them (but for what a record holds encoded already, at the end).
 */

const writer = new ProtoWriter()

/** A PodSandbox as `items` of ListPodSandboxResponse and of StreamPodSandboxesResponse. */
export function encodeListedSandbox(sandbox: SandboxRecord): Buffer {
  writer.message(1, () => {
    writer.string(1, sandbox.id)
    writeSandboxMetadata(sandbox)
    writer.uint32(3, sandbox.state)
    writer.int64(4, sandbox.createdAt)
    writer.map(5, sandbox.labels)
    writer.map(6, sandbox.annotations)
    writer.string(7, sandbox.runtimeHandler)
  })
  return writer.take()
}

/** A Container as `containers` of ListContainersResponse and of StreamContainersResponse. As in containerd, `image` holds the image's id, as a kubelet asked for it. */
export function encodeListedContainer(container: ContainerRecord): Buffer {
  writer.message(1, () => {
    writer.string(1, container.id)
    writer.string(2, container.sandbox.id)
    writer.message(3, () => writeContainerMetadata(container))
    writer.message(4, () => writeImageSpec(container.image.id, container.userImage))
    writer.string(5, container.image.id)
    writer.uint32(6, container.state)
    writer.int64(7, container.createdAt)
    writer.map(8, container.labels)
    writer.map(9, container.annotations)
    writer.string(10, container.image.id)
  })
  return writer.take()
}

/** PodSandboxStatusResponse. */
export function encodeSandboxStatus(sandbox: SandboxRecord, info: Readonly<Record<string, string>>): Buffer {
  writer.message(1, () => writeSandboxStatus(sandbox))
  writer.map(2, info)
  return writer.take()
}

/** ContainerStatusResponse. */
export function encodeContainerStatus(container: ContainerRecord, info: Readonly<Record<string, string>>): Buffer {
  writer.message(1, () => writeContainerStatus(container))
  writer.map(2, info)
  return writer.take()
}

/** ContainerEventResponse, with the pod as it is now. `type`: CRI ContainerEventType. */
export function encodeEvent(id: string, type: number, timeNs: bigint, sandbox: SandboxRecord): Buffer {
  writer.string(1, id)
  writer.uint32(2, type)
  writer.int64(3, timeNs)
  writer.message(4, () => writeSandboxStatus(sandbox))
  for (const container of sandbox.containers) writer.message(5, () => writeContainerStatus(container))
  return writer.take()
}

function writeSandboxMetadata({ name, uid, namespace, attempt }: SandboxRecord): void {
  writer.message(2, () => {
    writer.string(1, name)
    writer.string(2, uid)
    writer.string(3, namespace)
    writer.uint32(4, attempt)
  })
}

function writeContainerMetadata({ name, attempt }: ContainerRecord): void {
  writer.string(1, name)
  writer.uint32(2, attempt)
}

function writeImageSpec(image: string, userImage: string): void {
  writer.string(1, image)
  writer.string(18, userImage)
}

function writeSandboxStatus(sandbox: SandboxRecord): void {
  const [ip = '', ...more] = sandbox.ips
  writer.string(1, sandbox.id)
  writeSandboxMetadata(sandbox)
  writer.uint32(3, sandbox.state)
  writer.int64(4, sandbox.createdAt)
  writer.message(5, () => {
    writer.string(1, ip)
    for (const address of more) writer.message(2, () => writer.string(1, address))
  })
  writer.map(7, sandbox.labels)
  writer.map(8, sandbox.annotations)
  writer.string(9, sandbox.runtimeHandler)
  writer.raw(sandbox.encodedStatus)
}

function writeContainerStatus(container: ContainerRecord): void {
  const { image } = container
  writer.string(1, container.id)
  writer.message(2, () => writeContainerMetadata(container))
  writer.uint32(3, container.state)
  writer.int64(4, container.createdAt)
  writer.int64(5, container.startedAt)
  writer.int64(6, container.finishedAt)
  writer.int64(7, BigInt(container.exitCode))
  writer.message(8, () => writeImageSpec(image.tags[0] ?? image.id, container.userImage))
  writer.string(9, image.digests[0] ?? image.id)
  writer.string(10, container.reason)
  writer.string(11, container.message)
  writer.map(12, container.labels)
  writer.map(13, container.annotations)
  writer.string(15, container.logPath)
  writer.string(17, image.id)
  writer.raw(container.encodedStatus)
}
