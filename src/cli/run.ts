import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings'
import { messageOf, UsageError } from '../model/errors.js'
import { packageVersion } from './version.js'

/** 0: done, 1: it failed, 2: it was asked for wrongly. */
export type ExitCode = 0 | 1 | 2

const oneLine = (text: string) => text.trim().replace(/\s*\n\s*/g, ' ')

function buildProgram(commands: readonly CommandUnknownOpts[]): Command {
  const program = new Command('plegd')
    .description(
      'Keeps Kubernetes nodes with thousands of pods healthy: relists a container runtime, tells what changed and what holds it up.',
    )
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)}\n`) })
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program))
  return program
}

/**
 * Runs one command line. What goes wrong is one line on stderr.
 * Data goes to stdout, all else to stderr.
 */
export async function runCli(args: readonly string[], commands: readonly CommandUnknownOpts[]): Promise<ExitCode> {
  try {
    await buildProgram(commands).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has written its own line already; help and version are no errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`error: ${oneLine(messageOf(error))}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
