import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import type { AgentSnapshot } from '../../../src/agent/snapshot.js'
import { render, summaryFields } from '../../../src/agent/summary.js'
import { engineStats, healthOf, syncStats, threadStats } from '../../support/stats.js'

const snapshot = (over: Partial<AgentSnapshot> = {}): AgentSnapshot => ({
  version: '1.2.3',
  nodeName: 'node-1',
  runtime: 'unix:///x.sock',
  thresholdMs: 180_000,
  wallMs: 0,
  stats: engineStats({
    uptime: 65,
    pods: 2_000,
    runningPods: 1_990,
    runningContainers: { running: 3_980 },
    relists: 64,
    relistFailures: 0,
    events: 700,
    last: {
      generation: 64,
      stamp: 0,
      containerStates: [],
      duplicates: 0,
      unidentified: 0,
      listSandboxesMs: 2.1,
      listContainersMs: 3.2,
      relistMs: 4.5,
      sandboxes: 2_000,
      containers: 4_000,
      bytes: 5_400_000,
      sandboxMode: 'streaming',
      containerMode: 'unary',
      largestList: 3_600_000,
      largestMessage: 3_600_000,
      changed: 12,
      bytesCopied: 9_000,
    },
    threads: [threadStats('main')],
  }),
  health: healthOf({ lastSeenMs: 412 }),
  sync: syncStats(),
  problems: [],
  network: '',
  ...over,
})

test('the page', () => {
  expect(render(snapshot(), undefined, ['I1201 a line'], 100, 24)).toBe(
    [
      'plegd 1.2.3  node-1  unix:///x.sock  up 1m5s',
      'Verdict     healthy',
      'SyncLoop    running',
      'Pods        2000 known, 1990 running; 3980 containers running',
      'Relists     64, 0 failed; last list 400ms ago',
      'Last relist 4.5 ms for 5.4 MB: sandboxes 2.1 ms, containers 3.2 ms; 12 changed',
      'Events      700 (10.8/s); 0 of 1000 waiting',
      'Main thread p99 delay 2.0 ms',
      '',
      'I1201 a line',
    ].join('\n'),
  )
})

test('trouble is named', () => {
  const pod = { uid: 'u', namespace: 'shop', name: 'cart-0' }
  const page = render(
    snapshot({
      health: healthOf({
        verdict: 'stuck',
        reason: 'the list hangs',
        degraded: [{ pod, call: 'ContainerStatus', id: 'c', sinceMs: 90_000, failures: 1, lastError: '' }],
        inflight: [{ call: 'ListContainers', id: '', pod: null, ageMs: 200_000 }],
      }),
      problems: [{ kind: 'pleg', message: 'PLEG is not healthy: x' }],
    }),
    undefined,
    [],
    100,
    24,
  )
  expect(page).toContain('Verdict     stuck: the list hangs\nSyncLoop    skipping: PLEG is not healthy: x\n')
  expect(page).toContain('Degraded    shop/cart-0: ContainerStatus for 1m30s\nWaiting     ListContainers for 3m20s')
})

test('never wider or higher than the terminal, whatever is in it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 })
  fc.assert(
    fc.property(
      text,
      fc.array(text),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 60 }),
      (odd, log, width, height) => {
        const lines = render(
          snapshot({ health: healthOf({ reason: `${odd}\n\u001b[2J` }) }),
          undefined,
          log,
          width,
          height,
        ).split('\n')
        expect(lines.length).toBeLessThanOrEqual(height)
        for (const line of lines) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width)
          expect(line).not.toMatch(/\p{Cc}/u)
        }
      },
    ),
  )
})

test('the rate is between two snapshots', () => {
  const before = snapshot({ stats: engineStats({ uptime: 60, events: 500 }) })
  expect(summaryFields(snapshot(), before)).toMatchObject({
    verdict: 'healthy',
    pods: 2_000,
    events: 700,
    eventRate: '40.0/s',
    relistMs: 4.5,
  })
})
