import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectRuntime } from '../../src/cri/connect.js'
import type { Runtime } from '../../src/cri/runtime.js'
import { judgedContainers, judgedSandboxes } from '../support/crictl.js'
import { type EventLine, Histories } from '../support/histories.js'
import { PlegdProcess } from '../support/plegd.js'
import { type DrivenContainer, type DrivenPod, killProcess, PodDriver } from '../support/podDriver.js'
import { eachRuntime, noRealRuntime, RealRuntime } from '../support/realRuntime.js'

const podCount = 20
/** Exit code of the test image's `sleep` when it is told to end by TERM. */
const terminated = 143
/** How long a daemon stays dead: several relists fail meanwhile. */
const outageMs = 2_500

describe.skipIf(noRealRuntime).each(eachRuntime)('plegd events on %s', (_name, kind) => {
  let runtime: RealRuntime
  let cri: Runtime
  let driver: PodDriver
  let plegd: PlegdProcess
  let histories: Histories
  /** The one container of each of the first pods, in their order. */
  const apps: DrivenContainer[] = []

  const lines = (): EventLine[] => {
    plegd.mustRun()
    return plegd.lines.map((line) => JSON.parse(line) as EventLine)
  }

  const docker = kind.script === 'cri-dockerd'

  /** cri-dockerd lists a sandbox that is being made as NOTREADY: a relist that meets it tells Died first. */
  const expectSandbox = (pod: DrivenPod, then = ''): void => {
    histories.expect({ pod, id: pod.id }, `Started${then}`, ...(docker ? [`Died Started${then}`] : []))
  }

  /** cri-dockerd lists a container that is being removed as UNKNOWN: from there, the kubelet's table has Died once more. */
  const removed = (...histories: string[]): string[] =>
    histories.flatMap((history) =>
      docker ? [`${history} Removed`, `${history} Died Removed`] : [`${history} Removed`],
    )

  const startPod = async (name: string): Promise<DrivenContainer> => {
    const pod = await driver.runPod(name)
    const app = await driver.runContainer(pod, 'app', ['sleep', '86400', '0'])
    expectSandbox(pod)
    histories.expect(app, 'Started')
    return app
  }

  /** Steps stand on each other: after one that failed, waiting would be in vain. */
  let failedStep: string | undefined
  const settled = async (step: string): Promise<void> => {
    if (failedStep !== undefined) throw new Error(`not tried after: ${failedStep}`)
    failedStep = step
    await histories.settled(step)
    const { seen, wanted } = histories.compare()
    expect(seen, step).toEqual(wanted)
    failedStep = undefined
  }

  beforeAll(async () => {
    runtime = await RealRuntime.start(kind)
    cri = await connectRuntime(runtime.endpoint)
    driver = new PodDriver(cri, runtime.folder)
    plegd = new PlegdProcess('events', '--runtime-endpoint', runtime.endpoint, '-o', 'json')
    histories = new Histories(lines)
  })

  afterAll(async () => {
    await plegd?.end()
    await cri?.close()
    await runtime?.stop()
  })

  test('20 pods start', async () => {
    const names = Array.from({ length: podCount }, (_, index) => `pod-${index}`)
    for (let first = 0; first < podCount; first += 4) {
      apps.push(...(await Promise.all(names.slice(first, first + 4).map(startPod))))
    }
    await settled('every sandbox and container started')
  })

  test('a killed container died with 137', async () => {
    const app = apps[0]!
    killProcess(app)
    histories.expect(app, 'Started Died(137)')
    await settled('the killed container died')
  })

  test('its next attempt started', async () => {
    const { pod } = apps[0]!
    const again = await driver.runContainer(pod, 'app', ['sleep', '86400', '0'], 1)
    histories.expect(again, 'Started')
    await settled('the next attempt started')
  })

  test('a container that exits with 7 died with 7', async () => {
    const { pod } = apps[1]!
    const exits = await driver.runContainer(pod, 'exits', ['sleep', '5', '7'])
    histories.expect(exits, 'Started Died(7)')
    await settled('the exiting container died')
  })

  test('a container that exits within one period died, whether it was seen running or not', async () => {
    const { pod } = apps[2]!
    const short = await driver.runContainer(pod, 'short', ['exit', '3'])
    histories.expect(short, 'Died(3)', 'Started Died(3)')
    await settled('the short container died')
  })

  test('a pod removed step by step died, and was removed', async () => {
    const app = apps[3]!
    const { pod } = app
    await driver.stopContainer(app)
    histories.expect(app, `Started Died(${terminated})`)
    await settled('its container died')
    await driver.stopPod(pod)
    expectSandbox(pod, ' Died')
    await settled('its sandbox died')
    await driver.removeContainer(app)
    await driver.removePod(pod)
    histories.expect(app, ...removed(`Started Died(${terminated})`))
    expectSandbox(pod, ' Died Removed')
    await settled('both were removed')
  })

  test('a pod removed at once died, whether its end was seen or not, and was removed', async () => {
    const app = apps[4]!
    const { pod } = app
    await driver.stopContainer(app)
    await driver.stopPod(pod)
    await driver.removeContainer(app)
    await driver.removePod(pod)
    histories.expect(app, 'Started Died Removed', ...removed(`Started Died(${terminated})`))
    expectSandbox(pod, ' Died Removed')
    await settled('both were removed')
  })

  test.each(kind.daemons)('nothing but what happened across a crash of %s', async (daemon) => {
    const app = apps[5 + kind.daemons.indexOf(daemon)]!
    await runtime.kill(daemon)
    killProcess(app)
    await pause(outageMs)
    await runtime.startAgain()
    // Runtimes differ in the code they give to an exit that they did not see: crictl says which.
    const judged = (await judgedContainers(runtime.endpoint)).find(({ id }) => id === app.id)
    expect(judged?.state).toBe('CONTAINER_EXITED')
    histories.expect(app, `Started Died(${judged?.exitCode})`)
    await startPod(`after-${daemon}`)
    await settled('the exit in the outage, and a pod started after it')
  })

  test('what the events tell is what crictl says', async () => {
    const said = new Map<string, string>()
    for (const { id, state } of await judgedSandboxes(runtime.endpoint)) said.set(id, state)
    for (const { id, state, exitCode } of await judgedContainers(runtime.endpoint)) {
      said.set(id, state === 'CONTAINER_EXITED' ? `${state}(${exitCode})` : state)
    }
    expect(histories.outcome()).toEqual(said)
    for (const { time } of lines()) expect(time).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('the command ends cleanly on SIGTERM', async () => {
    plegd.mustRun()
    expect(await plegd.end(), plegd.stderr).toBe(0)
  })
})
