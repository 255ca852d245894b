import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf, UsageError } from '../src/model/errors.js'
import type { Block, BlockSpec } from './block.js'
import { cleanUp } from './cleanup.js'
import { packageRoot } from './machine.js'
import { ownEngine, runBlock } from './runBlock.js'
import { blockId } from './summary.js'

export interface Pair {
  readonly before: Block
  readonly after: Block
}

/**
 * Measures the engine of a git revision against this one's, A B A B, on the same blocks. The bench itself is this
 * build's on both sides, so that only the engine differs. A round gives one lap of each.
 */
export async function runAgainst(revision: string, specs: readonly BlockSpec[], rounds: number): Promise<Pair[]> {
  const commit = resolve(revision)
  const tree = mkdtempSync(join(tmpdir(), 'plegd-against-'))
  const clean = cleanUp(() => {
    git('worktree', 'remove', '--force', tree)
    rmSync(tree, { recursive: true, force: true })
  })
  try {
    process.stderr.write(`building ${revision} (${commit.slice(0, 12)})\n`)
    const engineFile = build(commit, tree)
    const pairs: Pair[] = []
    for (const spec of specs) {
      const laps: Record<'before' | 'after', Block[]> = { before: [], after: [] }
      for (let round = 0; round < rounds; round++) {
        process.stderr.write(`${blockId(spec)}, round ${round + 1} of ${rounds}\n`)
        laps.before.push(await runBlock(spec, engineFile))
        laps.after.push(await runBlock(spec, ownEngine))
      }
      pairs.push({ before: joined(laps.before), after: joined(laps.after) })
    }
    return pairs
  } finally {
    clean()
  }
}

function resolve(revision: string): string {
  try {
    return git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`)
  } catch {
    throw new UsageError(`no such revision: ${revision}`)
  }
}

/** The compiled engine of the revision. Its dependencies are ours where the lock files are the same. */
function build(commit: string, tree: string): string {
  git('worktree', 'add', '--detach', '--force', tree, commit)
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: tree, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    if (lock(tree) === lock(packageRoot)) symlinkSync(join(packageRoot, 'node_modules'), join(tree, 'node_modules'))
    else run('npm', 'ci', '--ignore-scripts')
    run(join(tree, 'node_modules/.bin/tsc'), '-p', '.')
  } catch (error) {
    throw new Error(`cannot build ${commit}: ${messageOf(error)}`)
  }
  return join(tree, 'dist/src/engine/engine.js')
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: packageRoot, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

function joined(blocks: readonly Block[]): Block {
  const [first] = blocks
  return { spec: first!.spec, result: { ...first!.result, laps: blocks.flatMap(({ result }) => result.laps) } }
}
