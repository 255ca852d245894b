import { createHash } from 'node:crypto'
import type { ImageRecord } from './records.js'

/**
 * The image store. A pull makes an image exist whatever its name: its content, and so its id, comes
 * from the last part of the repository's name alone, so that all tags and all registries have the same.
 */
export class ImageStore {
  private readonly byId = new Map<string, ImageRecord>()

  constructor(images: Iterable<ImageRecord>) {
    for (const image of images) this.byId.set(image.id, image)
  }

  list(): IterableIterator<ImageRecord> {
    return this.byId.values()
  }

  /** By id (with or without `sha256:`, may be shortened), tag or digest; undefined if there is none. */
  find(reference: string): ImageRecord | undefined {
    if (reference === '') return undefined
    const name = normalized(reference)
    const hex = reference.replace(/^sha256:/, '')
    for (const image of this.byId.values()) {
      if (image.tags.includes(name) || image.digests.includes(name)) return image
      if (/^[0-9a-f]{7,64}$/.test(hex) && image.id.startsWith(`sha256:${hex}`)) return image
    }
    return undefined
  }

  pull(reference: string): ImageRecord {
    const present = this.find(reference)
    if (present !== undefined) return present
    const name = normalized(reference)
    const repository = name.replace(/(@.*|:[^:/]*)$/, '')
    const id = `sha256:${sha256(`image ${repository.slice(repository.lastIndexOf('/') + 1)}`)}`
    const image: ImageRecord = this.byId.get(id) ?? {
      id,
      tags: [],
      digests: [],
      size: 1_000_000 + (Number.parseInt(id.slice(7, 13), 16) % 50_000_000),
      pinned: false,
      user: null,
    }
    const digest = name.includes('@') ? name : `${repository}@sha256:${sha256(`manifest ${repository}`)}`
    if (!image.digests.includes(digest)) image.digests.push(digest)
    if (digest !== name) image.tags.push(name)
    this.byId.set(image.id, image)
    return image
  }

  /** Removes the image with all its names, as containerd does, whichever of them was given. */
  remove(reference: string): void {
    const image = this.find(reference)
    if (image !== undefined) this.byId.delete(image.id)
  }

  /** Bytes of all images. */
  get usedBytes(): number {
    let sum = 0
    for (const image of this.byId.values()) sum += image.size
    return sum
  }

  get size(): number {
    return this.byId.size
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A reference as containerd stores it: registry and tag written out. */
function normalized(reference: string): string {
  const [first = '', ...rest] = reference.split('/')
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const full = hasRegistry ? reference : `docker.io/${rest.length === 0 ? 'library/' : ''}${reference}`
  return full.includes('@') || /:[^:/]+$/.test(full) ? full : `${full}:latest`
}
