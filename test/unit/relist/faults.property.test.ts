import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CriError, GrpcCode } from '../../../src/cri/errors.js'
import { createRelister } from '../../../src/engine/relister.js'
import type { PodLifecycleEvent } from '../../../src/model/event.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { type ScriptedItem, ScriptedRuntime } from '../../support/scriptedRuntime.js'

/** Longer than the longest backoff of an inspection that failed. */
const allRetriesMs = 90_000

const pods = ['p0', 'p1', 'p2']
const slots = pods.flatMap((podUid) => [
  { kind: 'sandbox', podUid, id: `sb-${podUid}`, name: podUid },
  { kind: 'container', podUid, id: `${podUid}-a`.padEnd(64, 'f'), name: 'a', exitCode: 7 },
  { kind: 'container', podUid, id: `${podUid}-b`, name: 'b', unlabelled: true },
]) as Omit<ScriptedItem, 'state'>[]

/** What a status call does: answers, fails, says that the object is gone, answers after a while, or not before it is let go. */
const effect = fc.constantFrom('ok', 'ok', 'error', 'gone', 'slow', 'hang')

const step = fc.record({
  states: fc.array(fc.option(fc.integer({ min: 0, max: 3 }), { freq: 4 }), {
    minLength: slots.length,
    maxLength: slots.length,
  }),
  effects: fc.array(effect, { minLength: slots.length, maxLength: slots.length }),
  breaks: fc.option(fc.constantFrom('ListPodSandbox', 'ListContainers'), { freq: 4 }),
  reinspect: fc.subarray(pods),
  /** Pods that are relisted on demand: before the full relist, while its lists are under way, after it. */
  demanded: fc.tuple(fc.subarray(pods), fc.subarray(pods), fc.subarray(pods)),
  /** What becomes of the node while the full lists are under way: their items were shown before. */
  during: fc.option(
    fc.array(fc.option(fc.integer({ min: 0, max: 3 }), { freq: 4 }), {
      minLength: slots.length,
      maxLength: slots.length,
    }),
  ),
  pauseMs: fc.constantFrom(0, 10, 1000, 70_000),
})

const numRuns = Number(process.env['PLEGD_HISTORIES'] ?? 2000)

describe('any history of states and faults', () => {
  it(`loses and invents nothing, asks for no object twice at once, and ends with the truth (${numRuns} histories)`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 3 }),
        async (history, shards) => {
          const clock = new VirtualClock()
          const runtime = new ScriptedRuntime()
          const relister = createRelister({ runtime, clock, shards, channelCapacity: 100_000, random: () => 0.5 })
          const events: PodLifecycleEvent[] = []
          const asked = new Set<string>()
          let letGo: () => void = () => {}
          let effects = new Map<string, string>()

          for (const { states, effects: drawn, breaks, reinspect, demanded, during, pauseMs } of history) {
            runtime.items = node(states)
            effects = new Map(slots.map((slot, i) => [slot.id, drawn[i]!]))
            const hung = new Promise<void>((resolve) => {
              letGo = resolve
            })
            runtime.fault = async (call, id) => {
              if (id === '') {
                await new Promise<void>((resolve) => clock.after(1000, resolve))
                if (call === breaks) throw new Error('the list broke')
                return
              }
              if (id.startsWith('pod ')) return
              expect(asked, 'objects asked for at this moment').not.toContain(id)
              asked.add(id)
              try {
                await disturb(effects.get(id)!, call, clock, hung)
              } finally {
                asked.delete(id)
              }
            }
            for (const uid of reinspect) relister.requestReinspect(uid)
            for (const uid of demanded[0]) relister.requestRelist(uid)
            const relisted = relister.relist().catch((error: Error) => expect(error.message).toBe('the list broke'))
            await clock.advance(500)
            if (during !== null) runtime.items = node(during)
            for (const uid of demanded[1]) relister.requestRelist(uid)
            await clock.advance(500)
            await relisted
            for (const uid of demanded[2]) relister.requestRelist(uid)
            await clock.advance(pauseMs)
            letGo()
            events.push(...relister.takeEvents())
          }

          runtime.fault = () => {}
          await clock.advance(allRetriesMs)
          for (let i = 0; i < 3; i++) {
            await relister.relist()
            await clock.advance(allRetriesMs)
          }
          await relister.settled()
          events.push(...relister.takeEvents())
          expect(relister.health()).toMatchObject({ ok: true, verdict: 'healthy', degraded: [] })
          expectTruth(relister.cache, runtime.items)
          expectConsistent(events, runtime.items)
          relister.close()
        },
      ),
      { numRuns },
    )
  })
})

/** Nothing is listed without a state, nor the unlabelled container without its sandbox. */
function node(states: readonly (number | null)[]): ScriptedItem[] {
  return slots.flatMap((slot, i) => (states[i] == null ? [] : [{ ...slot, state: states[i]! }])).filter(hasSandbox)
}

/** The unlabelled container belongs to its sandbox's pod: without that it belongs to nobody. */
function hasSandbox(item: ScriptedItem, _: number, items: readonly ScriptedItem[]): boolean {
  return !item.unlabelled || items.some((one) => one.kind === 'sandbox' && one.podUid === item.podUid)
}

async function disturb(effect: string, call: string, clock: VirtualClock, hung: Promise<void>): Promise<void> {
  if (effect === 'error') throw new CriError(call, GrpcCode.UNKNOWN, 'scripted')
  if (effect === 'gone') throw new CriError(call, GrpcCode.NOT_FOUND, 'scripted')
  if (effect === 'slow') await new Promise<void>((resolve) => clock.after(20_000, resolve))
  if (effect === 'hang') await hung
}

/** created and unknown are one state to a PLEG. */
const plegState = (item: Pick<ScriptedItem, 'kind' | 'state'>) => {
  return item.kind === 'sandbox'
    ? (['running', 'exited'][item.state] ?? 'unknown')
    : (['unknown', 'running', 'exited'][item.state] ?? 'unknown')
}

function expectTruth(cache: ReturnType<typeof createRelister>['cache'], items: readonly ScriptedItem[]): void {
  const listed = [...cache.list()].flatMap(({ status, error }) => {
    expect(error).toBeNull()
    expect(status.inspected).toBe(true)
    return status.listed.map((one) => `${one.id} ${plegState({ kind: one.kind, state: one.criState })}`)
  })
  expect(listed.sort()).toEqual(items.map((item) => `${item.id} ${plegState(item)}`).sort())
}

/** Folds the events of each item: every one must be possible where it comes, and the last state must be the true one. */
function expectConsistent(events: readonly PodLifecycleEvent[], items: readonly ScriptedItem[]): void {
  const states = new Map<string, string>()
  for (const { type, id } of events) {
    if (type === 'PodSync') continue
    const before = states.get(id) ?? 'none'
    if (type === 'ContainerStarted') {
      // From unknown nothing was said, so that running → unknown → running is two starts, as in the kubelet.
      states.set(id, 'running')
    } else if (type === 'ContainerDied') {
      states.set(id, 'exited')
    } else {
      expect(type).toBe('ContainerRemoved')
      expect(before, `${id} was there`).not.toBe('none')
      states.set(id, 'none')
    }
  }
  for (const slot of slots) {
    const item = items.find((one) => one.id === slot.id)
    const folded = states.get(slot.id) ?? 'none'
    const truth = item === undefined ? 'none' : plegState(item)
    // What is unknown now was anything before; it is only not gone.
    if (truth !== 'unknown') expect(`${slot.id} ${folded}`).toBe(`${slot.id} ${truth}`)
  }
}
