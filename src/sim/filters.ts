import type { ContainerRecord, SandboxRecord } from './records.js'

/** A list filter as CRI means it: all given conditions hold; an id may be a prefix; labels are equal. */
export interface Filter {
  readonly id: string
  readonly state: number | null
  readonly sandboxId: string
  readonly labels: readonly (readonly [string, string])[]
}

export function isOpen(filter: Filter): boolean {
  return filter.id === '' && filter.state === null && filter.sandboxId === '' && filter.labels.length === 0
}

export function sandboxMatches(filter: Filter, sandbox: SandboxRecord): boolean {
  return (
    sandbox.id.startsWith(filter.id) &&
    (filter.state === null || sandbox.state === filter.state) &&
    labelsMatch(filter, sandbox.labels)
  )
}

export function containerMatches(filter: Filter, container: ContainerRecord): boolean {
  return (
    container.id.startsWith(filter.id) &&
    (filter.state === null || container.state === filter.state) &&
    container.sandbox.id.startsWith(filter.sandboxId) &&
    labelsMatch(filter, container.labels)
  )
}

function labelsMatch(filter: Filter, labels: Readonly<Record<string, string>>): boolean {
  return filter.labels.every(([key, value]) => labels[key] === value)
}
