import type { CachedPod } from '../../src/engine/api.js'
import type { ContainerStatus, PodStatus, SandboxStatus } from '../../src/model/pod.js'

export function containerStatus(over: Partial<ContainerStatus> = {}): ContainerStatus {
  return {
    id: 'c1',
    name: 'web',
    attempt: 0,
    state: 'running',
    createdAt: 1_000_000_000_000_000_001n,
    startedAt: 1_000_000_001_000_000_000n,
    finishedAt: 0n,
    exitCode: 0,
    image: 'nginx',
    imageRef: 'nginx@sha256:1',
    imageId: '',
    reason: '',
    message: '',
    logPath: '',
    labels: {},
    annotations: {},
    ...over,
  }
}

export function sandboxStatus(over: Partial<SandboxStatus> = {}): SandboxStatus {
  return {
    id: 's1',
    name: 'web-0',
    uid: 'uid-1',
    namespace: 'default',
    attempt: 0,
    state: 'ready',
    createdAt: 1_000_000_000_000_000_000n,
    ips: ['10.0.0.1'],
    hostNetwork: false,
    runtimeHandler: '',
    labels: { app: 'web', 'io.kubernetes.pod.uid': 'uid-1' },
    annotations: {},
    ...over,
  }
}

export function podStatus(over: Partial<PodStatus> = {}): PodStatus {
  return {
    uid: 'uid-1',
    namespace: 'default',
    name: 'web-0',
    inspected: true,
    ips: ['10.0.0.1'],
    listed: [],
    sandboxes: [sandboxStatus()],
    containers: [containerStatus()],
    ...over,
  }
}

export function cachedPod(over: Partial<PodStatus> = {}, error: CachedPod['error'] = null): CachedPod {
  return { status: podStatus(over), error }
}
