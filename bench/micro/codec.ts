import { Packr } from 'msgpackr'
import { createRelister } from '../../src/engine/relister.js'
import type { ShardMessage } from '../../src/relist/messages.js'
import { packMessage, unpackMessage } from '../../src/ring/codec.js'
import { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'
import type { MicroBench } from './bench.js'

const batch = 64

/**
 * The message that carries one inspected pod. `codec/unpack` copies it out of shared memory and unpacks the copy;
 * `codec/inline` and `codec/inline-shared` unpack one that carries its own shapes, from private and from shared memory.
 */
export async function codecBenches(): Promise<MicroBench[]> {
  const message = await inspectedPod()
  const packed = Uint8Array.from(packMessage(message))
  const shared = Buffer.from(new SharedArrayBuffer(packed.length))
  shared.set(packed)
  const inline = new Packr({ int64AsType: 'bigint' })
  const selfContained = Buffer.from(inline.pack(message))
  const sharedInline = Buffer.from(new SharedArrayBuffer(selfContained.length))
  sharedInline.set(selfContained)
  return [
    { id: 'codec/pack', operations: batch, run: repeat(() => packMessage(message)) },
    { id: 'codec/unpack', operations: batch, run: repeat(() => unpackMessage(shared, 0, shared.length)) },
    { id: 'codec/inline', operations: batch, run: repeat(() => inline.unpack(selfContained)) },
    { id: 'codec/inline-shared', operations: batch, run: repeat(() => inline.unpack(sharedInline)) },
  ]
}

function repeat(run: () => unknown): () => void {
  return () => {
    for (let i = 0; i < batch; i++) run()
  }
}

async function inspectedPod(): Promise<ShardMessage> {
  const relister = createRelister({ runtime: new SimulatedRuntime({ pods: 1 }) })
  await relister.relist()
  await relister.settled()
  const [pod] = relister.cache.list()
  const { uid, namespace, name, sandboxes, containers } = pod!.status
  relister.close()
  return {
    t: 'inspected',
    stamp: 1,
    pod: { uid, namespace, name },
    listed: [],
    sandboxes,
    containers,
    kept: [],
    events: [{ type: 'ContainerStarted', kind: 'container', id: containers[0]!.id, name: 'app', time: 1 }],
    settled: true,
  }
}
