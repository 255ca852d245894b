import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedSim, startEmbeddedSim } from '../../../src/sim/embedded.js'
import { startPlegd } from '../../support/plegdProcess.js'

let sim: EmbeddedSim
beforeAll(async () => {
  sim = await startEmbeddedSim({ pods: 50, containersPerPod: 2, churn: 5, seed: 7 })
})
afterAll(() => sim.stop())

describe('plegd events', () => {
  test('json: one object a line; what runs already comes first', async () => {
    const { code, stdout, stderr } = await startPlegd(['events', '-r', sim.endpoint, '-o', 'json', '--for', '3s']).ended
    expect([code, stderr]).toEqual([0, ''])
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(events.length).toBeGreaterThanOrEqual(150)
    for (const event of events) {
      expect(event).toMatchObject({
        pod: { uid: expect.any(String), namespace: expect.any(String), name: expect.any(String) },
      })
      expect(event['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
  })

  test('a reader that goes away ends it without a word', async () => {
    const events = startPlegd(['events', '-r', sim.endpoint, '-o', 'json'])
    await expect.poll(() => events.output.stdout, { timeout: 30_000 }).toContain('\n')
    events.child.stdout?.destroy()
    expect(await events.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('one relist', () => {
  test('plegd pods', async () => {
    const table = await startPlegd(['pods', '-r', sim.endpoint]).ended
    expect([table.code, table.stderr]).toEqual([0, ''])
    expect(table.stdout).toMatch(/^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE\n/)
    const json = await startPlegd(['pods', '-o', 'json'], { CONTAINER_RUNTIME_ENDPOINT: sim.endpoint }).ended
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'PodList', apiVersion: 'v1' })
  })

  test('plegd relist', async () => {
    const { code, stdout } = await startPlegd(['relist', '-r', sim.endpoint, '-o', 'json']).ended
    expect(code).toBe(0)
    const { first, steady, calls } = JSON.parse(stdout) as Record<string, never>
    expect(first).toMatchObject({ bytes: expect.any(Number), sandboxes: expect.any(Number) })
    expect(steady).toMatchObject({ generation: 2 })
    expect(calls).toContainEqual(expect.objectContaining({ call: 'ListPodSandbox', count: 2, errors: 0 }))
  })
})
