import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sharedFile } from './shared.js'

const run = promisify(execFile)

const reason =
  sharedFile('runtime') === undefined
    ? 'no folder of runtimes in $PLEGD_SHARED (default ../shared)'
    : process.getuid?.() !== 0
      ? 'they need root'
      : undefined
if (reason !== undefined) console.warn(`tests of real runtimes are skipped: ${reason}`)

/** True where real runtimes can't be started; why has been printed. */
export const noRealRuntime = reason !== undefined

/** A real runtime as the start scripts know it. `daemons` in the order in which a crash test kills them. */
interface RuntimeKind {
  readonly name: string
  readonly script: 'containerd' | 'crio' | 'cri-dockerd'
  readonly options: readonly string[]
  readonly daemons: readonly string[]
}

const containerd = (name: string, suite: string): RuntimeKind => ({
  name,
  script: 'containerd',
  options: ['--suite', suite],
  daemons: ['containerd'],
})

export const containerd21 = containerd('containerd 2.1', 'sid')

const runtimeKinds: readonly RuntimeKind[] = [
  containerd('containerd 1.6', 'bookworm'),
  containerd('containerd 1.7', 'trixie'),
  containerd21,
  { name: 'CRI-O 1.37', script: 'crio', options: [], daemons: ['crio'] },
  { name: 'cri-dockerd 0.4', script: 'cri-dockerd', options: [], daemons: ['cri-dockerd', 'dockerd'] },
]

/** As `describe.each` takes them: name, kind. */
export const eachRuntime = runtimeKinds.map((kind) => [kind.name, kind] as const)

/** A real runtime on a socket of its own, in a folder of its own. What it started ends with `stop`, or with this process. */
export class RealRuntime {
  readonly kind: RuntimeKind
  readonly folder: string
  readonly socket: string
  readonly endpoint: string

  private constructor(kind: RuntimeKind) {
    this.kind = kind
    this.folder = mkdtempSync(join(tmpdir(), 'plegd-e2e-'))
    this.socket = join(this.folder, 'rt.sock')
    this.endpoint = `unix://${this.socket}`
  }

  static async start(kind: RuntimeKind): Promise<RealRuntime> {
    const runtime = new RealRuntime(kind)
    process.once('exit', runtime.#stopNow)
    try {
      await runtime.startAgain()
    } catch (error) {
      await runtime.stop().catch(() => undefined)
      throw error
    }
    return runtime
  }

  /** Starts what is down, on the same state. */
  async startAgain(): Promise<void> {
    await this.#script('start', this.kind.options)
  }

  /** Kills one daemon; its containers stay. */
  async kill(daemon: string): Promise<void> {
    await this.#script('stop', [`--${daemon}-only`, 'KILL'])
  }

  /** Makes a daemon hang, with its socket open. */
  freeze(daemon: string): void {
    process.kill(this.#pidOf(daemon), 'SIGSTOP')
  }

  /** Its parent, nsenter, stops with its child; left so, it would never reap it. */
  thaw(daemon: string): void {
    const pid = this.#pidOf(daemon)
    const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]
    for (const each of [Number(parent), pid]) process.kill(each, 'SIGCONT')
  }

  async stop(): Promise<void> {
    process.removeListener('exit', this.#stopNow)
    await this.#script('stop')
    rmSync(this.folder, { recursive: true, force: true })
  }

  readonly #stopNow = (): void => {
    if (existsSync(this.folder)) spawnSync(this.#path('stop'), [this.socket])
    rmSync(this.folder, { recursive: true, force: true })
  }

  #pidOf(daemon: string): number {
    return Number(readFileSync(`${this.socket}.d/${daemon}.pid`, 'utf8'))
  }

  #path(verb: 'start' | 'stop'): string {
    const name = `runtime/${verb}-${this.kind.script}.sh`
    return sharedFile(name) ?? name
  }

  async #script(verb: 'start' | 'stop', options: readonly string[] = []): Promise<void> {
    try {
      await run(this.#path(verb), [this.socket, ...options], { timeout: 240_000 })
    } catch (error) {
      const { stderr } = error as { stderr?: string }
      throw new Error(`${verb} ${this.kind.name}: ${stderr ?? String(error)}`, { cause: error })
    }
  }
}
