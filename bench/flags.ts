import { type Command, Option } from '@commander-js/extra-typings'
import { integerArgument } from '../src/cli/options.js'
import { UsageError } from '../src/model/errors.js'
import { presets, readSettings, type Settings } from './settings.js'
import { leastSamples } from './verdict.js'

const numbers = (text: string) => text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
const texts = (text: string) => text.split(',').map((part) => part.trim())

const addFlags = (command: Command) =>
  command
    .description(
      'What a relist costs: plegd, a plain agent and the kubelet, each against a runtime in another process.',
    )
    .addOption(
      new Option('--preset <name>', 'a node of so many pods').choices(Object.keys(presets) as (keyof typeof presets)[]),
    )
    .option('--config <file>', 'the axes below as YAML, by the same names in camelCase')
    .option('--pods <counts>', 'pods; several with commas, as in all axes (default: 110,1000,5000,10000)', numbers)
    .option('--containers <counts>', 'containers of each pod (default: 2)', numbers)
    .option('--dead <counts>', 'dead containers that each one has from the start (default: 0)', numbers)
    .option('--churn <percents>', 'share of the containers that restart before each relist (default: 0,1)', numbers)
    .option('--status-latency <durations>', 'what a status call takes (default: 0)', texts)
    .option('--model <names>', 'status calls at once: independent, lock (one), saturating (eight)', texts)
    .option('--inspect-concurrency <counts>', "plegd's limit of status calls (default: its own)", numbers)
    .option('--shards <counts>', "plegd's shards (default: its own)", numbers)
    .option('--transport <names>', "plegd's transport: h2, grpc (default: its own)", texts)
    .option('--period <duration>', 'pause after each relist (default: 0, back to back)')
    .option('--server <name>', 'sim, or crisim (the program that PLEGD_BENCH_CRISIM names)')
    .option(
      '--contenders <names>',
      'of plegd, floor, plain, kubelet (needs PLEGD_BENCH_KUBELET); default: all there are',
      texts,
    )
    .option('--peers-up-to <pods>', 'plain and kubelet are left out beyond (default: 5000)', Number)
    .option('--laps <count>', 'rounds of each block, each with an idle or churn measurement (default: 5)', Number)
    .option('--seed <number>', 'of the simulated node (default: 1)', Number)
    .option('--micro', 'the parts alone: scanner, table, diff, ring, codec')
    .option('--json <file>', 'write everything there')
    .option('--compare <file>', 'hold this run against one that --json wrote')
    .option('--against <revision>', "measure that git revision's engine too, in turns, and compare")
    .option('--rounds <count>', 'turns of --against (default: 7)', integerArgument(leastSamples, 1000), 7)
    .option('--plot <file>', 'write time against pods as SVG')
    .option(
      '--results [files...]',
      'write bench/RESULTS.md: of this run, or of the runs that --json wrote to these files',
    )
    .option('--keep-kubelet', "write the kubelet's part to bench/peers/kubelet.json")

export const withFlags = addFlags
export type Flags = ReturnType<ReturnType<typeof addFlags>['opts']>

const axes = [
  'pods',
  'containers',
  'dead',
  'churn',
  'statusLatency',
  'model',
  'inspectConcurrency',
  'shards',
  'transport',
  'period',
  'server',
  'contenders',
  'peersUpTo',
  'laps',
  'seed',
] as const

/** @throws UsageError */
export function settingsOf(flags: Flags): Settings {
  const given = Object.fromEntries(axes.flatMap((axis) => (flags[axis] === undefined ? [] : [[axis, flags[axis]]])))
  if (flags.preset !== undefined) {
    if (flags.pods !== undefined) throw new UsageError('--preset and --pods exclude each other')
    given['pods'] = presets[flags.preset]
  }
  const settings = readSettings(given, flags.config)
  const needs = { kubelet: 'PLEGD_BENCH_KUBELET', crisim: 'PLEGD_BENCH_CRISIM' } as const
  for (const name of [...(settings.contenders ?? []), settings.server]) {
    const variable = name in needs ? needs[name as keyof typeof needs] : null
    if (variable !== null && !process.env[variable]) throw new UsageError(`${name} needs ${variable}`)
  }
  return settings
}
