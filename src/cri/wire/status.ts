import type { Buffer } from 'node:buffer'
import { isIP } from 'node:net'
import type { ContainerStatus, SandboxStatus } from '../../model/pod.js'
import { containerStateOf, sandboxStateOf } from '../../model/state.js'
import { CriError, GrpcCode } from '../errors.js'
import { FieldReader } from './fields.js'
import { noMetadata, readContainerMetadata, readEntry, readImage, readSandboxMetadata } from './item.js'
import { lengthTag, varintTag } from './reader.js'

/** Go's zero time.Time in nanoseconds since 1970, as cri-dockerd and CRI-O send it for "never". */
const GO_ZERO_TIME = -6795364578871345152n
/** CRI's NamespaceMode NODE: the host's. */
const NAMESPACE_MODE_NODE = 2

const time = (fields: FieldReader): bigint => {
  const value = fields.int64()
  return value === GO_ZERO_TIME ? 0n : value
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }

/** A PodSandboxStatusResponse without gRPC's prefix. Throws CriError INTERNAL if it is malformed or has no status. */
export function decodeSandboxStatusResponse(buf: Buffer, start: number, end: number): SandboxStatus {
  const call = 'PodSandboxStatus'
  const response = new FieldReader(buf, start, end, call)
  const metadata = noMetadata()
  const network = { ip: '', others: [] as string[], hostNetwork: false }
  const labels = new Map<string, string>()
  const annotations = new Map<string, string>()
  let id = ''
  let state = 0
  let createdAt = 0n
  let runtimeHandler = ''
  let present = false
  while (response.next()) {
    if (response.tag !== lengthTag(1)) continue
    present = true
    const fields = response.message()
    while (fields.next()) {
      if (fields.tag === lengthTag(1)) id = fields.string()
      else if (fields.tag === lengthTag(2)) readSandboxMetadata(fields.message(), metadata)
      else if (fields.tag === varintTag(3)) state = fields.int32()
      else if (fields.tag === varintTag(4)) createdAt = time(fields)
      else if (fields.tag === lengthTag(5)) readAddresses(fields.message(), network)
      else if (fields.tag === lengthTag(6)) readLinux(fields.message(), network)
      else if (fields.tag === lengthTag(7)) readEntry(fields.message(), labels)
      else if (fields.tag === lengthTag(8)) readEntry(fields.message(), annotations)
      else if (fields.tag === lengthTag(9)) runtimeHandler = fields.string()
    }
  }
  if (!present) throw withoutStatus(call)
  const addresses = network.hostNetwork ? [] : [network.ip, ...network.others]
  return {
    id,
    ...metadata,
    state: sandboxStateOf(state),
    createdAt,
    ips: addresses.filter((address) => isIP(address) !== 0),
    hostNetwork: network.hostNetwork,
    runtimeHandler,
    labels: sorted(labels),
    annotations: sorted(annotations),
  }
}

/** PodSandboxNetworkStatus. */
function readAddresses(fields: FieldReader, into: { ip: string; others: string[] }): void {
  while (fields.next()) {
    if (fields.tag === lengthTag(1)) into.ip = fields.string()
    else if (fields.tag === lengthTag(2)) {
      const address = fields.message()
      let ip = ''
      while (address.next()) if (address.tag === lengthTag(1)) ip = address.string()
      into.others.push(ip)
    }
  }
}

/** LinuxPodSandboxStatus.namespaces.options.network. */
function readLinux(linux: FieldReader, into: { hostNetwork: boolean }): void {
  while (linux.next()) {
    if (linux.tag !== lengthTag(1)) continue
    const namespaces = linux.message()
    while (namespaces.next()) {
      if (namespaces.tag !== lengthTag(2)) continue
      const options = namespaces.message()
      while (options.next()) {
        if (options.tag === varintTag(1)) into.hostNetwork = options.int32() === NAMESPACE_MODE_NODE
      }
    }
  }
}

/** A ContainerStatusResponse without gRPC's prefix. Throws CriError INTERNAL if it is malformed or has no status. */
export function decodeContainerStatusResponse(buf: Buffer, start: number, end: number): ContainerStatus {
  const call = 'ContainerStatus'
  const response = new FieldReader(buf, start, end, call)
  const metadata = noMetadata()
  const labels = new Map<string, string>()
  const annotations = new Map<string, string>()
  const status: Draft<Omit<ContainerStatus, 'name' | 'attempt' | 'labels' | 'annotations'>> = {
    id: '',
    state: containerStateOf(0),
    createdAt: 0n,
    startedAt: 0n,
    finishedAt: 0n,
    exitCode: 0,
    image: '',
    imageRef: '',
    imageId: '',
    reason: '',
    message: '',
    logPath: '',
  }
  let present = false
  while (response.next()) {
    if (response.tag !== lengthTag(1)) continue
    present = true
    const fields = response.message()
    while (fields.next()) {
      if (fields.tag === lengthTag(1)) status.id = fields.string()
      else if (fields.tag === lengthTag(2)) readContainerMetadata(fields.message(), metadata)
      else if (fields.tag === varintTag(3)) status.state = containerStateOf(fields.int32())
      else if (fields.tag === varintTag(4)) status.createdAt = time(fields)
      else if (fields.tag === varintTag(5)) status.startedAt = time(fields)
      else if (fields.tag === varintTag(6)) status.finishedAt = time(fields)
      else if (fields.tag === varintTag(7)) status.exitCode = fields.int32()
      else if (fields.tag === lengthTag(8)) status.image = readImage(fields.message(), status.image)
      else if (fields.tag === lengthTag(9)) status.imageRef = fields.string()
      else if (fields.tag === lengthTag(10)) status.reason = fields.string()
      else if (fields.tag === lengthTag(11)) status.message = fields.string()
      else if (fields.tag === lengthTag(12)) readEntry(fields.message(), labels)
      else if (fields.tag === lengthTag(13)) readEntry(fields.message(), annotations)
      else if (fields.tag === lengthTag(15)) status.logPath = fields.string()
      else if (fields.tag === lengthTag(17)) status.imageId = fields.string()
    }
  }
  if (!present) throw withoutStatus(call)
  return {
    ...status,
    name: metadata.name,
    attempt: metadata.attempt,
    labels: sorted(labels),
    annotations: sorted(annotations),
  }
}

function withoutStatus(call: string): CriError {
  return new CriError(call, GrpcCode.INTERNAL, 'the runtime answered without a status')
}

/**
 * A map in the order of its keys. Runtimes write maps in any order; objects of one order have one shape, which V8 and the
 * codec of the rings both know by then (bench: codec/pack).
 */
function sorted(map: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
}
