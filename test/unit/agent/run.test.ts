import { describe, expect, test } from 'vitest'
import { runAgent } from '../../../src/agent/run.js'
import { defaultConfig } from '../../../src/config/load.js'
import { UsageError } from '../../../src/model/errors.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { RecordingLogger } from '../../support/recordingLogger.js'
import { ScriptedEngine } from '../../support/scriptedEngine.js'
import { healthOf } from '../../support/stats.js'

const ready = { status: { conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true })) } }

function agent(over: { address?: string; engine?: ScriptedEngine } = {}) {
  const engine = over.engine ?? new ScriptedEngine()
  const logger = new RecordingLogger()
  const stop = new AbortController()
  let told: (url: string) => void
  const listening = new Promise<string>((resolve) => {
    told = resolve
  })
  const config = { ...defaultConfig(), healthzPort: 0, healthzBindAddress: over.address ?? '127.0.0.1' }
  const ended = runAgent(
    {
      config,
      facts: { version: '1.2.3', nodeName: 'node-1', runtime: 'scripted', thresholdMs: config.plegRelistThreshold },
      engine,
      runtime: { call: async () => ready },
      metrics: (snapshot) =>
        createMetrics(() => ({ ...snapshot(), messageWarnBytes: config.messageWarnSize, droppedLogLines: 0 })),
      logger,
      onListening: (url) => told(url),
    },
    stop.signal,
  )
  return { engine, logger, stop, ended, listening }
}

describe('runAgent', () => {
  test('serves, delivers events to the syncLoop, and ends when told', async () => {
    const { engine, logger, stop, ended, listening } = agent()
    const url = await listening
    const text = async (path: string) => (await fetch(`${url}${path}`)).text()
    expect(await text('/healthz')).toBe('ok')
    expect(await text('/metrics')).toContain('\nkubelet_node_name{node="node-1"} 1\n')
    expect(await text('/configz')).toContain('"healthzPort":0')

    const pod = { uid: 'u', namespace: 'ns', name: 'web' }
    engine.push({ type: 'ContainerStarted', pod, kind: 'container', id: 'c', name: 'web', time: 0 })
    await expect.poll(() => logger.seen('SyncLoop (PLEG): event for pod')).toHaveLength(1)

    stop.abort()
    await ended
    expect([engine.started, engine.stopped]).toEqual([true, true])
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })

  test('a stuck runtime is told on every page', async () => {
    const engine = new ScriptedEngine()
    const message = 'pleg was last seen active 3m46s ago; threshold is 3m0s'
    engine.currentHealth = healthOf({ verdict: 'stuck', ok: false, message, lastSeenMs: 226_000 })
    const { logger, stop, ended, listening } = agent({ engine })
    const url = await listening
    expect((await fetch(`${url}/healthz`)).status).toBe(500)
    await expect
      .poll(() => logger.seen('Skipping pod synchronization').map(({ fields }) => fields['err']))
      .toContain(`PLEG is not healthy: ${message}`)
    expect(await (await fetch(`${url}/statusz`)).text()).toContain(`PLEG is not healthy: ${message}\n`)
    stop.abort()
    await ended
  })

  test('an address that others can reach is refused before anything starts', async () => {
    const { engine, ended } = agent({ address: '0.0.0.0' })
    await expect(ended).rejects.toThrow(UsageError)
    expect(engine.started).toBe(false)
  })

  test('what breaks the events ends the agent with that error', async () => {
    const engine = new ScriptedEngine()
    engine.events = () => ({
      next: () => Promise.reject(new Error('broken')),
      [Symbol.asyncIterator]() {
        return this
      },
    })
    const { ended } = agent({ engine })
    await expect(ended).rejects.toThrow('broken')
    expect(engine.stopped).toBe(true)
  })
})
