import { describe, expect, it } from 'vitest'
import type { PlainMessage, UnaryCall } from '../../../src/cri/runtime.js'
import { planOf } from '../../../src/sim/processes.js'
import { SimulatedRuntime } from '../../../src/sim/simulatedRuntime.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { listed, makePod } from '../../support/simulation.js'

async function withPod(command: readonly string[] = []) {
  const clock = new VirtualClock()
  const sim = new SimulatedRuntime({ clock })
  const pulled = sim.call('PullImage', { image: { image: 'localhost/rt/work:1' } })
  await clock.advance(100)
  await pulled
  return { clock, sim, ...(await makePod(sim, 'one', command)) }
}

describe('containers made over CRI', () => {
  it.each([
    [['/bin/work', 'exit', '7'], 0, 7, 'Error'],
    [['/bin/work', 'sleep', '3', '4'], 3000, 4, 'Error'],
    [['sleep', '5'], 5000, 0, 'Completed'],
    [['sh', '-c', 'sleep 1; echo done && exit 9'], 1000, 9, 'Error'],
  ])('%j ends after %i ms with its code', async (command, ms, exitCode, reason) => {
    const { clock, sim, containerId } = await withPod(command)
    await sim.call('StartContainer', { container_id: containerId })
    if (ms > 0) {
      await clock.advance(ms - 1)
      expect((await sim.containerStatus(containerId)).state).toBe('running')
    }
    await clock.advance(1)
    expect(await sim.containerStatus(containerId)).toMatchObject({ state: 'exited', exitCode, reason })
  })

  it.each([[[]], [['/bin/work', 'forever']], [['/usr/bin/unheard-of']]])(
    '%j runs until it is stopped',
    async (command) => {
      const { clock, sim, containerId } = await withPod(command)
      await sim.call('StartContainer', { container_id: containerId })
      await clock.advance(86_400_000)
      expect((await sim.containerStatus(containerId)).state).toBe('running')
      await sim.call('StopContainer', { container_id: containerId, timeout: '0' })
      expect(await sim.containerStatus(containerId)).toMatchObject({ state: 'exited', exitCode: 137 })
    },
  )

  it('cannot be started twice, nor made twice under one name', async () => {
    const { sim, containerId, sandboxId, config } = await withPod()
    await sim.call('StartContainer', { container_id: containerId })
    await expect(sim.call('StartContainer', { container_id: containerId })).rejects.toMatchObject({
      details: `failed to set starting state for container "${containerId}": container is in CONTAINER_RUNNING state`,
    })
    const again = { metadata: { name: 'main', attempt: 0 }, image: { image: 'localhost/rt/work:1' } }
    await expect(sim.call('CreateContainer', { pod_sandbox_id: sandboxId, config: again })).rejects.toMatchObject({
      details: expect.stringContaining(`is reserved for "${containerId}"`),
    })
    await expect(sim.call('RunPodSandbox', { config })).rejects.toMatchObject({
      details: expect.stringContaining(`is reserved for "${sandboxId}"`),
    })
    const next = { ...again, metadata: { name: 'main', attempt: 1 } }
    await sim.call('CreateContainer', { pod_sandbox_id: sandboxId, config: next })
  })

  it('answer exec as far as the simulator knows programs', async () => {
    const { clock, sim, containerId } = await withPod()
    const exec = (cmd: readonly string[], timeout = 0) =>
      sim.call('ExecSync', { container_id: containerId, cmd, timeout: `${timeout}` })
    await expect(exec(['echo', 'hi'])).rejects.toMatchObject({ details: 'container is in CONTAINER_CREATED state' })
    await sim.call('StartContainer', { container_id: containerId })
    const { stdout, exit_code } = await exec(['sh', '-c', 'echo -n "a" || echo b; false'])
    expect([Buffer.from(stdout as Uint8Array).toString(), exit_code]).toEqual(['a', 1])
    await expect(exec(['/nope'])).rejects.toMatchObject({ code: 'CRI_UNKNOWN' })
    const slow = expect(exec(['sleep', '60'], 2)).rejects.toMatchObject({ code: 'CRI_DEADLINE_EXCEEDED' })
    await clock.advance(2000)
    await slow
  })

  it('end with their sandbox, whose address goes', async () => {
    const { sim, sandboxId, containerId } = await withPod()
    await sim.call('StartContainer', { container_id: containerId })
    expect((await sim.podSandboxStatus(sandboxId)).ips).toHaveLength(1)
    await sim.call('StopPodSandbox', { pod_sandbox_id: sandboxId })
    expect(await sim.podSandboxStatus(sandboxId)).toMatchObject({ state: 'notready', ips: [] })
    expect((await sim.containerStatus(containerId)).state).toBe('exited')
    await sim.call('RemovePodSandbox', { pod_sandbox_id: sandboxId })
    expect(await listed(sim)).toEqual({ sandboxes: [], containers: [] })
  })
})

