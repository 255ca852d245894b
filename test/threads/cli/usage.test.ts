import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlegd } from '../../support/plegdProcess.js'

const plegd = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => startPlegd(args, env).ended

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plegd-cli-'))
  writeFileSync(
    join(folder, 'unknown-key.yaml'),
    'apiVersion: plegd.dev/v1alpha1\nkind: PlegdConfiguration\nplegRelistPeriodd: 1s\n',
  )
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('what was asked for wrongly is one line on stderr, and 2', () => {
  test.each<[string, () => readonly string[], RegExp]>([
    ['unknown command', () => ['frob'], /unknown command 'frob'/],
    ['unknown flag', () => ['agent', '--bad'], /unknown option '--bad'/],
    ['bad duration', () => ['agent', '--pleg-relist-period', '5x'], /--pleg-relist-period.*invalid duration "5x"/],
    ['missing value', () => ['agent', '--config'], /--config <file>' argument missing/],
    ['missing file', () => ['agent', '--config', join(folder, 'none.yaml')], /none\.yaml: no such file$/],
    [
      'unknown key',
      () => ['agent', '--config', join(folder, 'unknown-key.yaml')],
      /yaml:3:1: unknown key plegRelistPeriodd$/,
    ],
    ['no choice', () => ['agent', '--logging-format', 'xml'], /Allowed choices are text, json/],
  ])('%s', async (_what, args, message) => {
    const { code, stdout, stderr } = await plegd(args())
    expect(stderr).toMatch(/^error: [^\n]+\n$/)
    expect(stderr.trimEnd()).toMatch(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

test('--version and --help are data', async () => {
  expect(await plegd(['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    stderr: '',
  })
  expect(await plegd(['agent', '--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('--pleg-relist-threshold'),
    stderr: '',
  })
})

test('--print-config gives a file that gives the same', async () => {
  const first = await plegd(['agent', '--print-config', '--shards', '3', '--pleg-relist-threshold', '185123ms'], {
    CONTAINER_RUNTIME_ENDPOINT: 'unix:///run/x.sock',
  })
  expect(first.stdout).toContain('plegRelistThreshold: 3m5.123s\n')
  expect(first.stdout).toContain('containerRuntimeEndpoint: unix:///run/x.sock\n')
  const path = join(folder, 'printed.yaml')
  writeFileSync(path, first.stdout)
  expect(await plegd(['agent', '--config', path, '--print-config'])).toEqual(first)
})
