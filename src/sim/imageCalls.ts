import { CriError, GrpcCode } from '../cri/errors.js'
import { imageMessage } from './messages.js'
import { invalid, type Parts } from './parts.js'
import type { Handlers, ImageSpec } from './requests.js'
import { pause } from './timers.js'

type ImageCalls = 'ListImages' | 'ImageStatus' | 'PullImage' | 'RemoveImage' | 'ImageFsInfo'

/** What a pull of an image that is not there takes. */
const pullMs = 20

export function imageCalls({ node, images, timers }: Parts): Pick<Handlers, ImageCalls> {
  return {
    ListImages: ({ filter }) => {
      const wanted = filter?.image?.image ?? ''
      const found = wanted === '' ? [...images.list()] : [images.find(wanted)].filter((image) => image !== undefined)
      return { images: found.map(imageMessage) }
    },

    ImageStatus: ({ image, verbose }) => {
      const found = images.find(named('ImageStatus', image))
      if (found === undefined) return { image: null, info: {} }
      return { image: imageMessage(found), info: verbose ? { info: JSON.stringify({ simulated: true }) } : {} }
    },

    PullImage: async ({ image }, { signal }) => {
      const name = named('PullImage', image)
      if (images.find(name) === undefined) await pause(timers, pullMs, signal)
      if (signal?.aborted) throw new CriError('PullImage', GrpcCode.CANCELLED, `failed to pull image "${name}"`)
      return { image_ref: images.pull(name).id }
    },

    RemoveImage: ({ image }) => {
      images.remove(named('RemoveImage', image))
      return {}
    },

    ImageFsInfo: () => {
      const timestamp = node.stamp().toString()
      const usage = (mountpoint: string, bytes: number, inodes: number) => ({
        timestamp,
        fs_id: { mountpoint },
        used_bytes: { value: `${bytes}` },
        inodes_used: { value: `${inodes}` },
      })
      return {
        image_filesystems: [usage('/var/lib/containerd/images', images.usedBytes, images.size * 100)],
        container_filesystems: [
          usage('/var/lib/containerd/containers', node.containers.size * 20_480, node.containers.size * 8),
        ],
      }
    },
  }
}

function named(call: string, image: ImageSpec | null): string {
  if (image === null || image.image === '') throw invalid(call, 'no image named')
  return image.image
}
