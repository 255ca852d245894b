import type { ItemKind } from '../model/pod.js'
import { CriError, GrpcCode, isNotFound } from './errors.js'
import { isTooLarge } from './failure.js'
import type { ItemSink, ListFilter, ListOptions, ListReport, Transport } from './runtime.js'
import { decodeItem } from './wire/item.js'

/** One list to be made: by what, and with what is left of its time. */
export interface ListCall {
  readonly kind: ItemKind
  readonly transport: Transport
  options(): ListOptions
}

/**
 * CRI's numbers, in the order in which items live through them: what changes while the parts are asked for has a later
 * part before it, so it is shown twice rather than never. Containers: CREATED, RUNNING, UNKNOWN, EXITED (an UNKNOWN one
 * ends EXITED, when it is stopped). Sandboxes: READY, NOTREADY.
 */
const statesInOrder: Readonly<Record<ItemKind, readonly number[]>> = { sandbox: [0, 1], container: [0, 1, 3, 2] }
/** How long one item's status may take, before the item is looked for in another way. */
const statusMs = 2000

/**
 * A list in parts: state by state and, where one state alone is over the message limit, its containers sandbox by
 * sandbox. Each answer is true for its own moment, so:
 *
 * - an item that goes on to its next state in between is shown once more: the later sighting is the true one;
 * - an item that goes back a state may be in none of the parts: what the sink misses is looked for by id, so that only
 *   what is gone stays missing;
 * - an item that comes after the first part was asked for may be missing, as from any list that it is newer than.
 *
 * Rejects as soon as one part does. One call after the other: the parts have an order, and a runtime that is this full
 * filters each by going through all that it has.
 */
export async function listInParts(call: ListCall, sink: ItemSink): Promise<ListReport> {
  const sum = { mode: 'filtered' as const, items: 0, bytes: 0, largestMessage: 0 }
  const part = async (filter: ListFilter) => {
    const report = await listWhole(call, sink, filter).catch(noneOfThatState)
    sum.items += report.items
    sum.bytes += report.bytes
    sum.largestMessage = Math.max(sum.largestMessage, report.largestMessage)
  }
  for (const state of statesInOrder[call.kind]) {
    try {
      await part({ state })
    } catch (error) {
      if (call.kind === 'sandbox' || !isTooLarge(error)) throw error
      for (const sandboxId of await sandboxIds(call)) await part({ state, sandboxId })
    }
  }
  for (const id of sink.unseen?.() ?? []) {
    if (!(await isGone(call, id))) await part({ id })
  }
  return sum
}

/** cri-dockerd 0.4 passes UNKNOWN on to dockerd, which has no such state and refuses to filter by it. */
function noneOfThatState(error: unknown): Pick<ListReport, 'items' | 'bytes' | 'largestMessage'> {
  const refused = error instanceof CriError && error.grpcCode === GrpcCode.UNKNOWN
  if (refused && /invalid filter 'status=/i.test(error.details)) return { items: 0, bytes: 0, largestMessage: 0 }
  throw error
}

function listWhole({ kind, transport, options }: ListCall, sink: ItemSink, filter: ListFilter): Promise<ListReport> {
  const narrowed = { ...options(), filter }
  return kind === 'sandbox' ? transport.listPodSandboxes(sink, narrowed) : transport.listContainers(sink, narrowed)
}

async function sandboxIds(call: ListCall): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  const sink: ItemSink = { item: (buf, start, end) => ids.add(decodeItem('sandbox', buf, start, end).item.id) }
  for (const state of statesInOrder.sandbox) await listWhole({ ...call, kind: 'sandbox' }, sink, { state })
  return ids
}

/** The status says it at once, where a filtered list goes through everything: a thousand removals stay cheap. */
async function isGone({ kind, transport, options }: ListCall, id: string): Promise<boolean> {
  const { signal, deadlineMs = statusMs } = options()
  const brief = { deadlineMs: Math.min(deadlineMs, statusMs), ...(signal && { signal }) }
  try {
    await (kind === 'sandbox' ? transport.podSandboxStatus(id, brief) : transport.containerStatus(id, brief))
    return false
  } catch (error) {
    return isNotFound(error)
  }
}
