import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from '@commander-js/extra-typings'
import { messageOf, UsageError } from '../src/model/errors.js'
import { runAgainst } from './against.js'
import type { Block } from './block.js'
import { endBySignal } from './cleanup.js'
import { compareReports, comparisonSection } from './comparison.js'
import { type Flags, settingsOf, withFlags } from './flags.js'
import { describeMachine, packageRoot } from './machine.js'
import { runAllMicro } from './micro/all.js'
import { keepKubelet, keptKubelet } from './peers/kept.js'
import { plan } from './plan.js'
import { plot, seriesOf } from './plot.js'
import { renderMarkdown, renderReport, renderSections } from './report/render.js'
import { isReport, merged, type Report } from './report/report.js'
import { availableContenders, runBlocks } from './run.js'
import type { Settings } from './settings.js'
import { sameLoad } from './summary.js'

async function bench(flags: Flags): Promise<void> {
  const settings = settingsOf(flags)
  const earlier = flags.compare === undefined ? null : readReport(flags.compare)
  if (flags.against !== undefined) return against(flags.against, settings, flags)
  if (Array.isArray(flags.results)) return show(merged(flags.results.map(readReport)), flags)
  const micro = flags.micro || flags.results ? await runAllMicro() : []
  const measured = flags.micro ? [] : await runBlocks(plan(settings, availableContenders()))
  const report: Report = { version: 1, machine: describeMachine(), settings, blocks: measured, micro }
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(report, null, 1)}\n`)
  if (flags.keepKubelet) keepKubelet(report.machine, measured)
  show(report, flags)
  if (earlier !== null)
    process.stdout.write(`\n${renderSections([comparisonSection(compareReports(earlier, report))])}`)
}

/** On stdout, and wherever else it was asked for. */
function show(report: Report, { results, plot: picture }: Flags): void {
  const shown = { ...report, blocks: withKept(report.blocks) }
  if (results) writeFileSync(join(packageRoot, 'bench/RESULTS.md'), renderMarkdown(shown))
  if (picture !== undefined) writeFileSync(picture, plotOf(shown.blocks))
  process.stdout.write(renderReport(shown))
}

/** Only what one engine can be told from another by. */
async function against(revision: string, settings: Settings, { rounds, json }: Flags): Promise<void> {
  const specs = plan({ ...settings, laps: 1, contenders: ['plegd'] }, ['plegd']).filter(({ kind }) => kind !== 'cold')
  const pairs = await runAgainst(revision, specs, rounds)
  const [before, after] = (['before', 'after'] as const).map((side) => ({
    blocks: pairs.map((pair) => pair[side]),
    micro: [],
  }))
  const rows = compareReports(before!, after!)
  const report = { version: 1, machine: describeMachine(), settings, against: revision, before, after, rows }
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 1)}\n`)
  process.stdout.write(renderSections([comparisonSection(rows)]))
}

/** The kubelet's kept blocks beside a run that has none of its own, at the sizes of the run. */
function withKept(measured: readonly Block[]): Block[] {
  if (measured.some(({ spec }) => spec.contender === 'kubelet')) return [...measured]
  const beside = keptKubelet().filter((kept) => measured.some(({ spec }) => sameLoad(spec, kept.spec)))
  return [...measured, ...beside].sort((a, b) => a.spec.pods - b.spec.pods)
}

function plotOf(blocks: readonly Block[]): string {
  const kind = blocks.some(({ spec }) => spec.kind === 'churn') ? 'churn' : 'idle'
  const what = kind === 'churn' ? 'A relist after 1 % of the containers restarted' : 'A relist of an idle node'
  return plot(`${what}, median`, seriesOf(blocks, kind))
}

function readReport(path: string): Report {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error)}`)
  }
  if (!isReport(value)) throw new UsageError(`${path}: not a run that --json wrote`)
  return value
}

/** 0: done, 1: it failed, 2: it was asked for wrongly. */
async function main(): Promise<void> {
  endBySignal()
  try {
    const program = withFlags(new Command('bench'))
      .exitOverride()
      .configureOutput({ outputError: (text, write) => write(`${text.trim().replace(/\s*\n\s*/g, ' ')}\n`) })
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
