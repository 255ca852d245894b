import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sharedPath } from './paths.js'

const run = promisify(execFile)

let binary: Promise<string> | undefined

async function crictlPath(): Promise<string> {
  // Builds it once per machine; minutes, if nobody did before.
  const { stdout } = await run(sharedPath('tools', 'build.sh'), ['crictl'], { timeout: 280_000 })
  return `${stdout.trim()}/crictl`
}

async function crictl(endpoint: string, verb: string, ...args: string[]): Promise<unknown> {
  binary ??= crictlPath()
  const options = ['--config', '/dev/null', '--runtime-endpoint', endpoint, '--timeout', '30s']
  const { stdout } = await run(await binary, [...options, verb, '-o', 'json', ...args], { maxBuffer: 64 << 20 })
  return JSON.parse(stdout)
}

/** What an independent client says of one container. */
export interface JudgedContainer {
  readonly id: string
  readonly state: string
  readonly exitCode: number
}

/** Every container of the runtime, by crictl's word. */
export async function judgedContainers(endpoint: string): Promise<JudgedContainer[]> {
  const { containers } = (await crictl(endpoint, 'ps', '-a')) as { containers: { id: string }[] }
  const judged: JudgedContainer[] = []
  for (const { id } of containers) {
    const { status } = (await crictl(endpoint, 'inspect', id)) as { status: { state: string; exitCode?: number } }
    judged.push({ id, state: status.state, exitCode: status.exitCode ?? 0 })
  }
  return judged
}

/** Every sandbox of the runtime and its state, by crictl's word. */
export async function judgedSandboxes(endpoint: string): Promise<{ id: string; state: string }[]> {
  const { items } = (await crictl(endpoint, 'pods')) as { items: { id: string; state: string }[] }
  return items.map(({ id, state }) => ({ id, state }))
}
