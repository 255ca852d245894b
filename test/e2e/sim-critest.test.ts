import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { serveSimulatedRuntime } from '../../src/sim/server/serve.js'
import { SimulatedRuntime } from '../../src/sim/simulatedRuntime.js'
import { root } from '../support/shared.js'
import { noTools, toolsFolder } from '../support/tools.js'

/** The kept list: which specs are left out and why, and how many must run at least. */
interface Skips {
  readonly atLeast: number
  readonly skips: readonly { readonly specs: string; readonly reason: string }[]
}

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly LeafNodeType: string
  readonly State: string
  readonly Failure?: { readonly Message: string }
}

const { atLeast, skips } = JSON.parse(readFileSync(join(root, 'test/e2e/critest-skips.json'), 'utf8')) as Skips

/** Runs critest to its end, whatever that is, and reads its report. */
async function critest(endpoint: string, directory: string): Promise<readonly SpecReport[]> {
  const report = join(directory, 'report.json')
  const args = ['-runtime-endpoint', endpoint, '-image-endpoint', endpoint, '-ginkgo.json-report', report]
  const skip = skips.flatMap(({ specs }) => ['-ginkgo.skip', specs])
  const program = join(await toolsFolder('critest'), 'critest')
  await new Promise<void>((resolve) => {
    const options = { timeout: 280_000, maxBuffer: 64 << 20, cwd: directory }
    execFile(program, [...args, ...skip, '-ginkgo.no-color'], options, () => resolve())
  })
  const [suite] = JSON.parse(readFileSync(report, 'utf8')) as { SpecReports: SpecReport[] }[]
  return suite!.SpecReports.filter(({ LeafNodeType }) => LeafNodeType === 'It')
}

const nameOf = (spec: SpecReport) => [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ')

describe.skipIf(noTools)('the simulated runtime, judged by critest', () => {
  it('passes every spec that is not on the list of skips', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plegd-critest-'))
    // Pods of its own, which no spec may be confused by.
    const sim = new SimulatedRuntime({ pods: 20, churn: 5 })
    const server = await serveSimulatedRuntime(sim, join(directory, 'cri.sock'))
    sim.start()
    try {
      const specs = await critest(server.endpoint, directory)
      const failed = specs.filter(({ State }) => State !== 'passed' && State !== 'skipped')
      expect(failed.map((spec) => `${nameOf(spec)}: ${spec.Failure?.Message}`)).toEqual([])
      // critest leaves out by itself what a runtime doesn't claim to have: then it must be on the list.
      const left = specs.filter(({ State }) => State === 'skipped').map(nameOf)
      expect(left.filter((name) => !skips.some((skip) => new RegExp(skip.specs).test(name)))).toEqual([])
      expect(specs.filter(({ State }) => State === 'passed').length).toBeGreaterThanOrEqual(atLeast)
      for (const { specs: pattern } of skips) {
        expect(
          specs.some((spec) => new RegExp(pattern).test(nameOf(spec))),
          `nothing is named ${pattern}`,
        ).toBe(true)
      }
    } finally {
      await server.stop()
      await sim.close()
      rmSync(directory, { recursive: true })
    }
  })
})
