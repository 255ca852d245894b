import { connectHot } from '../src/cri/connect.js'
import { systemClock } from '../src/model/clock.js'
import type { ShardCommand, ShardMessage } from '../src/relist/messages.js'
import { Shard } from '../src/relist/shard.js'
import { Doorbell } from '../src/ring/doorbell.js'
import { FrameReader, FrameWriter } from '../src/ring/frameRing.js'
import { readInbox } from '../src/ring/inboxRing.js'
import { watchLoopDelay } from '../src/ring/loopDelay.js'
import { MessageReader, MessageWriter } from '../src/ring/messageRing.js'
import { RingReader, RingWriter } from '../src/ring/ring.js'
import { ThreadCounters } from '../src/ring/threadCounters.js'
import type { ShardTask, WorkerControl } from './protocol.js'

/** Records handled before the sockets of the inspections get their turn. */
const batch = 512
/**
 * While more answers are under way results are gathered: waking a sleeping thread costs 0.1 ms on a VM. For longer where
 * so many pods wait that nobody notices, as at a start.
 */
const gatherMs = 1
const gatherManyMs = 5
const manyQueued = 64
/** The bell wakes the loop; this is only the net below it. */
const idleMs = 1000

/** Works through its inbox until it is told to stop. Nothing is read from it before the last seed is in. */
export default async function run(task: ShardTask): Promise<void> {
  const { endpoint, transport, requestTimeoutMs } = task.runtime
  const runtime = await connectHot(endpoint, { transport, deadlineMs: requestTimeoutMs })
  const counters = new ThreadCounters(task.counters, systemClock)
  const unwatch = watchLoopDelay(counters)
  const bell = new Doorbell(task.bell)
  const mainBell = new Doorbell(task.mainBell)
  const outbox = new MessageWriter<ShardMessage>(new FrameWriter(new RingWriter(task.outbox, mainBell), bell))
  const inbox = new FrameReader(new RingReader(task.inbox, new Doorbell(task.listerBell)))
  const commands = new MessageReader<ShardCommand>(new FrameReader(new RingReader(task.commands, mainBell)))
  const shard = new Shard({
    runtime,
    clock: systemClock,
    calls: counters,
    inspectConcurrency: task.inspectConcurrency,
    publish: (message) => {
      outbox.post(message)
      flushSoon()
    },
    ready: () => outbox.congested() === undefined,
  })
  let flushing = false
  const flush = () => {
    flushing = false
    outbox.flush()
  }
  const flushSoon = () => {
    if (flushing) return
    flushing = true
    if (shard.busy) setTimeout(flush, shard.queued > manyQueued ? gatherManyMs : gatherMs)
    else setImmediate(flush)
  }
  let stopping = false
  task.control.on('message', (message: WorkerControl) => {
    if (message.t !== 'stop') return
    stopping = true
    outbox.close()
    bell.ring()
  })

  let seeded = false
  while (!stopping) {
    await outbox.congested()
    let handled = commands.read((command) => {
      if (command.t === 'seeded') seeded = true
      else shard.command(command)
    }, batch)
    if (seeded) handled += readInbox(inbox, shard, batch)
    shard.pump()
    if (handled === 0) await bell.wait(idleMs)
    else await new Promise(setImmediate)
  }
  shard.close()
  unwatch()
  await runtime.close()
  task.control.close()
}
