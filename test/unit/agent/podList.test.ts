import { describe, expect, test } from 'vitest'
import { phaseOf, podListText, podObject } from '../../../src/agent/podList.js'
import type { CachedPod } from '../../../src/engine/api.js'
import { cachedPod, containerStatus, podStatus, sandboxStatus } from '../../support/pods.js'

async function listOf(pods: Iterable<CachedPod>): Promise<{ chunks: string[]; items: unknown[] }> {
  const chunks: string[] = []
  for await (const chunk of podListText(pods)) chunks.push(chunk)
  return { chunks, items: (JSON.parse(chunks.join('')) as { items: unknown[] }).items }
}

test('a pod in the shape of v1.Pod', () => {
  const dead = containerStatus({
    id: 'c0',
    state: 'exited',
    exitCode: 7,
    reason: 'Error',
    finishedAt: 1_000_000_002_000_000_000n,
  })
  const pod = cachedPod({ containers: [containerStatus({ attempt: 1 }), dead] })
  expect(JSON.parse(JSON.stringify(podObject(pod)))).toEqual({
    metadata: {
      name: 'web-0',
      namespace: 'default',
      uid: 'uid-1',
      creationTimestamp: '2001-09-09T01:46:40Z',
      labels: { app: 'web' },
    },
    spec: {},
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      startTime: '2001-09-09T01:46:40Z',
      containerStatuses: [
        {
          name: 'web',
          state: { running: { startedAt: '2001-09-09T01:46:41Z' } },
          lastState: {
            terminated: {
              exitCode: 7,
              reason: 'Error',
              startedAt: '2001-09-09T01:46:41Z',
              finishedAt: '2001-09-09T01:46:42Z',
              containerID: 'c0',
            },
          },
          ready: true,
          restartCount: 1,
          image: 'nginx',
          imageID: 'nginx@sha256:1',
          containerID: 'c1',
        },
      ],
    },
  })
})

test('a pod that can not be inspected says why', () => {
  const error = { code: 'CRI_DEADLINE_EXCEEDED', message: 'too late', call: 'ContainerStatus', id: 'c7' }
  expect(podObject(cachedPod({}, error)).status).toMatchObject({
    reason: 'InspectFailed',
    message: 'ContainerStatus c7: too late',
  })
})

test('times that no runtime can mean are left out', () => {
  for (const startedAt of [0n, -1n, -62_135_596_800_000_000_000n]) {
    const text = JSON.stringify(podObject(cachedPod({ containers: [containerStatus({ startedAt })] })))
    expect(text).toContain('"running":{}')
  }
})

describe('phase', () => {
  const exited = (exitCode: number) => containerStatus({ state: 'exited', exitCode })
  const gone = [sandboxStatus({ state: 'notready' })]
  test.each([
    ['not inspected', podStatus({ inspected: false }), 'Unknown'],
    ['no sandbox', podStatus({ sandboxes: [] }), 'Unknown'],
    ['running', podStatus(), 'Running'],
    ['ready, nothing yet', podStatus({ containers: [] }), 'Pending'],
    ['ready, created', podStatus({ containers: [containerStatus({ state: 'created' })] }), 'Pending'],
    ['ready, all ended', podStatus({ containers: [exited(1)] }), 'Running'],
    ['ended well', podStatus({ sandboxes: gone, containers: [exited(0)] }), 'Succeeded'],
    [
      'ended badly',
      podStatus({ sandboxes: gone, containers: [exited(0), exited(1)].map((c, i) => ({ ...c, name: `c${i}` })) }),
      'Failed',
    ],
    [
      'only the newest of a name counts',
      podStatus({ sandboxes: gone, containers: [exited(0), exited(1)] }),
      'Succeeded',
    ],
  ])('%s', (_what, pod, phase) => expect(phaseOf(pod)).toBe(phase))
})

describe('the list', () => {
  test('of none', async () => expect((await listOf([])).items).toEqual([]))

  test.each([1, 49, 50, 51, 1_000])(
    'of %d comes in slices, and lets other work through between them',
    async (count) => {
      let turns = 0
      let counting = true
      const turn = () => {
        turns++
        if (counting) setImmediate(turn)
      }
      setImmediate(turn)
      const { chunks, items } = await listOf(Array.from({ length: count }, (_, n) => cachedPod({ uid: `uid-${n}` })))
      counting = false
      expect(items).toHaveLength(count)
      expect(chunks).toHaveLength(Math.floor(count / 50) + 1)
      expect(turns).toBeGreaterThanOrEqual(Math.floor(count / 50))
    },
  )
})
