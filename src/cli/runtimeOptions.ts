import { Command } from '@commander-js/extra-typings'
import { checkEndpoint } from '../cri/endpoint.js'
import { resolveEndpoint } from './endpoint.js'
import { endpointOption, requestTimeoutOption, transportOption } from './options.js'

/** A command that talks to one runtime and ends. */
export function runtimeCommand(name: string, description: string) {
  return new Command(name)
    .description(description)
    .addOption(endpointOption())
    .addOption(transportOption())
    .addOption(requestTimeoutOption())
}

/** Where the runtime is, once somebody was found listening there. @throws UsageError, EndpointError */
export async function reachableEndpoint(flags: { readonly runtimeEndpoint?: string | undefined }): Promise<string> {
  const endpoint = resolveEndpoint(flags.runtimeEndpoint)
  await checkEndpoint(endpoint)
  return endpoint
}
