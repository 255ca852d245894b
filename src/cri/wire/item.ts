import type { Buffer } from 'node:buffer'
import type { ItemKind, ListedItem } from '../../model/pod.js'
import { FieldReader } from './fields.js'
import { lengthTag, varintTag } from './reader.js'

/** An item of a list, and the pod that it says it belongs to (each part '' where the runtime gives none). */
export interface DecodedItem {
  readonly item: ListedItem
  readonly podUid: string
  readonly podNamespace: string
  readonly podName: string
  /** It carries the kubelet's label of that pod: a list that is filtered by it shows the item. */
  readonly labelled: boolean
}

/** The label that a kubelet gives all sandboxes and containers of a pod (kubelet v1.37 types/labels.go). */
export const podUidLabel = 'io.kubernetes.pod.uid'

/** PodSandboxMetadata and ContainerMetadata as they are read, field by field: a field that comes twice is merged. */
interface Metadata {
  name: string
  uid: string
  namespace: string
  attempt: number
}

export function noMetadata(): Metadata {
  return { name: '', uid: '', namespace: '', attempt: 0 }
}

export function readSandboxMetadata(fields: FieldReader, into: Metadata): void {
  while (fields.next()) {
    if (fields.tag === lengthTag(1)) into.name = fields.string()
    else if (fields.tag === lengthTag(2)) into.uid = fields.string()
    else if (fields.tag === lengthTag(3)) into.namespace = fields.string()
    else if (fields.tag === varintTag(4)) into.attempt = fields.uint32()
  }
}

export function readContainerMetadata(fields: FieldReader, into: Metadata): void {
  while (fields.next()) {
    if (fields.tag === lengthTag(1)) into.name = fields.string()
    else if (fields.tag === varintTag(2)) into.attempt = fields.uint32()
  }
}

/** One entry of a map<string, string>; an absent key or value is ''. The last entry of a key wins. */
export function readEntry(fields: FieldReader, into: Map<string, string>): void {
  let key = ''
  let value = ''
  while (fields.next()) {
    if (fields.tag === lengthTag(1)) key = fields.string()
    else if (fields.tag === lengthTag(2)) value = fields.string()
  }
  into.set(key, value)
}

/** ImageSpec.image; `before` where this part of it doesn't say. */
export function readImage(fields: FieldReader, before: string): string {
  let image = before
  while (fields.next()) if (fields.tag === lengthTag(1)) image = fields.string()
  return image
}

/**
 * One encoded PodSandbox or Container, buf[start, end). A container's pod is what its kubelet labels say. Throws
 * CriError INTERNAL where the bytes are no protobuf message.
 */
export function decodeItem(kind: ItemKind, buf: Buffer, start: number, end: number): DecodedItem {
  return kind === 'sandbox' ? decodeSandbox(buf, start, end) : decodeContainer(buf, start, end)
}

function decodeSandbox(buf: Buffer, start: number, end: number): DecodedItem {
  const fields = new FieldReader(buf, start, end, 'ListPodSandbox')
  const metadata = noMetadata()
  const labels = new Map<string, string>()
  let id = ''
  let criState = 0
  let createdAt = 0n
  while (fields.next()) {
    if (fields.tag === lengthTag(1)) id = fields.string()
    else if (fields.tag === lengthTag(2)) readSandboxMetadata(fields.message(), metadata)
    else if (fields.tag === varintTag(3)) criState = fields.int32()
    else if (fields.tag === varintTag(4)) createdAt = fields.int64()
    else if (fields.tag === lengthTag(5)) readEntry(fields.message(), labels)
  }
  const { name, attempt } = metadata
  return {
    item: { kind: 'sandbox', id, name, attempt, criState, createdAt, sandboxId: '', image: '' },
    podUid: metadata.uid,
    podNamespace: metadata.namespace,
    podName: name,
    labelled: metadata.uid !== '' && labels.get(podUidLabel) === metadata.uid,
  }
}

function decodeContainer(buf: Buffer, start: number, end: number): DecodedItem {
  const fields = new FieldReader(buf, start, end, 'ListContainers')
  const metadata = noMetadata()
  const labels = new Map<string, string>()
  let id = ''
  let sandboxId = ''
  let image = ''
  let criState = 0
  let createdAt = 0n
  while (fields.next()) {
    if (fields.tag === lengthTag(1)) id = fields.string()
    else if (fields.tag === lengthTag(2)) sandboxId = fields.string()
    else if (fields.tag === lengthTag(3)) readContainerMetadata(fields.message(), metadata)
    else if (fields.tag === lengthTag(4)) image = readImage(fields.message(), image)
    else if (fields.tag === varintTag(6)) criState = fields.int32()
    else if (fields.tag === varintTag(7)) createdAt = fields.int64()
    else if (fields.tag === lengthTag(8)) readEntry(fields.message(), labels)
  }
  const { name, attempt } = metadata
  const podUid = labels.get(podUidLabel) ?? ''
  return {
    item: { kind: 'container', id, name, attempt, criState, createdAt, sandboxId, image },
    podUid,
    podNamespace: labels.get('io.kubernetes.pod.namespace') ?? '',
    podName: labels.get('io.kubernetes.pod.name') ?? '',
    labelled: podUid !== '',
  }
}
