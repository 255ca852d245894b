import { pathToFileURL } from 'node:url'
import type * as engineModule from '../../src/engine/engine.js'
import type { BlockSpec } from '../block.js'
import type { Contender } from './contender.js'

/** So many events are held that none is folded into a PodSync, also not at the first relist. */
const channelCapacity = 1_000_000

/** The engine as an agent uses it; `engineFile` is where the compiled engine lies, this build's or another's. */
export async function plegd(endpoint: string, spec: BlockSpec, engineFile: string): Promise<Contender> {
  const { createEngine } = (await import(pathToFileURL(engineFile).href)) as typeof engineModule
  let relisted: Parameters<Contender['start']>[0]['relisted'] = () => {}
  const engine = createEngine({
    endpoint,
    relistPeriodMs: spec.periodMs,
    channelCapacity,
    ...(spec.transport === null ? {} : { transport: spec.transport }),
    ...(spec.shards === null ? {} : { shards: spec.shards }),
    ...(spec.inspectConcurrency === null ? {} : { inspectConcurrency: spec.inspectConcurrency }),
    onRelist: ({ stamp, relistMs, sandboxes, containers, bytes, changed, bytesCopied }) =>
      relisted({ stamp, relistMs, pods: sandboxes, containers, bytes, items: changed, bytesCopied }),
  })
  let consumed: Promise<void> = Promise.resolve()
  return {
    async start(hooks) {
      relisted = hooks.relisted
      consumed = (async () => {
        for await (const _ of engine.events()) hooks.event()
      })()
      await engine.start()
    },
    async stop() {
      await engine.stop()
      await consumed
    },
    listed: () => engine.cache.size,
    calls() {
      const { calls, relistFailures } = engine.stats()
      const total = (operations: readonly string[]) =>
        calls.filter((call) => operations.includes(call.operation)).reduce((sum, call) => sum + call.total, 0)
      return {
        lists: total(['list_podsandbox', 'list_containers']),
        statuses: total(['podsandbox_status', 'container_status']),
        failures: relistFailures,
      }
    },
  }
}
