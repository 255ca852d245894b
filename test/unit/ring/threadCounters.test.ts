import { expect, test } from 'vitest'
import { SharedHistogram } from '../../../src/ring/histogram.js'
import { createThreadCounters, ThreadCounters } from '../../../src/ring/threadCounters.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'

function counters() {
  const clock = new VirtualClock()
  const memory = createThreadCounters()
  return { clock, writer: new ThreadCounters(memory, clock), reader: new ThreadCounters(memory, clock) }
}

test('a bucket holds its upper bound, and the last one all beyond', () => {
  const histogram = new SharedHistogram([0.1, 1])
  for (const seconds of [0, 0.1, 0.100001, 1, 1.5, 180]) histogram.observe(seconds)
  const { sum, ...rest } = histogram.snapshot()
  expect(rest).toEqual({ bounds: [0.1, 1], counts: [2, 2, 2], count: 6 })
  expect(sum).toBeCloseTo(182.700001)
  const other = new SharedHistogram([0.1, 1])
  other.observe(2)
  histogram.add(other)
  expect(histogram.snapshot()).toMatchObject({ counts: [2, 2, 3], count: 7 })
})

test('a call is seen while it runs, and is counted when it ends', async () => {
  const { clock, writer, reader } = counters()
  await clock.advance(100)
  const hung = writer.begin('ContainerStatus', 'c-1', 'uid-1')
  await clock.advance(20)
  const list = writer.begin('ListContainers', '', '')
  expect(reader.inflight()).toEqual([
    { call: 'ContainerStatus', id: 'c-1', podUid: 'uid-1', startedAt: 100 },
    { call: 'ListContainers', id: '', podUid: '', startedAt: 120 },
  ])
  expect(reader.duration('ContainerStatus').snapshot().count).toBe(0)
  await clock.advance(30)
  writer.end(hung, false)
  writer.end(hung, false)
  writer.end(list, true)
  expect(reader.inflight()).toEqual([])
  expect([reader.errors('ContainerStatus'), reader.errors('ListContainers')]).toEqual([1, 0])
  expect(reader.duration('ContainerStatus').snapshot()).toMatchObject({ count: 1, sum: 0.05 })
  expect(reader.duration('ListContainers').snapshot()).toMatchObject({ count: 1, sum: 0.03 })
})

test('calls beyond the slots are still measured, and slots are used again', () => {
  const { writer, reader } = counters()
  const tokens = Array.from({ length: 300 }, (_, n) => writer.begin('PodSandboxStatus', `s-${n}`, 'uid'))
  expect(reader.inflight()).toHaveLength(256)
  for (const token of tokens) writer.end(token, true)
  expect([reader.inflight(), reader.duration('PodSandboxStatus').snapshot().count]).toEqual([[], 300])
  for (let n = 0; n < 256; n++) writer.begin('PodSandboxStatus', `t-${n}`, 'uid')
  expect(reader.inflight()).toHaveLength(256)
})

test('ids longer than their place are cut', () => {
  const { writer, reader } = counters()
  writer.begin('ContainerStatus', 'i'.repeat(500), 'u'.repeat(500))
  expect(reader.inflight()[0]).toMatchObject({ id: 'i'.repeat(128), podUid: 'u'.repeat(128) })
})

test('what a thread that is gone has counted is added; its fields and its calls are not', () => {
  const gone = counters()
  const { writer, reader } = counters()
  gone.writer.set('lastSeenAt', 77)
  gone.writer.end(gone.writer.begin('ListContainers', '', ''), false)
  gone.writer.begin('ContainerStatus', 'c', 'uid')
  gone.writer.phase('diff', 3)
  writer.end(writer.begin('ListContainers', '', ''), false)
  writer.add(gone.reader)
  expect([reader.errors('ListContainers'), reader.duration('ListContainers').snapshot().count]).toEqual([2, 2])
  expect(reader.phaseDuration('diff').snapshot()).toMatchObject({ count: 1, sum: 0.003 })
  expect([reader.get('lastSeenAt'), reader.inflight()]).toEqual([0, []])
})
