import { DEFAULT_WINDOW, H2Error, MAX_FRAME, MAX_WINDOW, ProtocolFault, readUint32, Setting } from './frames.js'

const ENTRY = 6
const LARGEST_MAX_FRAME = 0xff_ffff

/** What the runtime asks of us (RFC 9113 section 6.5.2). Its header table's size needs no answer: we index nothing. */
export class PeerSettings {
  maxConcurrentStreams = Number.POSITIVE_INFINITY
  initialWindow = DEFAULT_WINDOW
  maxFrame = MAX_FRAME

  /** Takes over a SETTINGS payload and returns by how much the streams' windows changed. */
  apply(buf: Buffer, start: number, end: number): number {
    if ((end - start) % ENTRY !== 0) throw new ProtocolFault(H2Error.FRAME_SIZE_ERROR, 'SETTINGS of a broken length')
    const before = this.initialWindow
    for (let at = start; at < end; at += ENTRY) {
      this.#set((buf[at]! << 8) | buf[at + 1]!, readUint32(buf, at + 2))
    }
    return this.initialWindow - before
  }

  #set(setting: number, value: number): void {
    switch (setting) {
      case Setting.ENABLE_PUSH:
        if (value !== 0) throw new ProtocolFault(H2Error.PROTOCOL_ERROR, 'a server may not enable push')
        break
      case Setting.MAX_CONCURRENT_STREAMS:
        this.maxConcurrentStreams = value
        break
      case Setting.INITIAL_WINDOW_SIZE:
        if (value > MAX_WINDOW) throw new ProtocolFault(H2Error.FLOW_CONTROL_ERROR, `an initial window of ${value}`)
        this.initialWindow = value
        break
      case Setting.MAX_FRAME_SIZE:
        if (value < MAX_FRAME || value > LARGEST_MAX_FRAME) {
          throw new ProtocolFault(H2Error.PROTOCOL_ERROR, `a largest frame of ${value}`)
        }
        this.maxFrame = value
        break
    }
  }
}
