import type { ItemSink, ListReport } from '../runtime.js'
import { ListScanner } from '../wire/list.js'
import type { ResponseConsumer } from './exchange.js'

/** Scans a list's answer for its items, and lets their sink hold the runtime back. */
export class ListConsumer implements ResponseConsumer {
  readonly #sink: ItemSink
  readonly #scanner: ListScanner

  constructor(sink: ItemSink) {
    this.#sink = sink
    this.#scanner = new ListScanner(sink)
  }

  feed(buf: Buffer, start: number, end: number): number {
    return this.#scanner.feed(buf, start, end)
  }

  finish(): void {
    this.#scanner.finish()
  }

  congested(): Promise<void> | undefined {
    return this.#sink.congested?.()
  }

  report(): ListReport {
    const { items, bytes, largestMessage } = this.#scanner
    return { items, bytes, largestMessage }
  }
}
