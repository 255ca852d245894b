import { Command } from '@commander-js/extra-typings'
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

/** Where the runtime is. @throws UsageError */
export async function reachableEndpoint(flags: { readonly runtimeEndpoint?: string | undefined }): Promise<string> {
  return resolveEndpoint(flags.runtimeEndpoint)
}
