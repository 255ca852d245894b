import { Packr } from 'msgpackr'
import { RingError } from './ring.js'

/**
 * The shapes that cross rings, agreed on up front: both ends must have the same list, in the same order. Shapes that are
 * not in it (the labels of people) are written inline, self-contained; `maxSharedStructures` keeps either end from adding
 * to its own table, which the other would not have (kriszyp/msgpackr#164).
 */
const structures = [
  ['uid', 'namespace', 'name'],
  ['kind', 'id', 'name', 'attempt', 'criState', 'createdAt', 'sandboxId', 'image'],
  ['type', 'kind', 'id', 'name', 'time'],
  [
    'id',
    'name',
    'uid',
    'namespace',
    'attempt',
    'state',
    'createdAt',
    'ips',
    'hostNetwork',
    'runtimeHandler',
    'labels',
    'annotations',
  ],
  // biome-ignore format: one shape, one line
  ['id', 'name', 'attempt', 'state', 'createdAt', 'startedAt', 'finishedAt', 'exitCode', 'image', 'imageRef', 'imageId', 'reason', 'message', 'logPath', 'labels', 'annotations'],
  ['t', 'stamp', 'uids'],
  ['t', 'stamp', 'uid'],
  ['t', 'stamp', 'generation', 'pods', 'runningPods'],
  ['t', 'stamp', 'pod', 'listed'],
  ['t', 'stamp', 'pod', 'listed', 'sandboxes', 'containers', 'kept', 'events', 'settled'],
  ['t', 'stamp', 'pod', 'error', 'failures', 'sinceStamp'],
  ['t', 'stamp', 'pod', 'events'],
  ['code', 'message', 'call', 'id'],
  ['t', 'pod', 'listed', 'kept', 'reinspect'],
  // Labels and annotations that every kubelet writes, in the order of their keys.
  ['io.kubernetes.container.name', 'io.kubernetes.pod.name', 'io.kubernetes.pod.namespace', 'io.kubernetes.pod.uid'],
  ['io.kubernetes.pod.name', 'io.kubernetes.pod.namespace', 'io.kubernetes.pod.uid'],
  [
    'io.kubernetes.container.hash',
    'io.kubernetes.container.restartCount',
    'io.kubernetes.container.terminationMessagePath',
    'io.kubernetes.container.terminationMessagePolicy',
    'io.kubernetes.pod.terminationGracePeriod',
  ],
  [
    'io.kubernetes.container.hash',
    'io.kubernetes.container.ports',
    'io.kubernetes.container.restartCount',
    'io.kubernetes.container.terminationMessagePath',
    'io.kubernetes.container.terminationMessagePolicy',
    'io.kubernetes.pod.terminationGracePeriod',
  ],
  ['kubernetes.io/config.seen', 'kubernetes.io/config.source'],
]

const options = { useRecords: true, maxSharedStructures: structures.length, int64AsType: 'bigint' } as const
/** `isShared` makes msgpackr undo what a bad record does to an agreed shape; it sets that itself only on shapes that it loads. */
const packr = new Packr({
  ...options,
  structures: structures.map((keys) => Object.assign([...keys], { isShared: true })),
})
let scratch = Buffer.allocUnsafe(64 << 10)

/** The message as msgpack, in a buffer that the next call uses again. */
export function packMessage(message: unknown): Uint8Array {
  return packr.pack(message)
}

/**
 * The message at `bytes[start, end)`, bigints exact. Copied out first: msgpackr reads shared memory three times slower
 * than its own (bench: codec/unpack).
 *
 * @throws RingError RING_BAD_RECORD where the bytes are no message
 */
export function unpackMessage<T>(bytes: Uint8Array, start: number, end: number): T {
  const length = end - start
  if (scratch.length < length) scratch = Buffer.allocUnsafe(length * 2)
  scratch.set(bytes.subarray(start, end))
  try {
    return packr.unpack(scratch.subarray(0, length)) as T
  } catch (error) {
    throw new RingError('RING_BAD_RECORD', `not a message: ${error instanceof Error ? error.message : String(error)}`, {
      length,
    })
  }
}
