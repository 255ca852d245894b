import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { defaultConfig, type LoadedConfig, loadConfig } from '../config/load.js'
import type { PlegdConfig } from '../config/schema.js'
import { endpointVariable } from './endpoint.js'
import {
  bytesArgument,
  durationArgument,
  endpointOption,
  integerArgument,
  requestTimeoutOption,
  transportOption,
} from './options.js'

function httpAddressArgument(text: string): { address: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? []
  const address = bracketed ?? plain
  if (address === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('expected address:port, such as 127.0.0.1:10248')
  if (address !== 'localhost' && isIP(address) === 0) throw new InvalidArgumentError(`${address} is not an IP address`)
  return { address, port: Number(port) }
}

/** The agent's command with its options, but without what it does. */
export function agentOptions() {
  return new Command('agent')
    .description(
      'Relist a runtime, log what changes, serve health and metrics. Only observes. Without an endpoint: an embedded simulated node.',
    )
    .addOption(endpointOption())
    .option('--config <file>', 'PlegdConfiguration, or an existing KubeletConfiguration; flags beat it')
    .option('--print-config', 'print the configuration in force, and end')
    .addOption(
      new Option(
        '--http-address <address:port>',
        'where to serve HTTP, loopback only (default: 127.0.0.1:10248)',
      ).argParser(httpAddressArgument),
    )
    .addOption(
      new Option('--pleg-relist-period <duration>', 'pause between two relists (default: 1s)').argParser(
        durationArgument(1),
      ),
    )
    .addOption(
      new Option(
        '--pleg-relist-threshold <duration>',
        'age of the last good list beyond which PLEG is not healthy (default: 3m0s)',
      ).argParser(durationArgument(1)),
    )
    .addOption(
      new Option('--pleg-channel-capacity <count>', 'events held for the syncLoop (default: 1000)').argParser(
        integerArgument(1, 1_000_000),
      ),
    )
    .addOption(
      new Option('--pleg-channel-overflow <rule>', 'when the channel is full (default: sync)').choices([
        'sync',
        'discard',
      ] as const),
    )
    .addOption(
      new Option('--shards <count>', 'shard threads (default: from the cores)').argParser(integerArgument(1, 64)),
    )
    .addOption(
      new Option(
        '--inspect-concurrency <count>',
        'status calls in flight, all shards together (default: 64)',
      ).argParser(integerArgument(1, 1_024)),
    )
    .addOption(transportOption())
    .addOption(requestTimeoutOption())
    .addOption(
      new Option(
        '--message-warn-size <size>',
        "size that a list's messages are held against (default: 16Mi)",
      ).argParser(bytesArgument),
    )
    .addOption(
      new Option('--housekeeping-period <duration>', 'pause between two housekeeping passes (default: 2s)').argParser(
        durationArgument(100),
      ),
    )
    .option('--hostname-override <name>', "the node's name in kubelet_node_name (default: the host name)")
    .addOption(new Option('--logging-format <format>', 'how to log (default: text)').choices(['text', 'json'] as const))
    .addOption(new Option('--v <level>', 'verbosity of logs, 0 to 10 (default: 2)').argParser(integerArgument(0, 10)))
}

export type AgentFlags = ReturnType<ReturnType<typeof agentOptions>['opts']>

function given<Value extends object>(values: { [Key in keyof Value]?: Value[Key] | undefined }): Partial<Value> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Value>
}

/** Flags beat the environment, the environment beats the file. @throws UsageError */
export function resolveAgentConfig(flags: AgentFlags, env: NodeJS.ProcessEnv = process.env): LoadedConfig {
  const { config, notices }: LoadedConfig =
    flags.config === undefined ? { config: defaultConfig(), notices: [] } : loadConfig(flags.config)
  const over = given<PlegdConfig>({
    containerRuntimeEndpoint: flags.runtimeEndpoint ?? (env[endpointVariable] || undefined),
    runtimeTransport: flags.transport,
    runtimeRequestTimeout: flags.runtimeRequestTimeout,
    nodeName: flags.hostnameOverride ?? (config.nodeName === '' ? env['NODE_NAME'] || hostname() : undefined),
    plegRelistPeriod: flags.plegRelistPeriod,
    plegRelistThreshold: flags.plegRelistThreshold,
    plegChannelCapacity: flags.plegChannelCapacity,
    plegChannelOverflow: flags.plegChannelOverflow,
    shards: flags.shards,
    inspectConcurrency: flags.inspectConcurrency,
    messageWarnSize: flags.messageWarnSize,
    housekeepingPeriod: flags.housekeepingPeriod,
    healthzBindAddress: flags.httpAddress?.address,
    healthzPort: flags.httpAddress?.port,
  })
  const logging = {
    ...config.logging,
    ...given<PlegdConfig['logging']>({ format: flags.loggingFormat, verbosity: flags.v }),
  }
  return { config: { ...config, ...over, logging }, notices }
}
