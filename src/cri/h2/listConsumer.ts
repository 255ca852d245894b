import { CriError, GrpcCode } from '../errors.js'
import type { ItemSink, ListReport } from '../runtime.js'
import { ListScanner } from '../wire/list.js'
import type { ResponseConsumer } from './exchange.js'

/** Scans a list's answer for its items, and lets their sink hold the runtime back. */
export class ListConsumer implements ResponseConsumer {
  readonly #call: string
  readonly #sink: ItemSink
  readonly #scanner: ListScanner

  constructor(call: string, sink: ItemSink) {
    this.#call = call
    this.#sink = sink
    this.#scanner = new ListScanner(sink, call)
  }

  feed(buf: Buffer, start: number, end: number): number {
    return this.#scanner.feed(buf, start, end)
  }

  finish(): void {
    this.#scanner.finish()
    const { messages } = this.#scanner
    if (messages !== 1) throw new CriError(this.#call, GrpcCode.INTERNAL, `${messages} messages in a unary answer`)
  }

  congested(): Promise<void> | undefined {
    return this.#sink.congested?.()
  }

  report(): ListReport {
    const { items, bytes, largestMessage } = this.#scanner
    return { items, bytes, largestMessage }
  }
}
