import { CriError, GrpcCode } from '../errors.js'
import type { ItemSink, ListReport } from '../runtime.js'
import { ListScanner } from '../wire/list.js'

/** Scanned between two questions to a sink whether it is congested. */
const SLICE_BYTES = 256 * 1024

/** Shows a list's items, one message without prefix, to the sink, and waits where the sink is congested. */
export async function scanList(
  call: string,
  message: Buffer,
  sink: ItemSink,
  signal?: AbortSignal,
): Promise<ListReport> {
  const scanner = new ListScanner(sink, call)
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  scanner.feed(prefix, 0, prefix.length)
  for (let at = 0; at < message.length; ) {
    const window = Math.max(SLICE_BYTES, scanner.needed)
    at += scanner.feed(message, at, Math.min(at + window, message.length))
    const room = sink.congested?.()
    if (room) await roomOrAbort(call, room, signal)
  }
  scanner.finish()
  const { items, bytes, largestMessage } = scanner
  return { items, bytes, largestMessage }
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
