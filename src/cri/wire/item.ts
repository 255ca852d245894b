import type { ItemKind, ListedItem } from '../../model/pod.js'
import { readMapEntry } from './map.js'
import { WireReader, WireType } from './reader.js'

/** A listed item with the pod that it names: a sandbox by its metadata, a container by its labels ('' where it has none). */
export interface DecodedItem {
  readonly item: ListedItem
  readonly podUid: string
  readonly podNamespace: string
  readonly podName: string
}

/** Fields of runtime.v1 PodSandbox and Container. */
const fields = {
  sandbox: { id: 1, sandboxId: -1, metadata: 2, image: -1, state: 3, createdAt: 4, labels: 5 },
  container: { id: 1, sandboxId: 2, metadata: 3, image: 4, state: 6, createdAt: 7, labels: 8 },
} as const

/**
 * Decodes one item of a list: any field order, unknown fields, absent ones, the last of repeated ones.
 *
 * @throws CriError INTERNAL where the bytes are no message
 */
export function decodeItem(kind: ItemKind, buf: Buffer, start: number, end: number): DecodedItem {
  const at = fields[kind]
  const reader = new WireReader(buf, start, end)
  let id = ''
  let sandboxId = ''
  let image = ''
  let criState = 0
  let createdAt = 0n
  const metadata = { name: '', uid: '', namespace: '', attempt: 0 }
  const labels = { uid: '', namespace: '', name: '' }
  while (reader.next()) {
    switch (reader.field) {
      case at.id:
        if (reader.is(WireType.bytes)) id = reader.string()
        break
      case at.sandboxId:
        if (reader.is(WireType.bytes)) sandboxId = reader.string()
        break
      case at.metadata:
        if (reader.is(WireType.bytes)) reader.message((inner) => readMetadata(kind, inner, metadata))
        break
      case at.image:
        if (!reader.is(WireType.bytes)) break
        reader.message((inner) => {
          while (inner.next()) {
            if (inner.field === 1 && inner.wireType === WireType.bytes) image = inner.string()
            else inner.skip()
          }
        })
        break
      case at.state:
        if (reader.is(WireType.varint)) criState = reader.int32()
        break
      case at.createdAt:
        if (reader.is(WireType.varint)) createdAt = reader.int64()
        break
      case at.labels:
        if (reader.is(WireType.bytes)) readPodLabel(reader, labels)
        break
      default:
        reader.skip()
    }
  }
  const item: ListedItem = {
    kind,
    id,
    name: metadata.name,
    attempt: metadata.attempt,
    criState,
    createdAt,
    sandboxId,
    image,
  }
  if (kind === 'sandbox')
    return { item, podUid: metadata.uid, podNamespace: metadata.namespace, podName: metadata.name }
  return { item, podUid: labels.uid, podNamespace: labels.namespace, podName: labels.name }
}

function readMetadata(
  kind: ItemKind,
  reader: WireReader,
  into: { name: string; uid: string; namespace: string; attempt: number },
): void {
  const attempt = kind === 'sandbox' ? 4 : 2
  while (reader.next()) {
    if (reader.field === 1 && reader.wireType === WireType.bytes) into.name = reader.string()
    else if (reader.field === attempt && reader.wireType === WireType.varint) into.attempt = reader.uint32()
    else if (kind === 'sandbox' && reader.field === 2 && reader.wireType === WireType.bytes) into.uid = reader.string()
    else if (kind === 'sandbox' && reader.field === 3 && reader.wireType === WireType.bytes)
      into.namespace = reader.string()
    else reader.skip()
  }
}

/** Labels that a kubelet gives each container (kubelet v1.37 kuberuntime/labels.go, types/labels.go). */
function readPodLabel(reader: WireReader, into: { uid: string; namespace: string; name: string }): void {
  const [key, value] = readMapEntry(reader)
  if (key === 'io.kubernetes.pod.uid') into.uid = value
  else if (key === 'io.kubernetes.pod.namespace') into.namespace = value
  else if (key === 'io.kubernetes.pod.name') into.name = value
}
