import type { MethodDefinition } from '@grpc/proto-loader'
import { CRI_PROTO, loaderOptions } from '../proto.js'

export type Method = MethodDefinition<object, object>

let loaded: Promise<ReadonlyMap<string, Method>> | undefined

/** CRI's methods by name, both services together. Parsed once a thread, on first use: a relist never needs it. */
export function criMethods(): Promise<ReadonlyMap<string, Method>> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<ReadonlyMap<string, Method>> {
  const loader = await import('@grpc/proto-loader')
  const definitions = await loader.load(CRI_PROTO, loaderOptions)
  const services = ['runtime.v1.RuntimeService', 'runtime.v1.ImageService']
  return new Map(services.flatMap((service) => Object.entries(definitions[service] as Record<string, Method>)))
}
