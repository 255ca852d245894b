import { Option } from '@commander-js/extra-typings'
import { streamRow } from '../../agent/table.js'
import { createEngine } from '../../engine/engine.js'
import { sleep } from '../../model/clock.js'
import type { PodLifecycleEvent } from '../../model/event.js'
import { createLogger, stderrDestination } from '../../telemetry/logger.js'
import { durationArgument } from '../options.js'
import { reachableEndpoint, runtimeCommand } from '../runtimeOptions.js'
import { abortOnSignals, endMs } from '../signals.js'
import { print } from '../stdout.js'

/** One event as programs read it. Members that have no value are left out. */
export function eventObject({ type, pod, kind, id, name, exitCode, time }: PodLifecycleEvent) {
  return {
    type,
    pod: { uid: pod.uid, namespace: pod.namespace, name: pod.name },
    kind: type === 'PodSync' ? undefined : kind,
    id: id || undefined,
    container: kind === 'container' && name !== '' ? name : undefined,
    exitCode,
    time: new Date(time).toISOString(),
  }
}

const columns = [
  { heading: 'TIME', width: 24, value: ({ time }: PodLifecycleEvent) => new Date(time).toISOString() },
  { heading: 'TYPE', width: 16, value: ({ type }: PodLifecycleEvent) => type },
  { heading: 'POD', width: 40, value: ({ pod }: PodLifecycleEvent) => `${pod.namespace}/${pod.name}` },
  { heading: 'CONTAINER', width: 16, value: ({ kind, name }: PodLifecycleEvent) => (kind === 'container' ? name : '') },
  { heading: 'ID', width: 13, value: ({ id }: PodLifecycleEvent) => id.slice(0, 13) },
  { heading: 'EXIT CODE', width: 9, value: ({ exitCode }: PodLifecycleEvent) => exitCode ?? '' },
]

export function eventsCommand() {
  return runtimeCommand('events', 'Print lifecycle events of pods as they come, those of what runs already first.')
    .addOption(
      new Option('-o, --output <format>', 'json is one object a line')
        .choices(['table', 'json'] as const)
        .default('table'),
    )
    .addOption(
      new Option('--for <duration>', 'end after so long (default: when interrupted)').argParser(durationArgument()),
    )
    .action(async (flags) => {
      const endpoint = await reachableEndpoint(flags)
      const logger = createLogger({ format: 'text', verbosity: 0 }, stderrDestination())
      const engine = createEngine({
        endpoint,
        logger,
        ...(flags.transport === undefined ? {} : { transport: flags.transport }),
        ...(flags.runtimeRequestTimeout === undefined ? {} : { runtimeRequestTimeoutMs: flags.runtimeRequestTimeout }),
      })
      const controller = abortOnSignals(endMs)
      const { signal } = controller
      signal.addEventListener('abort', () => void engine.stop(), { once: true })
      if (flags.for !== undefined) void sleep(engine.clock, flags.for, signal).then(() => controller.abort())
      try {
        await engine.start()
        if (flags.output === 'table') await print(streamRow(columns, 'headings'))
        for await (const event of engine.events()) {
          await print(flags.output === 'json' ? `${JSON.stringify(eventObject(event))}\n` : streamRow(columns, event))
        }
      } finally {
        await engine.stop()
      }
    })
}
