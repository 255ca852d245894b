import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventChannel } from '../../../src/engine/channel.js'
import type { PodLifecycleEvent } from '../../../src/model/event.js'

/** The channel as its rule reads, without regard to cost. */
class Model {
  queue: string[] = []
  dirty: string[] = []
  overflowed = 0
  discarded = 0
  private readonly capacity: number
  private readonly discards: boolean

  constructor(capacity: number, discards: boolean) {
    this.capacity = capacity
    this.discards = discards
  }

  push(pod: string, id: string): void {
    if (this.queue.length < this.capacity) this.queue.push(id)
    else if (this.discards) this.discarded++
    else {
      this.overflowed++
      if (!this.dirty.includes(pod)) this.dirty.push(pod)
    }
  }

  take(): string | undefined {
    const taken = this.queue.shift()
    if (this.queue.length < this.capacity && this.dirty.length > 0) this.queue.push(`sync ${this.dirty.shift()}`)
    return taken
  }
}

const label = ({ type, pod, id }: PodLifecycleEvent) => (type === 'PodSync' ? `sync ${pod.uid}` : id)

const step = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e') },
  { weight: 2, arbitrary: fc.constant('take') },
  { weight: 1, arbitrary: fc.constant('drain') },
)

test('a channel behaves as its rule reads', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      fc.array(step, { maxLength: 200 }),
      async (capacity, discards, steps) => {
        const channel = new EventChannel({ capacity, overflow: discards ? 'discard' : 'sync' })
        const events = channel.iterate()
        const model = new Model(capacity, discards)
        let delivered = 0
        for (const [n, one] of steps.entries()) {
          if (one === 'take') {
            if (channel.depth === 0) continue
            delivered++
            expect(label((await events.next()).value!)).toBe(model.take())
          } else if (one === 'drain') {
            const expected: string[] = []
            for (let taken = model.take(); taken !== undefined; taken = model.take()) expected.push(taken)
            delivered += expected.length
            expect(channel.drain().map(label)).toEqual(expected)
          } else {
            const id = `${one}/${n}`
            const pod = { uid: one, namespace: 'default', name: one }
            channel.push({ type: 'ContainerDied', pod, kind: 'container', id, name: 'app', time: n })
            model.push(one, id)
          }
          expect([channel.depth, channel.dirtyPods]).toEqual([model.queue.length, model.dirty.length])
        }
        expect([channel.overflowed, channel.discarded, channel.delivered]).toEqual([
          model.overflowed,
          model.discarded,
          delivered,
        ])
      },
    ),
    { numRuns: 300 },
  )
})
