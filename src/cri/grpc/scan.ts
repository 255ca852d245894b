import { CriError, GrpcCode } from '../errors.js'
import type { ItemSink, ListMode, ListReport } from '../runtime.js'
import { ListScanner } from '../wire/list.js'
import { PREFIX_BYTES } from '../wire/request.js'

/** Scanned between two questions to a sink whether it is congested. */
const SLICE_BYTES = 256 * 1024

/** Shows a list's items, from messages without prefix, to the sink, and waits where the sink is congested. */
export class ListScan {
  readonly #call: string
  readonly #mode: ListMode
  readonly #sink: ItemSink
  readonly #signal: AbortSignal | undefined
  readonly #scanner: ListScanner

  constructor(call: string, mode: ListMode, sink: ItemSink, signal: AbortSignal | undefined) {
    this.#call = call
    this.#mode = mode
    this.#sink = sink
    this.#signal = signal
    this.#scanner = new ListScanner(sink, call)
  }

  /** One whole message. */
  async take(message: Buffer): Promise<void> {
    const scanner = this.#scanner
    const prefix = Buffer.alloc(PREFIX_BYTES)
    prefix.writeUInt32BE(message.length, 1)
    scanner.feed(prefix, 0, prefix.length)
    for (let at = 0; at < message.length; ) {
      const window = Math.max(SLICE_BYTES, scanner.needed)
      at += scanner.feed(message, at, Math.min(at + window, message.length))
      const room = this.#sink.congested?.()
      if (room) await roomOrAbort(this.#call, room, this.#signal)
    }
    scanner.finish()
  }

  report(): ListReport {
    const { items, bytes, largestMessage } = this.#scanner
    return { mode: this.#mode, items, bytes, largestMessage }
  }
}

async function roomOrAbort(call: string, room: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return room
  const aborted = () => new CriError(call, GrpcCode.CANCELLED, 'the caller gave up')
  if (signal.aborted) throw aborted()
  let onAbort = () => {}
  const abort = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(aborted())
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    await Promise.race([room, abort])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
