import type { PodLifecycleEvent } from '../../src/model/event.js'
import type { ScriptedItem } from './scriptedRuntime.js'

type State = 'running' | 'exited' | 'unknown' | 'none'

/** Written from the table's prose in the kubelet's terms, apart from src/relist/diff.ts. */
function eventsOf(before: State, after: State): string[] {
  if (before === after) return []
  if (after === 'none') return before === 'exited' ? ['ContainerRemoved'] : ['ContainerDied', 'ContainerRemoved']
  if (after === 'running') return ['ContainerStarted']
  if (after === 'exited') return ['ContainerDied']
  return []
}

function stateOf(item: ScriptedItem): State {
  if (item.kind === 'sandbox') return item.state === 0 ? 'running' : item.state === 1 ? 'exited' : 'unknown'
  return item.state === 1 ? 'running' : item.state === 2 ? 'exited' : 'unknown'
}

/** The plain sequential model of a relist: one map, compared whole each time. */
export class EventModel {
  private known = new Map<string, { uid: string; state: State }>()

  /** Events of one complete list, per pod, each as `type id`, sorted. */
  relist(items: readonly ScriptedItem[]): Map<string, string[]> {
    const events = new Map<string, string[]>()
    const add = (uid: string, id: string, types: string[]) => {
      if (types.length > 0)
        events.set(uid, [...(events.get(uid) ?? []), ...types.map((type) => `${type} ${id}`)].sort())
    }
    const next = new Map<string, { uid: string; state: State }>()
    for (const item of items) {
      const key = `${item.kind} ${item.id}`
      const state = stateOf(item)
      next.set(key, { uid: item.podUid, state })
      add(item.podUid, item.id, eventsOf(this.known.get(key)?.state ?? 'none', state))
    }
    for (const [key, { uid, state }] of this.known) {
      if (!next.has(key)) add(uid, key.split(' ')[1]!, eventsOf(state, 'none'))
    }
    this.known = next
    return events
  }
}

export function byPod(events: readonly PodLifecycleEvent[]): Map<string, string[]> {
  const pods = new Map<string, string[]>()
  for (const { pod, type, id } of events) pods.set(pod.uid, [...(pods.get(pod.uid) ?? []), `${type} ${id}`].sort())
  return pods
}
