import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRelister } from '../../../src/engine/relister.js'
import { byPod, EventModel } from '../../support/eventModel.js'
import { type ScriptedItem, ScriptedRuntime } from '../../support/scriptedRuntime.js'

const pods = ['p0', 'p1', 'p2', 'p3']
const slots = pods.flatMap((podUid) => [
  { kind: 'sandbox', podUid, id: `sb-${podUid}`, name: podUid },
  // 64 characters, as real ids are: the table's fast path; the others take the slow one.
  { kind: 'container', podUid, id: `${podUid}-a`.padEnd(64, 'f'), name: 'a' },
  { kind: 'container', podUid, id: `${podUid}-b`, name: 'b' },
]) as Omit<ScriptedItem, 'state'>[]

/** State of each slot, or null where it isn't listed; the order in which items are listed; whether a list breaks. */
const step = fc.record({
  states: fc.array(fc.option(fc.integer({ min: 0, max: 3 })), { minLength: slots.length, maxLength: slots.length }),
  order: fc.shuffledSubarray(
    slots.map((_, i) => i),
    { minLength: slots.length },
  ),
  breaks: fc.option(fc.constantFrom('ListPodSandbox', 'ListContainers'), { freq: 4 }),
})

describe('any history of runtime states', () => {
  it('gives, with any number of shards, the events of a plain sequential model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (history, shards) => {
        const runtime = new ScriptedRuntime()
        const relister = createRelister({ runtime, shards })
        const model = new EventModel()
        for (const { states, order, breaks } of history) {
          runtime.items = order.flatMap((i) => (states[i] == null ? [] : [{ ...slots[i]!, state: states[i]! }]))
          runtime.fault = (call) => {
            if (call === breaks) throw new Error('the list broke')
          }
          if (breaks === null) await relister.relist()
          else await expect(relister.relist()).rejects.toThrow('the list broke')
          await relister.settled()
          const events = byPod(relister.takeEvents())
          expect(events).toEqual(breaks === null ? model.relist(runtime.items) : new Map())
          if (breaks === null) expectCache(relister.cache, runtime.items)
        }
        relister.close()
      }),
      { numRuns: 300 },
    )
  })
})

function expectCache(cache: ReturnType<typeof createRelister>['cache'], items: readonly ScriptedItem[]): void {
  // created and unknown are one state to a PLEG: a change between them is inspected by nobody, the kubelet included.
  const word = (state: string) => (state === 'created' ? 'unknown' : state)
  const cached = [...cache.list()].flatMap(({ status }) => {
    return [...status.sandboxes, ...status.containers].map((one) => `${one.id} ${word(one.state)}`)
  })
  const words = {
    sandbox: ['ready', 'notready', 'unknown', 'unknown'],
    container: ['unknown', 'running', 'exited', 'unknown'],
  }
  expect(cached.sort()).toEqual(items.map((item) => `${item.id} ${words[item.kind][item.state]}`).sort())
}
