import type { ItemKind } from '../../src/model/pod.js'
import { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'

/** A list as it stands in memory: frame i is `bytes[bounds[2 * i], bounds[2 * i + 1])`. */
export interface Listed {
  readonly kind: ItemKind
  readonly bytes: Buffer
  readonly bounds: Int32Array
}

/** Both lists of a simulated node with two containers a pod. */
export async function listed(pods: number): Promise<readonly [Listed, Listed]> {
  const sim = new SimulatedRuntime({ pods, containersPerPod: 2, listOrder: 'stable' })
  return [await one('sandbox'), await one('container')]

  async function one(kind: ItemKind): Promise<Listed> {
    const frames: Buffer[] = []
    const bounds: number[] = []
    let at = 0
    const sink = {
      item(buf: Buffer, start: number, end: number) {
        frames.push(Buffer.from(buf.subarray(start, end)))
        bounds.push(at, at + end - start)
        at += end - start
      },
    }
    await (kind === 'sandbox' ? sim.listPodSandboxes(sink) : sim.listContainers(sink))
    return { kind, bytes: Buffer.concat(frames), bounds: Int32Array.from(bounds) }
  }
}
