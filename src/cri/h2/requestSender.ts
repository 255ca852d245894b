import type { Exchange } from './exchange.js'
import { DEFAULT_WINDOW, H2Error, MAX_WINDOW, ProtocolFault } from './frames.js'
import type { FrameWriter } from './frameWriter.js'
import type { PeerSettings } from './peerSettings.js'

/** Sends request bodies as far as the peer's windows allow (RFC 9113 section 5.2), the rest when they open. */
export class RequestSender {
  readonly #writer: FrameWriter
  readonly #peer: PeerSettings
  #window = DEFAULT_WINDOW
  /** Streams that wait for a window. */
  readonly #blocked = new Set<Exchange>()

  constructor(writer: FrameWriter, peer: PeerSettings) {
    this.#writer = writer
    this.#peer = peer
  }

  send(exchange: Exchange): void {
    exchange.sendWindow = this.#peer.initialWindow
    this.#sendMore(exchange)
  }

  forget(exchange: Exchange): void {
    this.#blocked.delete(exchange)
  }

  /** False where the stream's window overflows, which is the stream's fault alone. */
  openStream(exchange: Exchange, increment: number): boolean {
    exchange.sendWindow += increment
    if (exchange.sendWindow > MAX_WINDOW) return false
    if (this.#blocked.has(exchange)) this.#sendMore(exchange)
    return true
  }

  openConnection(increment: number): void {
    this.#window += increment
    if (this.#window > MAX_WINDOW)
      throw new ProtocolFault(H2Error.FLOW_CONTROL_ERROR, 'the connection window overflows')
    for (const exchange of this.#blocked) this.#sendMore(exchange)
  }

  #sendMore(exchange: Exchange): void {
    const { body } = exchange.request
    while (exchange.bodyLeft > 0) {
      const size = Math.min(exchange.bodyLeft, exchange.sendWindow, this.#window, this.#peer.maxFrame)
      if (size <= 0) {
        this.#blocked.add(exchange)
        return
      }
      this.#writer.data(exchange.streamId, body, exchange.sent, exchange.sent + size)
      exchange.sent += size
      exchange.sendWindow -= size
      this.#window -= size
    }
    this.#blocked.delete(exchange)
  }
}
