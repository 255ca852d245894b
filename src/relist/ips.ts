import type { PodStatus } from '../model/pod.js'

/**
 * The addresses to publish for `fresh`. A runtime forgets a pod's addresses while it tears the sandbox down, but the API
 * still needs them, so the ones in the cache are kept, unless a new sandbox is READY that has none yet (kubelet v1.37
 * pleg/generic.go getPodIPs). Unlike the kubelet, a sandbox that is READY but has lost the addresses it had keeps them
 * too: it cannot get others (k/k#125370).
 */
export function keepIps(fresh: PodStatus, cached: PodStatus): readonly string[] {
  if (fresh.ips.length > 0 || cached.ips.length === 0) return fresh.ips
  const known = new Set(cached.sandboxes.map((sandbox) => sandbox.id))
  const replaced = fresh.sandboxes.some((sandbox) => sandbox.state === 'ready' && !known.has(sandbox.id))
  return replaced ? fresh.ips : cached.ips
}
