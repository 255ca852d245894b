import { describe, expect, it } from 'vitest'
import { createRelister } from '../../../src/engine/relister.js'
import type { ContainerStatus, ListedItem, SandboxStatus } from '../../../src/model/pod.js'
import { statusIsSettled } from '../../../src/relist/settled.js'
import { type ScriptedItem, ScriptedRuntime } from '../../support/scriptedRuntime.js'

const sandbox = (criState: number) => ({ kind: 'sandbox', criState }) as ListedItem
const container = (criState: number) => ({ kind: 'container', criState }) as ListedItem
const sandboxStatus = (state: SandboxStatus['state'], ips: string[] = ['10.0.0.1'], hostNetwork = false) => {
  return { state, ips, hostNetwork } as unknown as SandboxStatus
}
const containerStatus = (state: ContainerStatus['state']) => ({ state }) as ContainerStatus

describe('statusIsSettled', () => {
  it.each([
    ['a container that both say runs', container(1), containerStatus('running'), true],
    ['one that both say has exited', container(2), containerStatus('exited'), true],
    ['one that has exited since the list', container(1), containerStatus('exited'), false],
    [
      'one that the list calls CREATED and the status EXITED (cri-dockerd)',
      container(0),
      containerStatus('exited'),
      false,
    ],
    ['one in a state that nobody knows', container(3), containerStatus('unknown'), false],
    ['a READY sandbox with an address', sandbox(0), sandboxStatus('ready'), true],
    ['a READY sandbox that has none yet', sandbox(0), sandboxStatus('ready', []), false],
    ["a READY sandbox in the host's network", sandbox(0), sandboxStatus('ready', [], true), true],
    ['a NOTREADY sandbox', sandbox(1), sandboxStatus('notready', []), true],
    ['a sandbox that stopped since the list', sandbox(0), sandboxStatus('notready', []), false],
  ] as const)('%s: %s', (_, listed, status, settled) => {
    expect(statusIsSettled(listed, status)).toBe(settled)
  })

  it('a changed pod is asked only for what changed, and the cache keeps the rest', async () => {
    const runtime = new ScriptedRuntime()
    const relister = createRelister({ runtime })
    const pod = (state: number): ScriptedItem[] => [
      { kind: 'sandbox', podUid: 'p', id: 's', name: 'p', state: 0, ips: ['10.0.0.1'] },
      { kind: 'container', podUid: 'p', id: 'a', name: 'a', state: 1 },
      { kind: 'container', podUid: 'p', id: 'b', name: 'b', state, exitCode: 7 },
    ]
    const relist = async (items: ScriptedItem[]) => {
      runtime.items = items
      runtime.calls.length = 0
      await relister.relist()
      await relister.settled()
      return runtime.calls.filter((call) => call.includes(' '))
    }
    expect(await relist(pod(1))).toHaveLength(3)
    expect(await relist(pod(2))).toEqual(['ContainerStatus b'])
    const { status } = relister.cache.get('p')
    expect(status.containers.map((one) => `${one.id} ${one.state} ${one.exitCode}`).sort()).toEqual([
      'a running 0',
      'b exited 7',
    ])
    expect(status.sandboxes.map((one) => one.ips)).toEqual([['10.0.0.1']])
    relister.requestReinspect('p')
    expect((await relist(pod(2))).sort()).toEqual(['ContainerStatus a', 'PodSandboxStatus s'])
    relister.close()
  })
})
