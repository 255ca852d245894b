import type { PodLifecycleEvent } from '../../src/model/event.js'
import { until } from './until.js'

/**
 * What is expected of a stream of lifecycle events: for each sandbox and container its whole history, e.g.
 * `Started Died(137)`. Where polling may or may not see a state, each allowed history is given. So a missing, doubled,
 * spurious or misordered event, a wrong exit code and an unknown object all differ.
 */
export class Histories {
  readonly #events: () => readonly PodLifecycleEvent[]
  readonly #expected = new Map<string, { label: string; allowed: readonly string[] }>()

  constructor(events: () => readonly PodLifecycleEvent[]) {
    this.#events = events
  }

  /** From now on, the object's whole history is one of `allowed`. */
  expect(id: string, label: string, ...allowed: string[]): void {
    this.#expected.set(id, { label, allowed })
  }

  /** What came, and what should have, by label: equal where all is well. */
  compare(): { seen: Record<string, string>; wanted: Record<string, string> } {
    const seen: Record<string, string> = {}
    for (const event of this.#events()) {
      const label = this.#expected.get(event.id)?.label ?? `unexpected ${event.kind} ${event.id} of ${event.pod.name}`
      seen[label] = seen[label] === undefined ? word(event) : `${seen[label]} ${word(event)}`
    }
    const wanted: Record<string, string> = {}
    for (const { label, allowed } of this.#expected.values()) {
      const history = seen[label]
      wanted[label] = history !== undefined && allowed.includes(history) ? history : allowed.join(' | ')
    }
    return { seen, wanted }
  }

  /** The state in which the events leave each object that is not removed, in CRI's words. */
  outcome(): Map<string, string> {
    const outcome = new Map<string, string>()
    for (const event of this.#events()) {
      const sandbox = event.kind === 'sandbox'
      if (event.type === 'ContainerStarted') outcome.set(event.id, sandbox ? 'SANDBOX_READY' : 'CONTAINER_RUNNING')
      if (event.type === 'ContainerDied') {
        outcome.set(event.id, sandbox ? 'SANDBOX_NOTREADY' : `CONTAINER_EXITED(${event.exitCode})`)
      }
      if (event.type === 'ContainerRemoved') outcome.delete(event.id)
    }
    return outcome
  }

  /** Waits until everything expected has come. What else came is for `compare` to tell. */
  async settled(step: string): Promise<void> {
    const complete = (): boolean => {
      const { seen, wanted } = this.compare()
      return Object.entries(wanted).every(([label, history]) => seen[label] === history)
    }
    await until(step, complete, { timeoutMs: 45_000, state: () => this.#differences() })
  }

  #differences(): string {
    const { seen, wanted } = this.compare()
    const labels = new Set([...Object.keys(seen), ...Object.keys(wanted)])
    return [...labels]
      .filter((label) => seen[label] !== wanted[label])
      .map((label) => `  ${label}: ${seen[label] ?? 'nothing'}; expected: ${wanted[label] ?? 'nothing'}`)
      .join('\n')
  }
}

function word(event: PodLifecycleEvent): string {
  const short = event.type.replace('Container', '')
  return event.exitCode === undefined ? short : `${short}(${event.exitCode})`
}
