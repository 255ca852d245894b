import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectRuntime } from '../../src/cri/connect.js'
import type { Runtime } from '../../src/cri/runtime.js'
import { plegd } from '../support/plegd.js'
import { type DrivenContainer, PodDriver } from '../support/podDriver.js'
import { containerd21, noRealRuntime, RealRuntime } from '../support/realRuntime.js'
import { until } from '../support/until.js'

const names = ['one', 'two', 'three']

interface PodJson {
  metadata: { name: string; namespace: string; uid: string }
  status: {
    phase: string
    podIP: string
    containerStatuses: { name: string; containerID: string; state: { terminated?: { exitCode: number } } }[]
  }
}

describe.skipIf(noRealRuntime)('commands on containerd 2.1', () => {
  let runtime: RealRuntime
  let cri: Runtime
  const containers: DrivenContainer[] = []
  const podsJson = async (): Promise<PodJson[]> => {
    const { code, stdout, stderr } = await plegd('pods', '--runtime-endpoint', runtime.endpoint, '-o', 'json')
    expect(code, stderr).toBe(0)
    return (JSON.parse(stdout) as { items: PodJson[] }).items
  }

  beforeAll(async () => {
    runtime = await RealRuntime.start(containerd21)
    cri = await connectRuntime(runtime.endpoint)
    const driver = new PodDriver(cri, runtime.folder)
    for (const name of names) {
      const pod = await driver.runPod(name)
      containers.push(await driver.runContainer(pod, 'runs', ['sleep', '86400', '0']))
      containers.push(await driver.runContainer(pod, 'exits', ['exit', '7']))
    }
  })

  afterAll(async () => {
    await cri?.close()
    await runtime?.stop()
  })

  test('pods lists each pod with its containers', async () => {
    const exited = (pod: PodJson) => pod.status.containerStatuses.some(({ state }) => state.terminated !== undefined)
    const pods = await until('all three saw their exit', async () => {
      const items = await podsJson()
      return items.length === names.length && items.every(exited) && items
    })
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(names.toSorted())
    for (const { metadata, status } of pods) {
      expect(metadata).toMatchObject({ namespace: 'default', uid: `uid-${metadata.name}` })
      expect(status.phase).toBe('Running')
      expect(status.podIP, metadata.name).toMatch(/^198\.1[89]\./)
      const made = containers.filter(({ pod }) => pod.name === metadata.name)
      const ids = Object.fromEntries(made.map(({ container, id }) => [container, id]))
      const told = status.containerStatuses.map(({ name, containerID, state }) => ({
        name,
        containerID,
        exitCode: state.terminated?.exitCode,
      }))
      expect(told.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
        { name: 'exits', containerID: ids['exits'], exitCode: 7 },
        { name: 'runs', containerID: ids['runs'], exitCode: undefined },
      ])
    }
  })

  test('relist tells what the first took, and that a second finds nothing changed', async () => {
    const { code, stdout, stderr } = await plegd('relist', '--runtime-endpoint', runtime.endpoint, '-o', 'json')
    expect(code, stderr).toBe(0)
    const { first, steady, calls } = JSON.parse(stdout) as {
      first: Record<string, number>
      steady: Record<string, number>
      calls: { call: string; count: number; errors: number }[]
    }
    expect(first).toMatchObject({ sandboxes: 3, containers: 6, changed: 9, events: 9 })
    expect(steady).toMatchObject({ sandboxes: 3, containers: 6, changed: 0, events: 0, bytes: first['bytes'] })
    expect(first['bytes']).toBeGreaterThan(1_000)
    const counts = calls.map(({ count, errors }) => [count, errors])
    expect(counts.toSorted()).toEqual([
      [2, 0],
      [2, 0],
      [3, 0],
      [6, 0],
    ])
  })

  test('a runtime that is not there is one clear line', async () => {
    const missing = `${runtime.folder}/none.sock`
    const { code, stdout, stderr } = await plegd('pods', '--runtime-endpoint', missing)
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).toContain(missing)
  })
})
