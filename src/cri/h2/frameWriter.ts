import { DEFAULT_WINDOW, Flag, FrameType, MAX_WINDOW, Setting, writeUint32 } from './frames.js'
import { Outbox } from './outbox.js'
import { NO_DYNAMIC_TABLE, TimeoutHeader } from './requestHead.js'

/** The most that a header block of the runtime may take, before and (as SETTINGS count it) after decoding. */
export const MAX_HEADER_BLOCK = 64 * 1024

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

const ourSettings: readonly (readonly [setting: number, value: number])[] = [
  [Setting.HEADER_TABLE_SIZE, 0],
  [Setting.ENABLE_PUSH, 0],
  [Setting.INITIAL_WINDOW_SIZE, MAX_WINDOW],
  [Setting.MAX_HEADER_LIST_SIZE, MAX_HEADER_BLOCK],
]

/** Says on the wire what a session decides. */
export class FrameWriter {
  readonly #outbox: Outbox
  readonly #timeout = new TimeoutHeader()
  #firstBlock = true

  constructor(write: (bytes: Buffer) => void) {
    this.#outbox = new Outbox(write)
  }

  flush(): void {
    this.#outbox.flush()
  }

  /** Preface, SETTINGS, and the connection's window opened as far as it goes. */
  hello(): void {
    this.#outbox.raw(preface)
    let at = this.#outbox.begin(FrameType.SETTINGS, 0, 0, 6 * ourSettings.length)
    for (const [setting, value] of ourSettings) {
      this.#outbox.buf[at] = 0
      this.#outbox.buf[at + 1] = setting
      writeUint32(this.#outbox.buf, at + 2, value)
      at += 6
    }
    this.windowUpdate(0, MAX_WINDOW - DEFAULT_WINDOW)
  }

  settingsAck(): void {
    this.#outbox.begin(FrameType.SETTINGS, Flag.ACK, 0, 0)
  }

  pingAck(buf: Buffer, start: number, end: number): void {
    const at = this.#outbox.begin(FrameType.PING, Flag.ACK, 0, end - start)
    buf.copy(this.#outbox.buf, at, start, end)
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#uint32(FrameType.WINDOW_UPDATE, streamId, increment)
  }

  reset(streamId: number, h2Code: number): void {
    this.#uint32(FrameType.RST_STREAM, streamId, h2Code)
  }

  goAway(h2Code: number): void {
    const at = this.#outbox.begin(FrameType.GOAWAY, 0, 0, 8)
    // No stream of the server's: we accept none.
    writeUint32(this.#outbox.buf, at, 0)
    writeUint32(this.#outbox.buf, at + 4, h2Code)
  }

  /** Opens a stream. The block is far below the smallest frame size that a peer may ask for. */
  headers(streamId: number, head: Buffer, timeoutMs: number): void {
    const timeout = this.#timeout.of(timeoutMs)
    const update = this.#firstBlock ? 1 : 0
    let at = this.#outbox.begin(FrameType.HEADERS, Flag.END_HEADERS, streamId, update + head.length + timeout.length)
    if (this.#firstBlock) this.#outbox.buf[at++] = NO_DYNAMIC_TABLE
    this.#firstBlock = false
    head.copy(this.#outbox.buf, at)
    timeout.copy(this.#outbox.buf, at + head.length)
  }

  data(streamId: number, body: Buffer, start: number, end: number): void {
    const flags = end === body.length ? Flag.END_STREAM : 0
    const at = this.#outbox.begin(FrameType.DATA, flags, streamId, end - start)
    body.copy(this.#outbox.buf, at, start, end)
  }

  #uint32(type: number, streamId: number, value: number): void {
    const at = this.#outbox.begin(type, 0, streamId, 4)
    writeUint32(this.#outbox.buf, at, value)
  }
}
