import { writeFileSync } from 'node:fs'
import { Command, CommanderError } from '@commander-js/extra-typings'
import { messageOf, UsageError } from '../src/model/errors.js'
import { type Flags, settingsOf, withFlags } from './flags.js'
import { describeMachine } from './machine.js'
import { plan } from './plan.js'
import { renderReport } from './report/render.js'
import type { Report } from './report/report.js'
import { availableContenders, runBlocks } from './run.js'

async function bench(flags: Flags): Promise<void> {
  const settings = settingsOf(flags)
  const blocks = await runBlocks(plan(settings, availableContenders()))
  const report: Report = { version: 1, machine: describeMachine(), settings, blocks, micro: [] }
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(report, null, 1)}\n`)
  process.stdout.write(renderReport(report))
}

/** 0: done, 1: it failed, 2: it was asked for wrongly. */
async function main(): Promise<void> {
  try {
    const program = withFlags(new Command('bench')).exitOverride()
    await bench(program.parse().opts())
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
    else {
      process.stderr.write(`error: ${messageOf(error)}\n`)
      process.exitCode = error instanceof UsageError ? 2 : 1
    }
  }
}

await main()
