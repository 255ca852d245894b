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
