import { configYaml } from '../../config/load.js'
import { agentOptions, resolveAgentConfig } from '../agentOptions.js'
import { print } from '../stdout.js'

export function agentCommand() {
  return agentOptions().action(async (flags) => {
    const { config } = resolveAgentConfig(flags)
    if (flags.printConfig) return print(configYaml(config))
  })
}
