import type { PodStatus } from '../model/pod.js'

/**
 * The addresses to publish: after a teardown the API still needs the pod's last ones (kubelet v1.37 pleg/generic.go
 * getPodIPs). Fresh ones win; with a READY sandbox none is the truth; else the cached ones stay.
 */
export function keepIps(fresh: PodStatus, cached: PodStatus): readonly string[] {
  if (fresh.ips.length > 0 || fresh.sandboxes.some((sandbox) => sandbox.state === 'ready')) return fresh.ips
  return cached.ips
}
