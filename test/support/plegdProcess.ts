import { type ChildProcess, spawn } from 'node:child_process'
import { packageRoot } from './docs.js'

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A `plegd` of its own process, as a user runs it. */
export interface PlegdProcess {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** What it has written so far. */
  readonly output: { stdout: string; stderr: string }
}

/** Starts `plegd args…` with nothing in its environment but PATH, HOME and `env`. */
export function startPlegd(args: readonly string[], env: NodeJS.ProcessEnv = {}): PlegdProcess {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [`${packageRoot}dist/src/cli/main.js`, ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...output })))
  return { child, ended, output }
}
