import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { root } from './shared.js'

const main = join(root, 'dist', 'src', 'cli', 'main.js')

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built CLI to its end. */
export function plegd(...args: string[]): Promise<Finished> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { timeout: 60_000, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, stdout, stderr })
    })
  })
}

/** The built CLI as a process that goes on until it is told to end. */
export class PlegdProcess {
  readonly lines: string[] = []
  stderr = ''
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #closed: Promise<unknown[]>

  constructor(...args: string[]) {
    this.#child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#closed = once(this.#child, 'close')
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.lines.push(line))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    process.once('exit', this.#killNow)
  }

  /** SIGTERM, and how it ended: its exit code, or the signal that ended it. */
  async end(): Promise<number | NodeJS.Signals> {
    this.#child.kill('SIGTERM')
    const [code, signal] = (await this.#closed) as [number | null, NodeJS.Signals | null]
    process.removeListener('exit', this.#killNow)
    return code ?? signal ?? 'SIGKILL'
  }

  /** Fails when the process has ended. */
  mustRun(): void {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null)
      throw new Error(`plegd ended: ${exitCode ?? signalCode}\n${this.stderr}`)
  }

  readonly #killNow = (): void => {
    this.#child.kill('SIGKILL')
  }
}
