import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

export const root = packageRoot()

/** A file of the folder that real runtimes and their recorded answers are kept in; undefined where it isn't there. */
export function sharedFile(path: string): string | undefined {
  const file = resolve(root, process.env['PLEGD_SHARED'] ?? '../shared', path)
  return existsSync(file) ? file : undefined
}
