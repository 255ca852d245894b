import { Option } from '@commander-js/extra-typings'
import { newestContainers, phaseOf, podListText } from '../../agent/podList.js'
import { type Column, table } from '../../agent/table.js'
import type { CachedPod } from '../../engine/api.js'
import { createRelister } from '../../engine/relister.js'
import { systemClock } from '../../model/clock.js'
import { humanDuration } from '../humanDuration.js'
import { runtimeCommand } from '../runtimeOptions.js'
import { print } from '../stdout.js'
import { withRuntime } from '../withRuntime.js'

function ready({ status }: CachedPod): string {
  const containers = newestContainers(status.containers)
  return `${containers.filter(({ state }) => state === 'running').length}/${containers.length}`
}

function restarts({ status }: CachedPod): number {
  return newestContainers(status.containers).reduce((sum, { attempt }) => sum + attempt, 0)
}

function age({ status }: CachedPod): string {
  const created = status.sandboxes.at(-1)?.createdAt ?? 0n
  return created <= 0n ? '<unknown>' : humanDuration(systemClock.wallMs() - Number(created / 1_000_000n))
}

const columns: readonly Column<CachedPod>[] = [
  { heading: 'NAMESPACE', value: ({ status }) => status.namespace },
  { heading: 'NAME', value: ({ status }) => status.name },
  { heading: 'READY', value: ready },
  { heading: 'STATUS', value: ({ status, error }) => (error === null ? phaseOf(status) : 'InspectFailed') },
  { heading: 'RESTARTS', value: restarts },
  { heading: 'AGE', value: age },
]
const wideColumns: readonly Column<CachedPod>[] = [
  ...columns,
  { heading: 'IP', value: ({ status }) => status.ips[0] ?? '' },
  { heading: 'POD ID', value: ({ status }) => status.sandboxes[0]?.id.slice(0, 13) ?? '' },
  { heading: 'ATTEMPT', value: ({ status }) => status.sandboxes[0]?.attempt ?? '' },
  { heading: 'RUNTIME', value: ({ status }) => status.sandboxes[0]?.runtimeHandler ?? '' },
]

function byName(a: CachedPod, b: CachedPod): number {
  const [left, right] = [a, b].map(({ status }) => `${status.namespace}/${status.name}/${status.uid}`)
  return left === right ? 0 : (left ?? '') < (right ?? '') ? -1 : 1
}

export function podsCommand() {
  return runtimeCommand('pods', 'List the pods that a runtime runs, each inspected once.')
    .addOption(
      new Option('-o, --output <format>', 'json is a v1.PodList')
        .choices(['table', 'wide', 'json'] as const)
        .default('table'),
    )
    .action((flags) =>
      withRuntime(flags, async (runtime) => {
        const relister = createRelister({ runtime })
        try {
          await relister.relist()
          await relister.settled()
          const pods = [...relister.cache.list()].sort(byName)
          if (flags.output === 'json') for await (const text of podListText(pods)) await print(text)
          else await print(table(flags.output === 'wide' ? wideColumns : columns, pods))
        } finally {
          relister.close()
        }
      }),
    )
}
