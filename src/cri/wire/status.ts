import type { ContainerStatus, SandboxStatus } from '../../model/pod.js'
import { containerStateOf, sandboxStateOf } from '../../model/state.js'
import { CriError, GrpcCode } from '../errors.js'
import { readMapEntry } from './map.js'
import { WireReader, WireType } from './reader.js'

/** What cri-dockerd and CRI-O say for "no time": year 1 in nanoseconds, wrapped. */
const yearOne = -6795364578871345152n
/** runtime.v1 NamespaceMode NODE: the host's. */
const nodeNamespace = 2

/**
 * Decodes a PodSandboxStatusResponse.
 *
 * @throws CriError INTERNAL where the bytes are no message, or hold no status
 */
export function decodeSandboxStatusResponse(buf: Buffer, start: number, end: number): SandboxStatus {
  return decodeResponse('PodSandboxStatus', buf, start, end, readSandboxStatus)
}

/**
 * Decodes a ContainerStatusResponse. Times that stand for none are 0n.
 *
 * @throws CriError INTERNAL where the bytes are no message, or hold no status
 */
export function decodeContainerStatusResponse(buf: Buffer, start: number, end: number): ContainerStatus {
  return decodeResponse('ContainerStatus', buf, start, end, readContainerStatus)
}

function decodeResponse<T>(call: string, buf: Buffer, start: number, end: number, read: (reader: WireReader) => T): T {
  const reader = new WireReader(buf, start, end)
  let status: T | null = null
  while (reader.next()) {
    if (reader.field !== 1 || reader.wireType !== WireType.bytes) {
      reader.skip()
      continue
    }
    reader.message((inner) => {
      status = read(inner)
    })
  }
  if (status === null) throw new CriError(call, GrpcCode.INTERNAL, 'the runtime answered without a status')
  return status
}

function readSandboxStatus(reader: WireReader): SandboxStatus {
  let id = ''
  let state = 0
  let createdAt = 0n
  let runtimeHandler = ''
  const metadata = { name: '', uid: '', namespace: '', attempt: 0 }
  const ips: string[] = []
  let network = 0
  const labels: Record<string, string> = {}
  const annotations: Record<string, string> = {}
  while (reader.next()) {
    const bytes = reader.wireType === WireType.bytes
    const varint = reader.wireType === WireType.varint
    if (reader.field === 1 && bytes) id = reader.string()
    else if (reader.field === 2 && bytes) {
      reader.message((inner) => {
        while (inner.next()) {
          if (inner.field === 1 && inner.wireType === WireType.bytes) metadata.name = inner.string()
          else if (inner.field === 2 && inner.wireType === WireType.bytes) metadata.uid = inner.string()
          else if (inner.field === 3 && inner.wireType === WireType.bytes) metadata.namespace = inner.string()
          else if (inner.field === 4 && inner.wireType === WireType.varint) metadata.attempt = inner.uint32()
          else inner.skip()
        }
      })
    } else if (reader.field === 3 && varint) state = reader.int32()
    else if (reader.field === 4 && varint) createdAt = time(reader.int64())
    else if (reader.field === 5 && bytes) reader.message((inner) => readIps(inner, ips))
    else if (reader.field === 6 && bytes) network = readNetworkMode(reader)
    else if (reader.field === 7 && bytes) putEntry(reader, labels)
    else if (reader.field === 8 && bytes) putEntry(reader, annotations)
    else if (reader.field === 9 && bytes) runtimeHandler = reader.string()
    else reader.skip()
  }
  return {
    id,
    ...metadata,
    state: sandboxStateOf(state),
    createdAt,
    ips,
    hostNetwork: network === nodeNamespace,
    runtimeHandler,
    labels,
    annotations,
  }
}

function readContainerStatus(reader: WireReader): ContainerStatus {
  let id = ''
  let state = 0
  let createdAt = 0n
  let startedAt = 0n
  let finishedAt = 0n
  let exitCode = 0
  const metadata = { name: '', attempt: 0 }
  const text = { image: '', imageRef: '', imageId: '', reason: '', message: '', logPath: '' }
  const labels: Record<string, string> = {}
  const annotations: Record<string, string> = {}
  while (reader.next()) {
    const bytes = reader.wireType === WireType.bytes
    const varint = reader.wireType === WireType.varint
    if (reader.field === 1 && bytes) id = reader.string()
    else if (reader.field === 2 && bytes) {
      reader.message((inner) => {
        while (inner.next()) {
          if (inner.field === 1 && inner.wireType === WireType.bytes) metadata.name = inner.string()
          else if (inner.field === 2 && inner.wireType === WireType.varint) metadata.attempt = inner.uint32()
          else inner.skip()
        }
      })
    } else if (reader.field === 3 && varint) state = reader.int32()
    else if (reader.field === 4 && varint) createdAt = time(reader.int64())
    else if (reader.field === 5 && varint) startedAt = time(reader.int64())
    else if (reader.field === 6 && varint) finishedAt = time(reader.int64())
    else if (reader.field === 7 && varint) exitCode = reader.int32()
    else if (reader.field === 8 && bytes) {
      reader.message((inner) => {
        while (inner.next()) {
          if (inner.field === 1 && inner.wireType === WireType.bytes) text.image = inner.string()
          else inner.skip()
        }
      })
    } else if (reader.field === 9 && bytes) text.imageRef = reader.string()
    else if (reader.field === 10 && bytes) text.reason = reader.string()
    else if (reader.field === 11 && bytes) text.message = reader.string()
    else if (reader.field === 12 && bytes) putEntry(reader, labels)
    else if (reader.field === 13 && bytes) putEntry(reader, annotations)
    else if (reader.field === 15 && bytes) text.logPath = reader.string()
    else if (reader.field === 17 && bytes) text.imageId = reader.string()
    else reader.skip()
  }
  return {
    id,
    ...metadata,
    state: containerStateOf(state),
    createdAt,
    startedAt,
    finishedAt,
    exitCode,
    ...text,
    labels,
    annotations,
  }
}

function time(nanoseconds: bigint): bigint {
  return nanoseconds === yearOne ? 0n : nanoseconds
}

function putEntry(reader: WireReader, into: Record<string, string>): void {
  const [key, value] = readMapEntry(reader)
  into[key] = value
}

/** PodSandboxNetworkStatus: the primary address, then the additional ones. */
function readIps(reader: WireReader, ips: string[]): void {
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === WireType.bytes) {
      const ip = reader.string()
      if (ip !== '') ips.unshift(ip)
    } else if (reader.field === 2 && reader.wireType === WireType.bytes) {
      reader.message((inner) => {
        while (inner.next()) {
          if (inner.field === 1 && inner.wireType === WireType.bytes) ips.push(inner.string())
          else inner.skip()
        }
      })
    } else reader.skip()
  }
}

/** LinuxPodSandboxStatus.namespaces(1).options(2).network(1). */
function readNetworkMode(reader: WireReader): number {
  let mode = 0
  const descend = (path: readonly number[]) => (inner: WireReader) => {
    while (inner.next()) {
      if (inner.field !== path[0]) inner.skip()
      else if (path.length === 1) mode = inner.wireType === WireType.varint ? inner.int32() : (inner.skip(), mode)
      else if (inner.wireType === WireType.bytes) inner.message(descend(path.slice(1)))
      else inner.skip()
    }
  }
  reader.message(descend([1, 2, 1]))
  return mode
}
