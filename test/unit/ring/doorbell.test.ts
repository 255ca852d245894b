import { expect, test } from 'vitest'
import { createDoorbell, Doorbell } from '../../../src/ring/doorbell.js'

/** Long enough that a wait that should be rung shows as a test that hangs. */
const never = 2 ** 30

function pair() {
  const memory = createDoorbell()
  return { consumer: new Doorbell(memory), producer: new Doorbell(memory) }
}

test('a wait ends at the next ring', async () => {
  const { consumer, producer } = pair()
  const waiting = consumer.wait(never)
  producer.ring()
  expect(await waiting).toBe('rung')
})

test('a ring between two waits is heard by the second', async () => {
  const { consumer, producer } = pair()
  producer.ring()
  expect(await consumer.wait(never)).toBe('rung')
  producer.ring()
  expect(await consumer.wait(never)).toBe('rung')
})

test('rings coalesce', async () => {
  const { consumer, producer } = pair()
  for (let i = 0; i < 1000; i++) producer.ring()
  expect(await consumer.wait(never)).toBe('rung')
  expect(await consumer.wait(0)).toBe('timeout')
})

test('a wait without a ring ends by its timeout, and the ring after it is not lost', async () => {
  const { consumer, producer } = pair()
  expect(await consumer.wait(1)).toBe('timeout')
  producer.ring()
  expect(await consumer.wait(never)).toBe('rung')
})

test('all who wait at one bell are woken', async () => {
  const { consumer, producer } = pair()
  const waiting = [consumer.wait(never), consumer.wait(never)]
  producer.ring()
  expect(await Promise.all(waiting)).toEqual(['rung', 'rung'])
})

test('the count goes past 2^31', async () => {
  const { consumer, producer } = pair()
  new Int32Array(consumer.buffer)[0] = 2 ** 31 - 1
  await consumer.wait(0)
  const waiting = consumer.wait(never)
  producer.ring()
  expect(await waiting).toBe('rung')
})

test('close ends a wait', async () => {
  const { consumer } = pair()
  const waiting = consumer.wait(never)
  consumer.close()
  expect(await waiting).toBe('rung')
})

test('waits that end by their timeouts leave nothing behind, and the next ring is heard by those who wait then', async () => {
  const { consumer, producer } = pair()
  const waitAsync = Atomics.waitAsync
  let listeners = 0
  Atomics.waitAsync = ((...args: Parameters<typeof waitAsync>) => {
    listeners++
    return waitAsync(...args)
  }) as typeof waitAsync
  try {
    for (let i = 0; i < 20; i++) expect(await consumer.wait(0)).toBe('timeout')
    const waiting = consumer.wait(never)
    producer.ring()
    expect(await waiting).toBe('rung')
    expect(listeners).toBe(1)
  } finally {
    Atomics.waitAsync = waitAsync
  }
})
