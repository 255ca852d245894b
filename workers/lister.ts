import { connectHot } from '../src/cri/connect.js'
import { sleep, systemClock } from '../src/model/clock.js'
import { messageOf } from '../src/model/errors.js'
import { Lister } from '../src/relist/lister.js'
import { Doorbell } from '../src/ring/doorbell.js'
import { FrameWriter } from '../src/ring/frameRing.js'
import { RingInbox } from '../src/ring/inboxRing.js'
import { watchLoopDelay } from '../src/ring/loopDelay.js'
import { RingWriter } from '../src/ring/ring.js'
import { ThreadCounters } from '../src/ring/threadCounters.js'
import type { InboxHandle, ListerReport, ListerTask, WorkerControl } from './protocol.js'

/** Relists until it is told to stop: one relist, then a pause of one period, as the kubelet's timer does. */
export default async function run(task: ListerTask): Promise<void> {
  const { endpoint, transport, requestTimeoutMs } = task.runtime
  const runtime = await connectHot(endpoint, { transport, deadlineMs: requestTimeoutMs })
  const counters = new ThreadCounters(task.counters, systemClock)
  const unwatch = watchLoopDelay(counters)
  const bell = new Doorbell(task.bell)
  const inboxOf = ({ ring, bell: shardBell }: InboxHandle) => {
    return new RingInbox(new FrameWriter(new RingWriter(ring, new Doorbell(shardBell)), bell))
  }
  const lister = new Lister({ runtime, clock: systemClock, calls: counters, inboxes: task.inboxes.map(inboxOf) })
  const stopping = new AbortController()
  task.control.on('message', (message: WorkerControl) => {
    if (message.t === 'stop') stopping.abort()
    else lister.attach(message.shard, inboxOf(message.inbox))
  })
  const report = (message: ListerReport) => task.control.postMessage(message)

  while (!stopping.signal.aborted) {
    const start = systemClock.now()
    counters.set('relistStartedAt', start)
    try {
      const pass = await lister.relist(stopping.signal)
      counters.set('lastSeenAt', pass.stamp)
      report({ t: 'pass', pass })
    } catch (error) {
      if (!stopping.signal.aborted) report({ t: 'failed', message: messageOf(error), ms: systemClock.now() - start })
    }
    counters.set('relistStartedAt', 0)
    await sleep(systemClock, task.relistPeriodMs, stopping.signal)
  }
  unwatch()
  await runtime.close()
  task.control.close()
}
