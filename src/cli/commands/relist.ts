import { Option } from '@commander-js/extra-typings'
import { table } from '../../agent/table.js'
import type { RelistReport } from '../../engine/api.js'
import { createRelister, type Relister } from '../../engine/relister.js'
import { systemClock } from '../../model/clock.js'
import { type CallTimes, timeCalls } from '../callTimes.js'
import { runtimeCommand } from '../runtimeOptions.js'
import { print } from '../stdout.js'
import { withRuntime } from '../withRuntime.js'

type Pass = RelistReport & { readonly inspectMs: number; readonly events: number }

async function relistOnce(relister: Relister): Promise<Pass> {
  const report = await relister.relist()
  const listed = systemClock.now()
  await relister.settled()
  return { ...report, inspectMs: systemClock.now() - listed, events: relister.takeEvents().length }
}

const ms = (value: number) => `${value.toFixed(1)}ms`

function text(first: Pass, steady: Pass, calls: readonly CallTimes[]): string {
  const rows: readonly (readonly [string, (pass: Pass) => string | number])[] = [
    ['list sandboxes', (pass) => ms(pass.listSandboxesMs)],
    ['list containers', (pass) => ms(pass.listContainersMs)],
    ['relist, both lists side by side', (pass) => ms(pass.relistMs)],
    ['inspect what changed', (pass) => ms(pass.inspectMs)],
    ['sandboxes came', (pass) => pass.sandboxMode],
    ['containers came', (pass) => pass.containerMode],
    ['sandboxes', (pass) => pass.sandboxes],
    ['containers', (pass) => pass.containers],
    ['changed', (pass) => pass.changed],
    ['events', (pass) => pass.events],
    ['bytes listed', (pass) => pass.bytes],
    ['largest message, bytes', (pass) => pass.largestMessage],
  ]
  const phases = table(
    [
      { heading: 'RELIST', value: ([name]) => name },
      { heading: 'FIRST', value: ([, value]) => value(first) },
      { heading: 'STEADY', value: ([, value]) => value(steady) },
    ],
    rows,
  )
  const perCall = table(
    [
      { heading: 'CALL', value: ({ call }) => call },
      { heading: 'COUNT', value: ({ count }) => count },
      { heading: 'ERRORS', value: ({ errors }) => errors },
      { heading: 'MEAN', value: ({ totalMs, count }) => (count === 0 ? '' : ms(totalMs / count)) },
      { heading: 'MAX', value: ({ maxMs, count }) => (count === 0 ? '' : ms(maxMs)) },
    ],
    calls,
  )
  return `${phases}\n${perCall}`
}

export function relistCommand() {
  return runtimeCommand('relist', 'Relist once from nothing and once more, and tell what each took, by phase and call.')
    .addOption(
      new Option('-o, --output <format>', 'how to print it').choices(['table', 'json'] as const).default('table'),
    )
    .action((flags) =>
      withRuntime(flags, async (connected) => {
        const { runtime, calls } = timeCalls(connected, systemClock)
        const relister = createRelister({ runtime, channelCapacity: 1_000_000 })
        try {
          const first = await relistOnce(relister)
          const steady = await relistOnce(relister)
          const json = () => `${JSON.stringify({ endpoint: runtime.endpoint, first, steady, calls }, null, 2)}\n`
          await print(flags.output === 'json' ? json() : text(first, steady, calls))
        } finally {
          relister.close()
        }
      }),
    )
}
