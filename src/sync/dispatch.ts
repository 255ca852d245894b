import type { PodLifecycleEvent } from '../model/event.js'
import type { Logger } from '../model/logger.js'
import type { PodRef } from '../model/pod.js'
import type { PodUpdate, ProbeResult, SyncHandler } from './api.js'

/** Pods named in one line; a source may add thousands at once. */
const namedPods = 16

function podNames(pods: readonly PodRef[]): readonly string[] {
  const names = pods.slice(0, namedPods).map(({ namespace, name }) => `${namespace}/${name}`)
  return pods.length > namedPods ? [...names, `…(+${pods.length - namedPods})`] : names
}

export function dispatchUpdate<Pod extends PodRef>(
  update: PodUpdate<Pod>,
  handler: SyncHandler<Pod>,
  logger: Logger,
): void {
  const { op, pods, source } = update
  logger.v(op === 'RECONCILE' ? 4 : 2, `SyncLoop ${op}`, { source, pods: podNames(pods) })
  switch (op) {
    case 'ADD':
      handler.onAdditions(pods, source)
      break
    case 'UPDATE':
    case 'DELETE':
      handler.onUpdates(pods, source)
      break
    case 'REMOVE':
      handler.onRemoves(pods, source)
      break
    case 'RECONCILE':
      handler.onReconcile(pods, source)
      break
  }
}

/** ContainerRemoved asks for no sync: what is gone can't be acted on (kubelet isSyncPodWorthy). */
export function dispatchEvent(event: PodLifecycleEvent, handler: SyncHandler<never>, logger: Logger): void {
  const { pod, type, id } = event
  const shown = { ID: pod.uid, Type: type, Data: id }
  if (type !== 'ContainerRemoved') {
    if (handler.knows(pod.uid)) {
      logger.v(2, 'SyncLoop (PLEG): event for pod', { pod, event: shown })
      handler.onSyncs([pod])
    } else {
      logger.v(4, 'SyncLoop (PLEG): pod does not exist, ignore irrelevant event', { event: shown })
    }
  }
  if (type === 'ContainerDied') handler.onContainerDied(event)
}

const probeWords = {
  liveness: ['healthy', 'unhealthy'],
  readiness: ['ready', 'not ready'],
  startup: ['started', 'unhealthy'],
} as const

/** A liveness probe that succeeds changes nothing. */
export function dispatchProbe(result: ProbeResult, handler: SyncHandler<never>, logger: Logger): void {
  const { probe, pod, success } = result
  if (probe === 'liveness' && success) return
  const status = probeWords[probe][success ? 0 : 1]
  handler.onProbe(result)
  if (!handler.knows(pod.uid)) {
    logger.v(4, 'SyncLoop (probe): ignore irrelevant update', { probe, status, update: result })
    return
  }
  logger.v(1, 'SyncLoop (probe)', { probe, status, pod })
  handler.onSyncs([pod])
}

export function dispatchDue(handler: SyncHandler<never>, logger: Logger): void {
  const pods = handler.duePods()
  if (pods.length === 0) return
  logger.v(4, 'SyncLoop (SYNC) pods', { total: pods.length, pods: podNames(pods) })
  handler.onSyncs(pods)
}
