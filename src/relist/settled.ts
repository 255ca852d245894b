import type { ContainerStatus, ListedItem, SandboxStatus } from '../model/pod.js'
import { containerStateOf, sandboxStateOf } from '../model/state.js'

/**
 * Whether a status says what the list says, so that it stays true for as long as the list does. What a list does not
 * show and a status could still change (the resources of a container) is not part of our status; `requestReinspect` asks
 * anew all the same. A READY sandbox without an address may yet get one.
 */
export function statusIsSettled(listed: ListedItem, status: SandboxStatus | ContainerStatus): boolean {
  if (status.state === 'unknown') return false
  if (!('ips' in status)) return status.state === containerStateOf(listed.criState)
  if (status.state === 'ready' && status.ips.length === 0 && !status.hostNetwork) return false
  return status.state === sandboxStateOf(listed.criState)
}
