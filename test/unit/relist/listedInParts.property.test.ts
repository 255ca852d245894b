import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CriError, GrpcCode } from '../../../src/cri/errors.js'
import { ListingRuntime } from '../../../src/cri/listing.js'
import { decodeItem } from '../../../src/cri/wire/item.js'
import type { ItemKind } from '../../../src/model/pod.js'
import type { Inbox, ListCommit } from '../../../src/relist/inbox.js'
import { Lister } from '../../../src/relist/lister.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { LimitedTransport } from '../../support/limitedTransport.js'
import type { ScriptedItem } from '../../support/scriptedRuntime.js'

const pods = ['p0', 'p1', 'p2']
const slots = pods.flatMap((podUid) => [
  { kind: 'sandbox', podUid, id: `sb-${podUid}`, name: podUid },
  { kind: 'container', podUid, sandboxId: `sb-${podUid}`, id: `${podUid}-a`.padEnd(64, 'f'), name: 'a' },
  { kind: 'container', podUid, sandboxId: `sb-${podUid}`, id: `${podUid}-b`, name: 'b' },
]) as Omit<ScriptedItem, 'state'>[]

/** The shard's side of a lister: what a reader of its frames believes the node to be. */
class View implements Inbox {
  readonly states = new Map<string, number>()
  private staged: [id: string, state: number | null][] = []

  frame(kind: ItemKind, buf: Buffer, start: number, end: number): void {
    const { item } = decodeItem(kind, buf, start, end)
    this.staged.push([item.id, item.criState])
  }
  gone(_kind: ItemKind, id: string): void {
    this.staged.push([id, null])
  }
  commit({ full }: ListCommit): void {
    if (full) this.states.clear()
    for (const [id, state] of this.staged) {
      if (state === null) this.states.delete(id)
      else this.states.set(id, state)
    }
    this.staged = []
  }
  abort(): void {
    this.staged = []
  }
  congested(): undefined {}
  close(): void {}
}

function tooLargeInAnyPart(error: unknown): null {
  if (error instanceof CriError && error.grpcCode === GrpcCode.RESOURCE_EXHAUSTED) return null
  throw error
}

const order = { sandbox: [0, 1], container: [0, 1, 3, 2] }

/** One item comes, goes, or changes to any state: forward as runtimes do it, and back, as no runtime should. */
const change = fc.record({
  slot: fc.nat(slots.length - 1),
  state: fc.option(fc.integer({ min: 0, max: 3 }), { freq: 5 }),
})
const relist = fc.record({
  /** What happens before each of the relist's calls. */
  changes: fc.array(fc.array(change, { maxLength: 2 }), { maxLength: 25 }),
  limitBytes: fc.constantFrom(300, 420, 700, 1100, 100_000),
})

describe('a node listed in parts while it changes', () => {
  it('loses nothing that was there all the time, keeps nothing that was gone before, shows no state that was not', async () => {
    const modes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(relist, { minLength: 1, maxLength: 8 }), async (relists) => {
        const clock = new VirtualClock()
        const transport = new LimitedTransport()
        const view = new View()
        const calls = { begin: () => 0, end: () => {}, phase: () => {} }
        const runtime = new ListingRuntime({ transport, clock, deadlineMs: 1000 })
        const lister = new Lister({ runtime, clock, calls, inboxes: [view] })
        const now = new Map<string, number>()
        const show = () => {
          transport.items = slots.flatMap((slot) => (now.has(slot.id) ? [{ ...slot, state: now.get(slot.id)! }] : []))
        }
        for (const { changes, limitBytes } of [...relists, { changes: [], limitBytes: 100_000 }]) {
          transport.limitBytes = limitBytes
          /** States that each item had during this relist; null: it was not there. */
          const had = new Map(slots.map(({ id }) => [id, new Set<number | null>([now.get(id) ?? null])]))
          /** Those that went back a state, or whose sandbox did. */
          const wentBack = new Set<string>()
          const become = (id: string, state: number | null) => {
            if (state === null) now.delete(id)
            else now.set(id, state)
            had.get(id)!.add(state)
          }
          const left = [...changes]
          transport.before = () => {
            for (const { slot, state } of left.shift() ?? []) {
              const { kind, id, podUid } = slots[slot]!
              const sandbox = `sb-${podUid}`
              const pod = slots.filter((one) => one.podUid === podUid).map((one) => one.id)
              const fitting = state === null || kind === 'container' ? state : state % 2
              const back = order[kind].indexOf(fitting ?? 2) < order[kind].indexOf(now.get(id) ?? 0)
              if (back) for (const one of kind === 'sandbox' ? pod : [id]) wentBack.add(one)
              // A container is never without its sandbox.
              if (fitting !== null && !now.has(sandbox)) become(sandbox, 0)
              for (const one of fitting === null && kind === 'sandbox' ? pod : []) become(one, null)
              become(id, fitting)
            }
            show()
          }
          const before = new Map(view.states)
          const report = await lister.relist().catch(tooLargeInAnyPart)
          if (report === null) {
            expect(view.states).toEqual(before)
            continue
          }
          modes.add(`${report.sandboxMode} ${report.containerMode}`)
          for (const { id } of slots) {
            // Nothing tells of an item that nobody knew and that went back past its part of the list.
            if (!view.states.has(id) && !before.has(id) && wentBack.has(id)) continue
            expect([...had.get(id)!], id).toContain(view.states.get(id) ?? null)
          }
          if (changes.length === 0) expect(view.states).toEqual(now)
          expect(report.containerStates.reduce((sum, count) => sum + count, 0)).toBe(report.containers)
        }
      }),
      { numRuns: 500 },
    )
    expect([...modes]).toEqual(expect.arrayContaining(['filtered filtered', 'unary filtered', 'unary unary']))
  })

  it('believes the later of two sightings, and counts the item once', async () => {
    const clock = new VirtualClock()
    const transport = new LimitedTransport()
    const view = new View()
    const calls = { begin: () => 0, end: () => {}, phase: () => {} }
    const lister = new Lister({ runtime: transport, clock, calls, inboxes: [view] })
    const running = { ...slots[1]!, state: 1 }
    const exited = { ...slots[1]!, state: 2 }
    for (const [shown, state, counted] of [
      [[running, exited], 2, [0, 0, 1, 0]],
      [[running, exited], 2, [0, 0, 1, 0]],
      [[exited, running], 1, [0, 1, 0, 0]],
    ] as const) {
      transport.items = shown
      const report = await lister.relist()
      expect(report).toMatchObject({ containers: 1, duplicates: 1, containerStates: counted })
      expect([...view.states.values()]).toEqual([state])
    }
  })
})
