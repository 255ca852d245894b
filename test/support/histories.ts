import { until } from './until.js'

/** One line of `plegd events -o json`. */
export interface EventLine {
  readonly type: string
  readonly pod: { readonly uid: string; readonly namespace: string; readonly name: string }
  readonly kind?: 'sandbox' | 'container'
  readonly id?: string
  readonly container?: string
  readonly exitCode?: number
  readonly time: string
}

/** A sandbox, or a container of that name. */
export interface Subject {
  readonly pod: { readonly uid: string; readonly name: string }
  readonly container?: string
  readonly id: string
}

/**
 * What is expected of a stream of lifecycle events: for each sandbox and container its whole history, e.g.
 * `Started Died(137)`. Where polling may or may not see a state, each allowed history is given. So a missing, doubled,
 * spurious or misordered event, a wrong exit code and an unknown object all differ.
 */
export class Histories {
  readonly #events: () => readonly EventLine[]
  readonly #expected = new Map<string, readonly string[]>()

  constructor(events: () => readonly EventLine[]) {
    this.#events = events
  }

  /** From now on, the subject's whole history is one of `allowed`. */
  expect({ pod, container, id }: Subject, ...allowed: string[]): void {
    this.#expected.set(label({ ...pod, namespace: 'default' }, container, id), allowed)
  }

  /** What came, and what should have: equal where all is well. */
  compare(): { seen: Record<string, string>; wanted: Record<string, string> } {
    const seen: Record<string, string> = {}
    for (const event of this.#events()) {
      const subject = label(event.pod, event.container, event.id)
      seen[subject] = seen[subject] === undefined ? word(event) : `${seen[subject]} ${word(event)}`
    }
    const wanted: Record<string, string> = {}
    for (const [subject, allowed] of this.#expected) {
      const history = seen[subject]
      wanted[subject] = history !== undefined && allowed.includes(history) ? history : allowed.join(' | ')
    }
    return { seen, wanted }
  }

  /** The state in which the events leave each object that is not removed, in CRI's words. */
  outcome(): Map<string, string> {
    const outcome = new Map<string, string>()
    for (const { type, kind, id = '', exitCode } of this.#events()) {
      const sandbox = kind === 'sandbox'
      if (type === 'ContainerStarted') outcome.set(id, sandbox ? 'SANDBOX_READY' : 'CONTAINER_RUNNING')
      if (type === 'ContainerDied') outcome.set(id, sandbox ? 'SANDBOX_NOTREADY' : `CONTAINER_EXITED(${exitCode})`)
      if (type === 'ContainerRemoved') outcome.delete(id)
    }
    return outcome
  }

  /** Waits until everything expected has come. What else came is for `compare` to tell. */
  async settled(step: string): Promise<void> {
    const complete = (): boolean => {
      const { seen, wanted } = this.compare()
      return Object.entries(wanted).every(([subject, history]) => seen[subject] === history)
    }
    await until(step, complete, { timeoutMs: 45_000, state: () => this.#differences() })
  }

  #differences(): string {
    const { seen, wanted } = this.compare()
    const subjects = new Set([...Object.keys(seen), ...Object.keys(wanted)])
    return [...subjects]
      .filter((subject) => seen[subject] !== wanted[subject])
      .map((subject) => `  ${subject}: ${seen[subject] ?? 'nothing'}; expected: ${wanted[subject] ?? 'nothing'}`)
      .join('\n')
  }
}

function label(pod: EventLine['pod'], container = 'sandbox', id = ''): string {
  return `${pod.namespace}/${pod.name} (${pod.uid}) ${container} ${id.slice(0, 12)}`
}

function word(event: EventLine): string {
  const short = event.type.replace('Container', '')
  return event.exitCode === undefined ? short : `${short}(${event.exitCode})`
}
