import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SimulatedServer, serveSimulatedRuntime } from '../../src/sim/server/serve.js'
import { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'
import { noTools, toolsFolder } from '../support/tools.js'
import { until } from '../support/until.js'

const run = promisify(execFile)
const image = 'localhost/rt/work:1'

interface Item {
  readonly id: string
  readonly state: string
}

describe.skipIf(noTools)('the simulated runtime, seen through crictl', () => {
  const sim = new SimulatedRuntime({ pods: 30, containersPerPod: 2, deadPerContainer: 1, seed: 11 })
  let directory: string
  let server: SimulatedServer
  let program: string
  let options: string[]

  /** Runs crictl; its stdout. */
  const crictl = async (...args: string[]) =>
    (await run(program, [...options, ...args], { maxBuffer: 64 << 20 })).stdout
  const json = async (verb: string, ...args: string[]) =>
    JSON.parse(await crictl(verb, '-o', 'json', ...args)) as Record<string, unknown>
  const file = (name: string, content: object) => {
    const path = join(directory, name)
    writeFileSync(path, JSON.stringify(content))
    return path
  }
  const inspected = async (id: string) => (await json('inspect', id))['status'] as Record<string, unknown>

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plegd-crictl-'))
    server = await serveSimulatedRuntime(sim, join(directory, 'cri.sock'))
    program = join(await toolsFolder('crictl'), 'crictl')
    const { endpoint } = server
    options = ['--config', '/dev/null', '--runtime-endpoint', endpoint, '--image-endpoint', endpoint]
  })

  afterAll(async () => {
    await server.stop()
    await sim.close()
    rmSync(directory, { recursive: true })
  })

  it('pods, ps, ps -a: all that there is, and nothing else', async () => {
    expect(((await json('pods'))['items'] as Item[]).map(({ state }) => state)).toEqual(Array(30).fill('SANDBOX_READY'))
    const running = (await json('ps'))['containers'] as Item[]
    expect(running.map(({ state }) => state)).toEqual(Array(60).fill('CONTAINER_RUNNING'))
    const all = (await json('ps', '-a'))['containers'] as Item[]
    expect(all.filter(({ state }) => state === 'CONTAINER_EXITED')).toHaveLength(60)
    expect(all).toHaveLength(120)
  })

  it('ps by state, pod, name and label', async () => {
    const [pod] = (await json('pods', '--last', '1'))['items'] as Item[]
    const ids = async (...args: string[]) => (await crictl('ps', '-q', '--no-trunc', ...args)).trim().split('\n')
    expect(await ids('--pod', pod!.id)).toHaveLength(2)
    expect(await ids('--pod', pod!.id, '--state', 'exited')).toHaveLength(2)
    expect(
      (await ids('-a', '--label', `io.kubernetes.pod.uid=${(pod as { metadata?: { uid: string } }).metadata!.uid}`))
        .length,
    ).toBe(4)
    expect(await ids('--id', (await ids('--pod', pod!.id))[0]!.slice(0, 13))).toHaveLength(1)
  })

  it('inspect and inspectp: what the runtime knows of one of them', async () => {
    const [first] = (await json('ps', '-a', '--state', 'exited'))['containers'] as Item[]
    const known = await sim.containerStatus(first!.id)
    expect(await inspected(first!.id)).toMatchObject({
      id: first!.id,
      state: 'CONTAINER_EXITED',
      reason: known.reason,
      logPath: known.logPath,
      labels: known.labels,
      resources: { linux: expect.objectContaining({ cpuPeriod: '100000' }) },
    })
    const [pod] = (await json('pods'))['items'] as Item[]
    const { status } = await json('inspectp', pod!.id)
    expect(status).toMatchObject({ id: pod!.id, network: { ip: (await sim.podSandboxStatus(pod!.id)).ips[0] } })
  })

  it('stats and statsp: of what runs', async () => {
    const { stats } = (await json('stats')) as { stats: unknown[] }
    const memory = { workingSetBytes: expect.objectContaining({ value: `${24 * 1024 * 1024}` }) }
    const running = stats.filter((of) => (of as { memory?: object }).memory)
    expect(running).toHaveLength(60)
    expect(running[0]).toMatchObject({ memory })
    expect(((await json('statsp')) as { stats: unknown[] }).stats).toHaveLength(30)
  })

  it('pull, images, rmi', async () => {
    await crictl('pull', 'example.com/one:2')
    const tags = async () => ((await json('images'))['images'] as { repoTags: string[] }[]).flatMap((i) => i.repoTags)
    expect(await tags()).toContain('example.com/one:2')
    await crictl('rmi', 'example.com/one:2')
    expect(await tags()).not.toContain('example.com/one:2')
  })

  it('runp, create, start, exec, stop, rm, stopp, rmp: a life, with its events', async () => {
    const events = spawn(program, [...options, 'events', '-o', 'json'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const seen: string[] = []
    createInterface({ input: events.stdout }).on('line', (line) => {
      const type = /"containerEventType": *"CONTAINER_(\w+)_EVENT"/.exec(line)?.[1]
      if (type !== undefined) seen.push(type)
    })
    await until('crictl listens', () => sim.events.subscriberCount === 1)

    const pod = file('pod.json', {
      metadata: { name: 'made', uid: 'made-uid', namespace: 'default', attempt: 0 },
      log_directory: '/var/log/pods/made',
    })
    const config = (name: string, command: string[]) =>
      file(`${name}.json`, { metadata: { name, attempt: 0 }, image: { image }, command, log_path: `${name}.log` })
    await crictl('pull', image)
    const podId = (await crictl('runp', pod)).trim()
    const stays = (await crictl('create', podId, config('stays', ['/bin/work', 'forever']), pod)).trim()
    expect((await inspected(stays))['state']).toBe('CONTAINER_CREATED')
    await crictl('start', stays)
    const exits = (await crictl('create', podId, config('exits', ['/bin/work', 'exit', '7']), pod)).trim()
    await crictl('start', exits)
    await until('an exit', async () => (await inspected(exits))['state'] === 'CONTAINER_EXITED')
    expect(await inspected(exits)).toMatchObject({ exitCode: 7, reason: 'Error' })

    expect((await crictl('exec', '-s', stays, 'echo', 'hello')).trim()).toBe('hello')
    await crictl('stop', stays)
    expect(await inspected(stays)).toMatchObject({ state: 'CONTAINER_EXITED' })
    await crictl('rm', stays)
    await expect(crictl('inspect', stays)).rejects.toThrow('NotFound')
    await crictl('stopp', podId)
    expect((await json('inspectp', podId))['status']).toMatchObject({ state: 'SANDBOX_NOTREADY', network: { ip: '' } })
    await crictl('rmp', podId)
    expect(((await json('pods'))['items'] as Item[]).some(({ id }) => id === podId)).toBe(false)

    await until('the last event', () => seen.filter((type) => type === 'DELETED').length === 3)
    const pair = ['CREATED', 'STARTED']
    expect(seen).toEqual([...pair, ...pair, ...pair, 'STOPPED', 'STOPPED', 'DELETED', 'STOPPED', 'DELETED', 'DELETED'])
    events.kill()
    await once(events, 'exit')
  })
})
