import { describe, expect, test } from 'vitest'
import { emptyPodStatus, type PodStatus, type SandboxStatus } from '../../../src/model/pod.js'
import { keepIps } from '../../../src/relist/ips.js'

function sandbox(id: string, state: SandboxStatus['state']): SandboxStatus {
  return {
    id,
    name: 'pod',
    uid: 'uid-1',
    namespace: 'default',
    attempt: 0,
    state,
    createdAt: 0n,
    ips: [],
    hostNetwork: false,
    runtimeHandler: '',
    labels: {},
    annotations: {},
  }
}

function pod(ips: readonly string[], ...sandboxes: SandboxStatus[]): PodStatus {
  return { ...emptyPodStatus('uid-1'), inspected: true, ips, sandboxes }
}

const a = ['192.168.1.5']
const b = ['10.0.0.2', '2000::']

describe('kubelet vectors (getPodIPs)', () => {
  test.each([
    ['new addresses win over cached ones', pod(b), pod(a), b],
    ['none while a new sandbox is READY', pod([], sandbox('s1', 'notready'), sandbox('s2', 'ready')), pod(a), []],
    ['none where none are cached either', pod([], sandbox('s1', 'notready')), pod([]), []],
    ['the cached ones when all sandboxes are NOTREADY', pod([], sandbox('s1', 'notready')), pod(a), a],
    ['the cached ones when no sandbox is left', pod([]), pod(a), a],
    ['TestRelistIPChange, two stacks', pod([], sandbox('s1', 'notready')), pod(b, sandbox('s1', 'ready')), b],
  ])('%s', (_, fresh, cached, ips) => {
    expect(keepIps(fresh, cached)).toEqual(ips)
  })
})

test('a pod that ends keeps its address through every update, and a new sandbox replaces it (k/k#125370)', () => {
  let cached = pod([])
  const seen: (readonly string[])[] = []
  for (const fresh of [
    pod(a, sandbox('s1', 'ready')),
    pod([], sandbox('s1', 'ready')),
    pod([], sandbox('s1', 'notready')),
    pod([], sandbox('s2', 'ready'), sandbox('s1', 'notready')),
    pod(b, sandbox('s2', 'ready'), sandbox('s1', 'notready')),
  ]) {
    cached = { ...fresh, ips: keepIps(fresh, cached) }
    seen.push(cached.ips)
  }
  expect(seen).toEqual([a, a, a, [], b])
})
