#!/usr/bin/env node
import { agentCommand } from './commands/agent.js'
import { simCommand } from './commands/sim.js'
import { runCli } from './run.js'
import { endQuietlyOnBrokenPipe } from './stdout.js'

endQuietlyOnBrokenPipe()
process.exitCode = await runCli(process.argv.slice(2), [agentCommand(), simCommand()])
