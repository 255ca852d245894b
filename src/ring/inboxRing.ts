import type { ItemKind } from '../model/pod.js'
import type { Inbox, ListCommit } from '../relist/inbox.js'
import type { FrameReader, FrameWriter } from './frameRing.js'

const Type = { sandbox: 1, container: 2, sandboxGone: 3, containerGone: 4, commit: 5, abort: 6 } as const

/** A commit on the wire: generation, stamp, wallMs, full as four float64. */
const commitFields = 4

/** The lister's end of a shard's inbox. */
export class RingInbox implements Inbox {
  private readonly writer: FrameWriter
  private readonly numbers = new Float64Array(commitFields)
  private readonly numberBytes = new Uint8Array(this.numbers.buffer)

  constructor(writer: FrameWriter) {
    this.writer = writer
  }

  frame(kind: ItemKind, buf: Buffer, start: number, end: number): void {
    this.writer.write(kind === 'sandbox' ? Type.sandbox : Type.container, buf, start, end)
  }

  gone(kind: ItemKind, id: string): void {
    const bytes = Buffer.from(id)
    this.writer.write(kind === 'sandbox' ? Type.sandboxGone : Type.containerGone, bytes, 0, bytes.length)
  }

  commit({ generation, stamp, wallMs, full }: ListCommit): void {
    this.numbers.set([generation, stamp, wallMs, full ? 1 : 0])
    this.writer.write(Type.commit, this.numberBytes, 0, this.numberBytes.length)
    this.writer.flush()
  }

  abort(): void {
    this.writer.write(Type.abort, this.numberBytes, 0, 0)
    this.writer.flush()
  }

  congested(): Promise<void> | undefined {
    return this.writer.congested()
  }

  close(): void {
    this.writer.close()
  }
}

/** The shard's end: hands at most `max` records on, returns how many there were. */
export function readInbox(reader: FrameReader, inbox: Inbox, max: number): number {
  return reader.read((type, bytes, start, end) => {
    const buf = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    switch (type) {
      case Type.sandbox:
        inbox.frame('sandbox', buf, start, end)
        break
      case Type.container:
        inbox.frame('container', buf, start, end)
        break
      case Type.sandboxGone:
        inbox.gone('sandbox', buf.toString('utf8', start, end))
        break
      case Type.containerGone:
        inbox.gone('container', buf.toString('utf8', start, end))
        break
      case Type.commit: {
        // Copied, since a ring does not align its records.
        const numbers = new Float64Array(new Uint8Array(bytes.subarray(start, end)).buffer)
        inbox.commit({ generation: numbers[0]!, stamp: numbers[1]!, wallMs: numbers[2]!, full: numbers[3] === 1 })
        break
      }
      case Type.abort:
        inbox.abort()
        break
    }
  }, max)
}
