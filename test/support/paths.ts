import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The package's folder, seen from dist/test/support. */
export const packageRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** The folder with the scripts of the real runtimes and the tools' builds: PLEGD_SHARED, else ../shared beside the package. */
const sharedFolder = resolve(packageRoot, process.env['PLEGD_SHARED'] ?? '../shared')

export function sharedPath(...parts: string[]): string {
  return resolve(sharedFolder, ...parts)
}

function whyNoRealRuntime(): string | undefined {
  if (!existsSync(sharedPath('runtime'))) return `no ${sharedPath('runtime')}: set PLEGD_SHARED`
  if (process.getuid?.() !== 0) return 'they need root'
  return undefined
}

const reason = whyNoRealRuntime()
if (reason !== undefined) console.warn(`tests of real runtimes are skipped: ${reason}`)

/** True where real runtimes can't be started; why has been printed. */
export const noRealRuntime = reason !== undefined
