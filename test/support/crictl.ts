import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toolsFolder } from './tools.js'

const run = promisify(execFile)

async function crictl(endpoint: string, verb: string, ...args: string[]): Promise<unknown> {
  const options = ['--config', '/dev/null', '--runtime-endpoint', endpoint, '--timeout', '30s']
  const { stdout } = await run(join(await toolsFolder('crictl'), 'crictl'), [...options, verb, '-o', 'json', ...args], {
    maxBuffer: 64 << 20,
  })
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
