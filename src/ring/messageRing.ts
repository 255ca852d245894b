import { packMessage, unpackMessage } from './codec.js'
import type { FrameReader, FrameWriter } from './frameRing.js'

const messageType = 0

/** msgpack messages of any size over a ring. */
export class MessageWriter<T> {
  private readonly frames: FrameWriter

  constructor(frames: FrameWriter) {
    this.frames = frames
  }

  post(message: T): void {
    const packed = packMessage(message)
    this.frames.write(messageType, packed, 0, packed.length)
  }

  flush(): boolean {
    return this.frames.flush()
  }

  congested(): Promise<void> | undefined {
    return this.frames.congested()
  }

  /** Nobody reads any more: drops everything, and whoever waits for room goes on. */
  close(): void {
    this.frames.close()
  }
}

export class MessageReader<T> {
  private readonly frames: FrameReader

  constructor(frames: FrameReader) {
    this.frames = frames
  }

  read(visit: (message: T) => void, max: number): number {
    return this.frames.read((_type, bytes, start, end) => visit(unpackMessage<T>(bytes, start, end)), max)
  }
}