describe('a command line', () => {
  it.each([
    ['sleep 2147483', 2_147_483, 0, ''],
    // Beyond what a timer can be set to.
    ['sleep 2147484', Number.POSITIVE_INFINITY, 0, ''],
    ['sleep infinity', Number.POSITIVE_INFINITY, 0, ''],
    ['work exit 256', 0, 0, ''],
    ['sh -c', Number.POSITIVE_INFINITY, 0, ''],
  ])('%s', (line, seconds, exitCode, stdout) => {
    expect(planOf(line.split(' '))).toEqual({ seconds, exitCode, stdout, known: true })
  })

  it.each([
    ['sleep 1; sleep 2; echo "a"', 3, 0, 'a\n'],
    ['false && echo no; exit 5; echo never', 0, 5, ''],
    ['false || echo yes && echo too', 0, 0, 'yes\ntoo\n'],
    ['pgrep sleep || true', 0, 0, ''],
    ['sleep forever; echo never', Number.POSITIVE_INFINITY, 0, ''],
  ])('sh -c %j', (script, seconds, exitCode, stdout) => {
    expect(planOf(['/bin/sh', '-c', script])).toEqual({ seconds, exitCode, stdout, known: true })
  })
})

describe('what is gone', () => {
  it.each<[UnaryCall, PlainMessage]>([
    ['ContainerStatus', { container_id: 'nope' }],
    ['PodSandboxStatus', { pod_sandbox_id: 'nope' }],
    ['StartContainer', { container_id: 'nope' }],
    ['CreateContainer', { pod_sandbox_id: 'nope' }],
    ['ContainerStats', { container_id: 'nope' }],
    ['PodSandboxStats', { pod_sandbox_id: 'nope' }],
    ['ExecSync', { container_id: 'nope', cmd: ['true'] }],
    ['UpdateContainerResources', { container_id: 'nope' }],
    ['ReopenContainerLog', { container_id: 'nope' }],
  ])('is NOT_FOUND to %s', async (call, request) => {
    await expect(new SimulatedRuntime().call(call, request)).rejects.toMatchObject({ code: 'CRI_NOT_FOUND' })
  })

  it.each<[UnaryCall, PlainMessage]>([
    ['StopContainer', { container_id: 'nope' }],
    ['RemoveContainer', { container_id: 'nope' }],
    ['StopPodSandbox', { pod_sandbox_id: 'nope' }],
    ['RemovePodSandbox', { pod_sandbox_id: 'nope' }],
    ['RemoveImage', { image: { image: 'nope' } }],
  ])('is no error to %s', async (call, request) => {
    expect(await new SimulatedRuntime().call(call, request)).toEqual({})
  })

  it('is UNIMPLEMENTED where the simulator has no answer', async () => {
    const call = new SimulatedRuntime().call('Attach', { container_id: 'x' })
    await expect(call).rejects.toMatchObject({ code: 'CRI_UNIMPLEMENTED' })
  })
})

