import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { plan } from '../../../bench/plan.js'
import { readSettings } from '../../../bench/settings.js'
import { blockId } from '../../../bench/summary.js'

const directory = mkdtempSync(join(tmpdir(), 'plegd-bench-test-'))
afterAll(() => rmSync(directory, { recursive: true }))

function file(text: string): string {
  const path = join(directory, 'bench.yaml')
  writeFileSync(path, text)
  return path
}

const program = fileURLToPath(new URL('../../../bench/main.js', import.meta.url))
const { PLEGD_BENCH_KUBELET: _, ...env } = process.env
const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env })

describe('the axes', () => {
  it('are the same in a file and as flags, and a flag stands before the file', () => {
    const path = file('pods: [250, 500]\nstatusLatency: 5ms\nmodel: lock\nchurn: 2.5\ntransport: grpc\n')
    const settings = readSettings({ pods: [100] }, path)
    expect(settings).toMatchObject({
      pods: [100],
      statusLatency: [5],
      model: ['lock'],
      churn: [2.5],
      transport: ['grpc'],
    })
    expect(settings.containers).toEqual([2])
  })

  it('refuse a key that is none, with its place in the file', () => {
    expect(() => readSettings({}, file('pods: 10\npodz: 10\n'))).toThrow(/bench\.yaml:2:1: unknown key podz/)
  })

  it('refuse values out of range', () => {
    expect(() => readSettings({ pods: [0] })).toThrow(/--pods/)
    expect(() => readSettings({}, file('model: [locked]\n'))).toThrow(/bench\.yaml:1:/)
    expect(() => readSettings({ statusLatency: ['5 parsecs'] })).toThrow(/statusLatency/)
  })
})

describe('the plan', () => {
  it('measures every combination of the axes, each contender that is there', () => {
    const settings = readSettings({ pods: [20, 10], churn: [0, 10], shards: [1, 2] })
    const ids = plan(settings, ['plegd', 'floor', 'plain']).map(blockId)
    expect(ids).toEqual([
      'plegd/cold/10x2/shards=1',
      'plegd/idle/10x2/shards=1',
      'plegd/cold/10x2/shards=2',
      'plegd/idle/10x2/shards=2',
      'floor/idle/10x2',
      'plain/idle/10x2',
      'plegd/churn/10x2/restarts=2/shards=1',
      'plegd/churn/10x2/restarts=2/shards=2',
      'plain/churn/10x2/restarts=2',
      'plegd/cold/20x2/shards=1',
      'plegd/idle/20x2/shards=1',
      'plegd/cold/20x2/shards=2',
      'plegd/idle/20x2/shards=2',
      'floor/idle/20x2',
      'plain/idle/20x2',
      'plegd/churn/20x2/restarts=4/shards=1',
      'plegd/churn/20x2/restarts=4/shards=2',
      'plain/churn/20x2/restarts=4',
    ])
  })

  it('leaves peers out where they would take too long', () => {
    const settings = readSettings({ pods: [10, 20], churn: [0], peersUpTo: 10 })
    const peers = plan(settings, ['plegd', 'plain', 'kubelet']).filter(({ contender }) => contender !== 'plegd')
    expect(peers.map(({ contender, pods }) => `${contender} ${pods}`)).toEqual(['plain 10', 'kubelet 10'])
  })
})

describe('npm run bench', () => {
  it.each([
    ['an unknown flag', ['--podz', '10'], /unknown option '--podz'/],
    ['a preset that is none', ['--preset', '111'], /--preset/],
    ['a preset and pods', ['--preset', '110', '--pods', '10'], /exclude/],
    ['a contender that is not here', ['--contenders', 'kubelet'], /PLEGD_BENCH_KUBELET/],
  ])('exits with 2 for %s', (_, args, message) => {
    const { status, stderr, stdout } = run(...args)
    expect(stderr).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  })

  it('exits with 2 for a file with an unknown key', () => {
    const { status, stderr } = run('--config', file('podz: 10\n'))
    expect(stderr).toMatch(/unknown key podz/)
    expect(status).toBe(2)
  })
})
