import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseChurn, parseLatency } from '../../../src/cli/commands/sim.js'
import { connectHot } from '../../../src/cri/connect.js'
import { PlegdProcess, plegd } from '../../support/plegd.js'
import { until } from '../../support/until.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plegd-sim-command-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

describe('plegd sim', () => {
  it('serves until SIGTERM, its log complete and its socket gone', async () => {
    const [socket, log] = [join(directory, 'cri.sock'), join(directory, 'changes.jsonl')]
    const flags = ['--pods', '40', '--containers', '3', '--dead', '1', '--churn', '50%/s', '--seed', '3', '--log', log]
    const sim = new PlegdProcess('sim', '--socket', socket, '--latency', 'ContainerStatus=1ms', ...flags)
    await until('the first line', () => {
      sim.mustRun()
      return sim.lines.length > 0
    })
    expect(JSON.parse(sim.lines[0]!)).toEqual({ endpoint: `unix://${socket}`, pods: 40, containers: 240, seed: 3 })

    const runtime = await connectHot(`unix://${socket}`)
    const { items } = await runtime.listPodSandboxes({ item: () => {} })
    expect(items).toBeGreaterThanOrEqual(40)
    await runtime.close()
    const lines = () => readFileSync(log, 'utf8').trim().split('\n')
    const populated = 40 + 240 * 2 + 120
    await until('changes', () => lines().length > populated + 20)
    expect(await sim.end()).toBe(0)
    expect(existsSync(socket)).toBe(false)
    expect(sim.lines).toHaveLength(1)
    const changes = lines().map((line) => JSON.parse(line) as { seq: number; timeNs: string })
    expect(changes.map(({ seq }) => seq)).toEqual(changes.map((_, i) => i + 1))
    expect(BigInt(changes[0]!.timeNs)).toBeGreaterThan(1_700_000_000_000_000_000n)
    expect(sim.stderr).toContain(`after ${changes.length} changes`)
  })

  it.each([
    [['--pods', '3'], '--socket'],
    [['--socket', 'S', '--churn', 'fast'], 'fast'],
    [['--socket', 'S', '--latency', 'ContainerStatus'], 'ContainerStatus=5ms'],
    [['--socket', 'S', '--latency', 'NoSuchCall=5ms'], 'NoSuchCall'],
    [['--socket', 'S', '--latency', 'toString=5ms'], 'toString'],
    [['--socket', 'S', '--latency', 'ContainerStatus=5'], 'duration'],
    [['--socket', 'S', '--seed', '-1'], 'seed'],
    [['--socket', 'S', '--max-message', 'big'], 'big'],
    [['--socket', 'S', '--nope'], '--nope'],
  ])('says in one line what is wrong with %j, and ends with 2', async (args, words) => {
    const { code, stdout, stderr } = await plegd('sim', ...args.map((a) => (a === 'S' ? join(directory, 's.sock') : a)))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toContain(words)
  })

  it('leaves a file alone that is no socket', async () => {
    const path = join(directory, 'precious')
    writeFileSync(path, 'data')
    const { code, stderr } = await plegd('sim', '--socket', path)
    expect(code).toBe(1)
    expect(stderr).toContain('no socket')
    expect(readFileSync(path, 'utf8')).toBe('data')
  })
})

describe('rates and latencies', () => {
  it('are read', () => {
    expect(parseChurn('10/s')).toEqual({ perSecond: 10 })
    expect(parseChurn('30/m')).toEqual({ perSecond: 0.5 })
    expect(parseChurn('0')).toEqual({ perSecond: 0 })
    expect(parseChurn('1.5%/s')).toEqual({ share: 0.015 })
    expect(parseLatency('ListContainers=1.5s')).toEqual({ call: 'ListContainers', kind: 'latency', ms: 1500 })
  })
})
