import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectRuntime } from '../../src/cri/connect.js'
import type { Runtime } from '../../src/cri/runtime.js'
import { PlegdProcess } from '../support/plegd.js'
import { PodDriver } from '../support/podDriver.js'
import { containerd21, noRealRuntime, RealRuntime } from '../support/realRuntime.js'
import { until } from '../support/until.js'

const names = ['one', 'two', 'three']

describe.skipIf(noRealRuntime)('plegd agent on containerd 2.1', () => {
  let runtime: RealRuntime
  let cri: Runtime
  let agent: PlegdProcess
  let url: string
  const get = async (path: string) => {
    const answer = await fetch(`${url}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  beforeAll(async () => {
    runtime = await RealRuntime.start(containerd21)
    cri = await connectRuntime(runtime.endpoint)
    const driver = new PodDriver(cri, runtime.folder)
    for (const name of names) {
      const pod = await driver.runPod(name)
      await driver.runContainer(pod, 'runs', ['sleep', '86400', '0'])
      await driver.runContainer(pod, 'exits', ['exit', '7'])
    }
    const options = ['--http-address', '127.0.0.1:0', '--pleg-relist-threshold', '3s']
    agent = new PlegdProcess('agent', '--runtime-endpoint', runtime.endpoint, ...options)
    url = await until('the agent serves', () => {
      agent.mustRun()
      return /url="?(http:[^"\s]+)/.exec(agent.stderr)?.[1]
    })
  })

  afterAll(async () => {
    await agent?.end()
    await cri?.close()
    await runtime?.stop()
  })

  test('is ready, healthy and alive', async () => {
    await until('it is ready', async () => (await get('/readyz')).status === 200)
    expect(await get('/healthz')).toEqual({ status: 200, text: 'ok' })
    expect(await get('/livez')).toEqual({ status: 200, text: 'ok' })
  })

  test('has the metrics of a kubelet', async () => {
    const metrics = await until('a list shows all three exits', async () => {
      const { text } = await get('/metrics')
      return /^kubelet_running_containers\{container_state="exited"\} 3$/m.test(text) && text
    })
    expect(metrics).toMatch(/^kubelet_running_pods 3$/m)
    expect(metrics).toMatch(/^kubelet_running_containers\{container_state="running"\} 3$/m)
    expect(metrics).toMatch(/^kubelet_pleg_relist_duration_seconds_count [1-9]/m)
    expect(metrics).toMatch(/^kubelet_pleg_last_seen_seconds [1-9]/m)
  })

  test('serves the pods', async () => {
    const pods = (JSON.parse((await get('/pods')).text) as { items: { metadata: { name: string } }[] }).items
    expect(pods.map(({ metadata }) => metadata.name).toSorted()).toEqual(names.toSorted())
  })

  test("says in the kubelet's words that a hung runtime is not healthy, and recovers", async () => {
    runtime.freeze('containerd')
    try {
      const { text } = await until('it is unhealthy', async () => {
        const answer = await get('/healthz')
        return answer.status === 500 && answer
      })
      expect(text).toMatch(/pleg was last seen active \d+(\.\d+)?s ago; threshold is 3s/)
      expect((await get('/livez')).status, 'a restart would not help').toBe(200)
    } finally {
      runtime.thaw('containerd')
    }
    await until('it is healthy again', async () => (await get('/healthz')).status === 200)
  })

  test('ends on SIGTERM', async () => {
    agent.mustRun()
    expect(await agent.end(), agent.stderr).toBe(0)
  })
})
