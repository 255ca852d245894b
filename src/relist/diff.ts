import type { PodLifecycleEventType } from '../model/event.js'
import type { PlegState } from '../model/state.js'

const none: readonly PodLifecycleEventType[] = []
const started: readonly PodLifecycleEventType[] = ['ContainerStarted']
const died: readonly PodLifecycleEventType[] = ['ContainerDied']
const removed: readonly PodLifecycleEventType[] = ['ContainerRemoved']
const diedAndRemoved: readonly PodLifecycleEventType[] = ['ContainerDied', 'ContainerRemoved']
const changed: readonly PodLifecycleEventType[] = ['ContainerChanged']

/** Rows: old state; columns: new state; both in the order of PlegState (non-existent, running, exited, unknown). */
const table: readonly (readonly PodLifecycleEventType[])[] = [
  ...[none, started, died, changed],
  ...[diedAndRemoved, none, died, changed],
  ...[removed, started, none, changed],
  ...[diedAndRemoved, started, died, none],
]

/**
 * What became of one container or sandbox between two lists (kubelet v1.37 pleg/generic.go generateEvents).
 *
 * Assumes that nothing is created, ended and removed within one relist period: such a container is invisible.
 */
export function transition(old: PlegState, current: PlegState): readonly PodLifecycleEventType[] {
  return table[old * 4 + current]!
}
