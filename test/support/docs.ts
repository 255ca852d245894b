import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** The package's root, seen from dist/test/support/. */
export const packageRoot = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * Holds the part of a page between `<!-- name: begin -->` and `<!-- name: end -->` against what the code says.
 * UPDATE_DOCS=1 writes it instead.
 */
export function expectDocPart(page: string, name: string, expected: string): void {
  const path = `${packageRoot}docs/${page}`
  const text = readFileSync(path, 'utf8')
  const begin = `<!-- ${name}: begin -->\n`
  const end = `<!-- ${name}: end -->`
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(end)
  if (from < begin.length || to < from) throw new Error(`${page} has no part ${name}`)
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, `${text.slice(0, from)}${expected}${text.slice(to)}`)
  else expect(text.slice(from, to), `${page} is stale: run the unit tests with UPDATE_DOCS=1`).toBe(expected)
}
