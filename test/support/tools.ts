import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sharedFile } from './shared.js'

const run = promisify(execFile)

/** True where the programs that judge us from outside can't be built; why has been printed. */
export const noTools = sharedFile('tools/build.sh') === undefined
if (noTools) console.warn('tests with tools from outside are skipped: no tools in $PLEGD_SHARED (default ../shared)')

/** The folder that holds the named programs; builds them once per machine, which takes minutes. */
export async function toolsFolder(...names: string[]): Promise<string> {
  const { stdout } = await run(sharedFile('tools/build.sh') ?? 'build.sh', names, { timeout: 290_000 })
  return stdout.trim()
}
