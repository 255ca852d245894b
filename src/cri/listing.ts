import type { Clock } from '../model/clock.js'
import type { ContainerStatus, ItemKind, SandboxStatus } from '../model/pod.js'
import { CriError, GrpcCode } from './errors.js'
import { isTooLarge, limitOf } from './failure.js'
import { type ListCall, listInParts } from './filteredList.js'
import type { CallOptions, HotRuntime, ItemSink, ListOptions, ListReport, Transport } from './runtime.js'

/** A runtime that refused to stream is asked again after this time: it may have been upgraded without our noticing. */
const streamAgainMs = 600_000
/** A list in parts becomes one answer again once all of it takes less than this share of the limit. */
const fitsShare = 0.75
/** containerd's and the kubelet's own, for a runtime that does not tell its limit. */
const usualLimitBytes = 16 * 1024 * 1024

/**
 * A transport whose lists come the best way that the runtime has (docs/decisions/0005-lists-beyond-the-message-limit.md):
 * streamed, else in one answer, else, where one answer is over the message limit, in parts. Each kind of list remembers
 * for itself what works.
 *
 * A list that breaks fails as a whole, whichever way it came.
 */
export class ListingRuntime implements HotRuntime {
  readonly endpoint: string
  readonly #transport: Transport
  readonly #sandboxes: KindOfList
  readonly #containers: KindOfList

  /** `deadlineMs`: of lists that name none; it holds for all the calls of one list together. */
  constructor(options: { transport: Transport; clock: Clock; deadlineMs: number }) {
    const { transport } = options
    this.endpoint = transport.endpoint
    this.#transport = transport
    this.#sandboxes = new KindOfList('sandbox', options)
    this.#containers = new KindOfList('container', options)
  }

  listPodSandboxes(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#sandboxes.list(sink, options)
  }

  listContainers(sink: ItemSink, options: ListOptions = {}): Promise<ListReport> {
    return this.#containers.list(sink, options)
  }

  podSandboxStatus(id: string, options?: CallOptions): Promise<SandboxStatus> {
    return this.#transport.podSandboxStatus(id, options)
  }

  containerStatus(id: string, options?: CallOptions): Promise<ContainerStatus> {
    return this.#transport.containerStatus(id, options)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}

class KindOfList {
  readonly #kind: ItemKind
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #deadlineMs: number
  /** When the runtime was last found unable to stream. */
  #streamRefusedAt = Number.NEGATIVE_INFINITY
  /** The limit that one answer with everything was over; undefined: it isn't. */
  #limitBytes: number | undefined

  constructor(kind: ItemKind, options: { transport: Transport; clock: Clock; deadlineMs: number }) {
    this.#kind = kind
    this.#transport = options.transport
    this.#clock = options.clock
    this.#deadlineMs = options.deadlineMs
  }

  async list(sink: ItemSink, options: ListOptions): Promise<ListReport> {
    const endsAt = this.#clock.now() + (options.deadlineMs ?? this.#deadlineMs)
    const call: ListCall = {
      kind: this.#kind,
      transport: this.#transport,
      options: () => ({ ...options, deadlineMs: endsAt - this.#clock.now() }),
    }
    if (this.#clock.now() - this.#streamRefusedAt >= streamAgainMs) {
      const shown = new CountingSink(sink)
      try {
        return await this.#streamed(shown, call.options())
      } catch (error) {
        if (!this.#endsStreaming(error) || shown.items > 0) throw error
      }
    }
    // What a caller has narrowed is the caller's to narrow further, and tells nothing of the whole.
    if (options.filter !== undefined) return this.#whole(sink, call.options())
    if (this.#limitBytes === undefined) {
      try {
        return await this.#whole(sink, call.options())
      } catch (error) {
        if (!isTooLarge(error)) throw error
        this.#limitBytes = limitOf(error) ?? usualLimitBytes
      }
    }
    const report = await listInParts(call, sink)
    if (report.bytes < this.#limitBytes * fitsShare) this.#limitBytes = undefined
    return report
  }

  /** A stream that breaks is not tried another way at once: the next list is the retry. */
  #endsStreaming(error: unknown): boolean {
    const refused = error instanceof CriError && error.grpcCode === GrpcCode.UNIMPLEMENTED
    if (!refused && !isTooLarge(error)) return false
    this.#streamRefusedAt = this.#clock.now()
    return true
  }

  #streamed(sink: ItemSink, options: ListOptions): Promise<ListReport> {
    const transport = this.#transport
    return this.#kind === 'sandbox'
      ? transport.streamPodSandboxes(sink, options)
      : transport.streamContainers(sink, options)
  }

  #whole(sink: ItemSink, options: ListOptions): Promise<ListReport> {
    const transport = this.#transport
    return this.#kind === 'sandbox'
      ? transport.listPodSandboxes(sink, options)
      : transport.listContainers(sink, options)
  }
}

/** Knows whether anything was shown: then another way would show it again, and might show less. */
class CountingSink implements ItemSink {
  items = 0
  readonly #sink: ItemSink

  constructor(sink: ItemSink) {
    this.#sink = sink
  }

  item(buf: Buffer, start: number, end: number): void {
    this.items++
    this.#sink.item(buf, start, end)
  }

  congested(): Promise<void> | undefined {
    return this.#sink.congested?.()
  }
}
