import { CriError, GrpcCode } from '../errors.js'
import type { ItemSink, ListMode, ListReport } from '../runtime.js'
import { ListScanner } from '../wire/list.js'
import type { ResponseConsumer } from './exchange.js'

/** Scans a list's answer for its items, and lets their sink hold the runtime back. */
export class ListConsumer implements ResponseConsumer {
  readonly #call: string
  readonly #mode: ListMode
  readonly #sink: ItemSink
  readonly #scanner: ListScanner

  constructor(call: string, mode: ListMode, sink: ItemSink) {
    this.#call = call
    this.#mode = mode
    this.#sink = sink
    this.#scanner = new ListScanner(sink, call)
  }

  feed(buf: Buffer, start: number, end: number): number {
    return this.#scanner.feed(buf, start, end)
  }

  finish(): void {
    this.#scanner.finish()
    const { messages } = this.#scanner
    if (this.#mode !== 'streaming' && messages !== 1)
      throw new CriError(this.#call, GrpcCode.INTERNAL, `${messages} messages in a unary answer`)
  }

  congested(): Promise<void> | undefined {
    return this.#sink.congested?.()
  }

  report(): ListReport {
    const { items, bytes, largestMessage } = this.#scanner
    return { mode: this.#mode, items, bytes, largestMessage }
  }
}
