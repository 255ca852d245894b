import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { connectHot } from '../../../src/cri/connect.js'
import { startEmbeddedSim } from '../../../src/sim/embedded.js'

describe('the embedded node', () => {
  it('lives on a thread of its own behind a private socket, and leaves nothing behind', async () => {
    const sim = await startEmbeddedSim({ pods: 200, seed: 2 })
    const socket = sim.endpoint.slice('unix://'.length)
    const directory = statSync(dirname(socket))
    expect(directory.mode & 0o777).toBe(0o700)

    const runtime = await connectHot(sim.endpoint)
    const report = await runtime.listContainers({ item: () => {} })
    expect(report.items).toBe(400)
    await runtime.close()

    await Promise.all([sim.stop(), sim.stop()])
    expect(statSync(dirname(socket), { throwIfNoEntry: false })).toBeUndefined()
  })

  it('says why it does not start', async () => {
    const { TMPDIR } = process.env
    const long = mkdtempSync(join(tmpdir(), 'x'.repeat(100)))
    process.env['TMPDIR'] = long
    try {
      await expect(startEmbeddedSim({})).rejects.toMatchObject({
        code: 'SIM_START_FAILED',
        message: expect.stringContaining('longer than a socket'),
      })
      // Nothing is left behind.
      expect(readdirSync(long)).toEqual([])
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = TMPDIR
      rmSync(long, { recursive: true })
    }
  })
})