describe('list filters', () => {
  it('keep what matches all conditions, as a plain filter of the whole list would', async () => {
    const clock = new VirtualClock()
    const sim = new SimulatedRuntime({ clock, pods: 40, deadPerContainer: 1, seed: 3 })
    for (let i = 0; i < 60; i++) sim.step()
    const { sandboxes, containers } = await listed(sim)
    const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id).sort()
    const pick = containers[7]!
    const cases: [PlainMessage, (c: (typeof containers)[number]) => boolean][] = [
      [{ state: { state: 'CONTAINER_EXITED' } }, (c) => c.state === 'CONTAINER_EXITED'],
      [{ id: pick.id }, (c) => c.id === pick.id],
      [{ id: pick.id.slice(0, 13) }, (c) => c.id === pick.id],
      [{ pod_sandbox_id: pick.pod_sandbox_id }, (c) => c.pod_sandbox_id === pick.pod_sandbox_id],
      [
        { pod_sandbox_id: pick.pod_sandbox_id, state: { state: 'CONTAINER_RUNNING' } },
        (c) => c.pod_sandbox_id === pick.pod_sandbox_id && c.state === 'CONTAINER_RUNNING',
      ],
      [
        { label_selector: { 'io.kubernetes.container.name': pick.metadata.name } },
        (c) => c.labels['io.kubernetes.container.name'] === pick.metadata.name,
      ],
      [{ label_selector: { nobody: 'has this' } }, () => false],
    ]
    for (const [filter, matches] of cases) {
      const answer = await sim.call('ListContainers', { filter })
      expect(ids(answer['containers'] as typeof containers), JSON.stringify(filter)).toEqual(
        ids(containers.filter(matches)),
      )
    }
    const ready = await sim.call('ListPodSandbox', { filter: { state: { state: 'SANDBOX_READY' } } })
    expect(ids(ready['items'] as typeof sandboxes)).toEqual(ids(sandboxes.filter((s) => s.state === 'SANDBOX_READY')))
    const seen: string[] = []
    const report = await sim.listContainers(
      { item: (buf, start, end) => seen.push(buf.toString('latin1', start + 2, Math.min(end, start + 66))) },
      { filter: { state: 2 } },
    )
    expect(seen.sort()).toEqual(ids(containers.filter((c) => c.state === 'CONTAINER_EXITED')))
    expect(report.items).toBe(seen.length)
  })
})

describe('images', () => {
  it('exist once they are pulled, under all the names that mean them', async () => {
    const clock = new VirtualClock()
    const sim = new SimulatedRuntime({ clock })
    const status = async (image: string) => (await sim.call('ImageStatus', { image: { image } }))['image']
    expect(await status('busybox')).toBeNull()
    const pull = sim.call('PullImage', { image: { image: 'busybox:1.36' } })
    await clock.advance(100)
    const { image_ref } = await pull
    expect(await status('docker.io/library/busybox:1.36')).toMatchObject({ id: image_ref })
    expect(await status(image_ref as string)).toMatchObject({ repo_tags: ['docker.io/library/busybox:1.36'] })
    expect(await status('busybox')).toBeNull()
    await sim.call('RemoveImage', { image: { image: image_ref } })
    expect(await status('busybox:1.36')).toBeNull()
  })
})

describe('stats', () => {
  it('grow with the time that a process runs, and are there for running containers alone', async () => {
    const { clock, sim, sandboxId, containerId } = await withPod()
    const cpu = async () => {
      const { stats } = await sim.call('ContainerStats', { container_id: containerId })
      const usage = (stats as { cpu: { usage_core_nano_seconds: { value: string } } | null }).cpu
      return usage === null ? null : Number(usage.usage_core_nano_seconds.value)
    }
    expect(await cpu()).toBeNull()
    await sim.call('StartContainer', { container_id: containerId })
    await clock.advance(10_000)
    const at10 = await cpu()
    await clock.advance(10_000)
    const at20 = await cpu()
    expect(at20! - at10!).toBeCloseTo(0.2e9, -7)
    const { stats } = await sim.call('PodSandboxStats', { pod_sandbox_id: sandboxId })
    expect(stats).toMatchObject({ linux: { process: { process_count: { value: '2' } }, containers: [{}] } })
  })
})
