import { createDoorbell, Doorbell } from '../../src/ring/doorbell.js'
import { FrameReader, FrameWriter } from '../../src/ring/frameRing.js'
import { createRing, RingReader, RingWriter } from '../../src/ring/ring.js'
import type { MicroBench } from './bench.js'

const batch = 256
const shortFrame = 32
const longFrame = 900

/**
 * A frame through a ring, written and read on one thread: as short as a gone or a commit (`ring/frame`), and as long as
 * a container. `ring/frame-view` is the copy of a short frame by way of a view, which the writer avoids.
 */
export function ringBenches(): MicroBench[] {
  const memory = createRing(1 << 20)
  const writer = new FrameWriter(new RingWriter(memory), new Doorbell(createDoorbell()))
  const reader = new FrameReader(new RingReader(memory))
  const source = Buffer.alloc(longFrame, 7)
  const shared = new Uint8Array(new SharedArrayBuffer(batch * shortFrame))
  let seen = 0
  const through = (length: number) => {
    for (let i = 0; i < batch; i++) writer.write(1, source, 0, length)
    writer.flush()
    reader.read((_type, _bytes, start, end) => {
      seen += end - start
    }, batch)
    return seen
  }
  return [
    { id: 'ring/frame', operations: batch, run: () => through(shortFrame) },
    { id: 'ring/frame-container', operations: batch, run: () => through(longFrame) },
    {
      id: 'ring/frame-view',
      operations: batch,
      run: () => {
        for (let i = 0; i < batch; i++) shared.set(source.subarray(0, shortFrame), i * shortFrame)
      },
    },
    {
      id: 'ring/frame-loop',
      operations: batch,
      run: () => {
        for (let i = 0; i < batch; i++) {
          for (let at = 0; at < shortFrame; at++) shared[i * shortFrame + at] = source[at]!
        }
      },
    },
  ]
}
