import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedSim, startEmbeddedSim } from '../../../src/sim/embedded.js'
import { type PlegdProcess, startPlegd } from '../../support/plegdProcess.js'

let sim: EmbeddedSim
beforeAll(async () => {
  sim = await startEmbeddedSim({ pods: 50, containersPerPod: 2, churn: 5, seed: 7 })
})
afterAll(() => sim.stop())

/** Where its HTTP server listens, from its log. */
async function urlOf(agent: PlegdProcess): Promise<string> {
  await expect.poll(() => agent.output.stderr, { timeout: 30_000 }).toContain('"Serving health')
  return /url="([^"]+)"/.exec(agent.output.stderr)?.[1] ?? ''
}

const textOf = async (url: string) => (await fetch(url)).text()

describe('plegd agent', () => {
  test('relists a runtime, serves it, logs events as the kubelet does, and ends cleanly', async () => {
    const agent = startPlegd([
      'agent',
      '-r',
      sim.endpoint,
      '--http-address',
      '127.0.0.1:0',
      '--hostname-override',
      'node-1',
    ])
    const url = await urlOf(agent)
    await expect.poll(() => textOf(`${url}/readyz`), { timeout: 30_000 }).toBe('ok')
    await expect.poll(() => textOf(`${url}/metrics`), { timeout: 30_000 }).toMatch(/^kubelet_running_pods [45]\d$/m)
    const metrics = await textOf(`${url}/metrics`)
    expect(metrics).toMatch(/^kubelet_pleg_relist_duration_seconds_count [1-9]/m)
    expect(metrics).toContain('kubelet_node_name{node="node-1"} 1')
    const pods = JSON.parse(await textOf(`${url}/pods`)) as { items: { status: { phase: string } }[] }
    expect(pods.items.length).toBeGreaterThanOrEqual(45)
    expect(await textOf(`${url}/statusz`)).toContain(`Runtime:      ${sim.endpoint}`)
    await expect
      .poll(() => agent.output.stderr)
      .toMatch(/"SyncLoop \(PLEG\): event for pod" pod="[^"]+" event=\{"ID":"/)

    agent.child.kill('SIGTERM')
    expect(await agent.ended).toMatchObject({ code: 0, stdout: '' })
  })

  test('without an endpoint it shows its own simulated node, and removes its socket', async () => {
    const agent = startPlegd(['agent', '--http-address', '127.0.0.1:0', '--logging-format', 'json', '--v', '0'])
    await expect.poll(() => agent.output.stderr, { timeout: 30_000 }).toContain('Serving health')
    const { url } = JSON.parse(agent.output.stderr.split('\n').find((line) => line.includes('Serving')) ?? '{}') as {
      url: string
    }
    await expect.poll(() => textOf(`${url}/statusz`), { timeout: 30_000 }).toContain('embedded simulated node')
    agent.child.kill('SIGINT')
    expect((await agent.ended).code).toBe(0)
  })

  test('waits for a runtime that is not there', async () => {
    const agent = startPlegd(['agent', '-r', 'unix:///tmp/plegd-no-such.sock', '--http-address', '127.0.0.1:0'])
    const url = await urlOf(agent)
    await expect.poll(() => agent.output.stderr, { timeout: 30_000 }).toContain('"Skipping pod synchronization"')
    expect(await textOf(`${url}/readyz`)).toContain('[-]pleg failed: pleg has yet to be successful\n')
    expect(await textOf(`${url}/livez`)).toBe('ok')
    agent.child.kill('SIGTERM')
    expect((await agent.ended).code).toBe(0)
  })

  test('an address that others can reach is refused', async () => {
    const { code, stderr } = await startPlegd(['agent', '--http-address', '0.0.0.0:0']).ended
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: will not serve HTTP on 0\.0\.0\.0[^\n]*\n$/)
  })
})

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

  test.each([
    ['events', '/etc/passwd', /not a socket/],
    ['pods', 'unix:///tmp/plegd-no-such.sock', /no such socket/],
    ['relist', 'unix:///tmp/plegd-no-such.sock', /no such socket/],
  ])('plegd %s of what is no runtime fails with 1', async (command, endpoint, message) => {
    const { code, stdout, stderr } = await startPlegd([command, '-r', endpoint]).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^error: [^\n]+\n$/)
    expect(stderr).toMatch(message)
  })
})
