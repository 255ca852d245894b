import { connectHot } from '../../src/cri/connect.js'
import type { ItemSink } from '../../src/cri/runtime.js'
import { sleep, systemClock } from '../../src/model/clock.js'
import type { BlockSpec } from '../block.js'
import type { Contender, Hooks } from './contender.js'

/** Reads both lists as the engine's lister does and looks at no item: below this no relist can be, on this transport. */
export async function floor(endpoint: string, { periodMs }: BlockSpec): Promise<Contender> {
  const runtime = await connectHot(endpoint)
  const stopping = new AbortController()
  const calls = { lists: 0, statuses: 0, failures: 0 }
  const blind: ItemSink = { item: () => {} }
  let listed = 0
  let running: Promise<void> = Promise.resolve()
  const relist = async (hooks: Hooks) => {
    const stamp = systemClock.now()
    const [sandboxes, containers] = await Promise.all([runtime.listPodSandboxes(blind), runtime.listContainers(blind)])
    calls.lists += 2
    const counts = { pods: sandboxes.items, containers: containers.items, bytes: sandboxes.bytes + containers.bytes }
    // It has no events to tell: those of the start are said to be there.
    if (listed === 0) for (let i = 0; i < counts.pods + counts.containers; i++) hooks.event()
    listed = sandboxes.items
    hooks.relisted({ stamp, relistMs: systemClock.now() - stamp, ...counts, items: 0, bytesCopied: 0 })
  }
  return {
    async start(hooks) {
      running = (async () => {
        while (!stopping.signal.aborted) {
          await relist(hooks)
          await sleep(systemClock, periodMs, stopping.signal)
        }
      })()
    },
    async stop() {
      stopping.abort()
      await running
      await runtime.close()
    },
    listed: () => listed,
    calls: () => calls,
  }
}
