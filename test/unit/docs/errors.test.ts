import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../support/docs.js'

/** Codes that leave no process: they become a CRI_ code before anybody sees them. */
const internal = ['HTTP2_PROTOCOL']

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
}

/** The codes that are handed to an error's constructor, or named in the type of its codes. */
function codesInSource(): Set<string> {
  const codes = new Set<string>()
  for (const text of sources(join(packageRoot, 'src'))) {
    for (const [declaration] of text.matchAll(/type \w*ErrorCode =[^\n]*(?:\n +\|[^\n]*)*/g)) {
      for (const [, code] of declaration.matchAll(/'([A-Z0-9_]+)'/g)) codes.add(code!)
    }
    for (const [, code] of text.matchAll(/(?:new PlegdError|super)\(\s*'([A-Z0-9_]+)'/g)) codes.add(code!)
  }
  for (const code of internal) codes.delete(code)
  return codes
}

describe('docs/errors.md', () => {
  it('has every code, and no other', () => {
    const doc = readFileSync(join(packageRoot, 'docs/errors.md'), 'utf8')
    const rows = [...doc.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, code]) => code)
    expect(rows.length).toBeGreaterThan(10)
    expect(rows.sort()).toEqual([...codesInSource()].sort())
  })
})

describe('deploy/alerts.yaml', () => {
  it('names metrics that exist, and operating.md has an entry for each alert', () => {
    const rules = readFileSync(join(packageRoot, 'deploy/alerts.yaml'), 'utf8')
    const metrics = readFileSync(join(packageRoot, 'docs/metrics.md'), 'utf8')
    const operating = readFileSync(join(packageRoot, 'docs/operating.md'), 'utf8')
    const named = [...rules.matchAll(/expr: .*?((?:plegd|kubelet)_[a-z_]+)/g)].map(([, name]) =>
      name!.replace(/_bucket$/, ''),
    )
    expect(named.length).toBeGreaterThan(3)
    for (const name of named) expect(metrics, name).toContain(`\`${name}\``)
    for (const [, alert] of rules.matchAll(/alert: (\w+)/g)) expect(operating, alert).toContain(`| ${alert} |`)
  })
})
