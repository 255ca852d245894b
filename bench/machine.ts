import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

/** Where and of what a run was made. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryMiB: number
  readonly kernel: string
  readonly node: string
  readonly commit: string
  readonly date: string
}

export const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

export function describeMachine(): Machine {
  const cores = cpus()
  return {
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.version,
    commit: commit(),
    date: new Date().toISOString(),
  }
}

/** `-dirty` where the tree differs from it; `unknown` where there is no git. */
function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
      cwd: packageRoot,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}
