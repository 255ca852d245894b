import { loadSync, type MethodDefinition } from '@grpc/proto-loader'
import { CRI_PROTO, loaderOptions } from '../cri/proto.js'
import type { PlainMessage } from '../cri/runtime.js'
import { eachItem } from './listBook.js'

type Method = MethodDefinition<object, object>

/** CRI's methods and their messages, from proto/. Messages have all their fields, snake_case, int64 as strings, enums as names. */
export class Codec {
  private readonly methods = new Map<string, Method>()
  private readonly paths = new Set<string>()

  constructor() {
    const loaded = loadSync(CRI_PROTO, loaderOptions)
    for (const service of ['runtime.v1.RuntimeService', 'runtime.v1.ImageService']) {
      for (const [call, method] of Object.entries(loaded[service] as unknown as Record<string, Method>)) {
        this.methods.set(call, method)
        this.paths.add(method.path)
      }
    }
  }

  has(service: string, call: string): boolean {
    return this.paths.has(`/${service}/${call}`)
  }

  encodeRequest(call: string, message: PlainMessage): Buffer {
    return this.method(call).requestSerialize(message)
  }

  decodeRequest(call: string, bytes: Buffer): PlainMessage {
    return this.method(call).requestDeserialize(bytes) as PlainMessage
  }

  encodeResponse(call: string, message: PlainMessage): Buffer {
    return this.method(call).responseSerialize(message)
  }

  /** Fields of the PodSandboxStatus or ContainerStatus message. Of a message's parts, behind one another, protobuf makes one. */
  encodeStatusPart(call: 'PodSandboxStatus' | 'ContainerStatus', part: PlainMessage): Buffer {
    const response = this.encodeResponse(call, { status: part })
    let fields = response
    eachItem(response, (start, end) => {
      fields = response.subarray(start, end)
    })
    return fields
  }

  decodeResponse(call: string, bytes: Buffer): PlainMessage {
    return this.method(call).responseDeserialize(bytes) as PlainMessage
  }

  private method(call: string): Method {
    const method = this.methods.get(call)
    if (method === undefined) throw new RangeError(`no CRI call ${call}`)
    return method
  }
}
