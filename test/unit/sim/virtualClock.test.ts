import { describe, expect, it } from 'vitest'
import { sleep } from '../../../src/model/clock.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'

describe('virtual time', () => {
  it('runs timers in the order of their time, promises settled between them, and not those that were cancelled', async () => {
    const clock = new VirtualClock(1000)
    const seen: string[] = []
    const note = (text: string) => seen.push(`${text}@${clock.now()}`)
    clock.after(20, () => note('b'))
    clock.after(10, () => note('a'))
    clock.after(20, () => note('c'))
    clock.after(15, () => note('never'))()
    const chain = (async () => {
      for (let i = 0; i < 3; i++) {
        await sleep(clock, 8)
        note(`chain${i}`)
      }
    })()
    await clock.advance(25)
    await chain
    expect(seen).toEqual(['chain0@8', 'a@10', 'chain1@16', 'b@20', 'c@20', 'chain2@24'])
    expect([clock.now(), clock.wallMs()]).toEqual([25, 1025])
  })

  it('steps the wall clock alone', () => {
    const clock = new VirtualClock(1_000_000)
    clock.stepWall(-40_000)
    expect([clock.now(), clock.wallMs()]).toEqual([0, 960_000])
  })
})
