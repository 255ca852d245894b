#!/usr/bin/env node
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { runCli } from './run.js'
import { endQuietlyOnBrokenPipe } from './stdout.js'

/** Loaded when named, or when help lists all: most of a short command's time would go into code of the others. */
const loaders = new Map<string, () => Promise<CommandUnknownOpts>>([
  ['agent', async () => (await import('./commands/agent.js')).agentCommand()],
  ['events', async () => (await import('./commands/events.js')).eventsCommand()],
  ['pods', async () => (await import('./commands/pods.js')).podsCommand()],
  ['relist', async () => (await import('./commands/relist.js')).relistCommand()],
  ['sim', async () => (await import('./commands/sim.js')).simCommand()],
])

endQuietlyOnBrokenPipe()
const args = process.argv.slice(2)
const named = loaders.get(args[0] ?? '')
const needed = named === undefined ? [...loaders.values()] : [named]
process.exitCode = await runCli(args, await Promise.all(needed.map((load) => load())))
