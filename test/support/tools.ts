import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { sharedPath } from './paths.js'

const run = promisify(execFile)

/** True where the programs that judge us from outside can't be built; why has been printed. */
export const noTools = !existsSync(sharedPath('tools', 'build.sh'))
if (noTools) console.warn(`tests with tools from outside are skipped: no ${sharedPath('tools')}: set PLEGD_SHARED`)

/** The folder that holds the named programs; builds them once per machine, which takes minutes. */
export async function toolsFolder(...names: string[]): Promise<string> {
  const { stdout } = await run(sharedPath('tools', 'build.sh'), names, { timeout: 290_000 })
  return stdout.trim()
}
