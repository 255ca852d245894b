import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentChecks } from '../../../src/agent/checks.js'
import { createServer, listen, requireLoopback } from '../../../src/agent/server.js'
import type { AgentSnapshot } from '../../../src/agent/snapshot.js'
import type { CachedPod } from '../../../src/engine/api.js'
import { UsageError } from '../../../src/model/errors.js'
import { cachedPod } from '../../support/pods.js'
import { engineStats, healthOf, syncStats } from '../../support/stats.js'

let health = healthOf()
let stopping = false
let hung = ''
let pods: CachedPod[] = []
const snapshot = (): AgentSnapshot => ({
  version: '1.2.3',
  nodeName: 'node-1',
  runtime: 'unix:///x.sock',
  thresholdMs: 180_000,
  wallMs: 0,
  stats: engineStats(),
  health,
  sync: syncStats(),
  problems: [],
  network: '',
})
let app: ReturnType<typeof createServer>

beforeEach(() => {
  health = healthOf()
  stopping = false
  hung = ''
  pods = []
  app = createServer({
    checks: agentChecks({ health: () => health, syncLoop: () => hung, stopping: () => stopping }),
    metrics: { contentType: 'text/plain; version=0.0.4', render: async () => 'plegd_up 1\n' },
    snapshot,
    pods: () => pods,
    config: () => ({ kind: 'PlegdConfiguration' }),
  })
})
afterEach(() => app.close())

const get = async (url: string, headers: Record<string, string> = {}) => {
  const { statusCode, body, headers: sent } = await app.inject({ method: 'GET', url, headers })
  return { status: statusCode, body, type: String(sent['content-type']) }
}

describe('health', () => {
  test('ok, and the list where asked for', async () => {
    expect(await get('/healthz')).toEqual({ status: 200, body: 'ok', type: 'text/plain; charset=utf-8' })
    expect(await get('/healthz/')).toMatchObject({ status: 200 })
    expect(await get('/healthz?verbose')).toMatchObject({
      body: '[+]ping ok\n[+]syncloop ok\n[+]pleg ok\nhealthz check passed\n',
    })
    expect(await get('/livez?verbose=1')).toMatchObject({ body: '[+]ping ok\n[+]syncloop ok\nlivez check passed\n' })
    expect(await get('/readyz')).toMatchObject({ status: 200, body: 'ok' })
    for (const path of ['/healthz/ping', '/healthz/pleg', '/healthz/syncloop', '/livez/ping', '/readyz/shutdown']) {
      expect(await get(path), path).toMatchObject({ status: 200, body: 'ok' })
    }
  })

  test('stuck: healthz and readyz fail with the kubelet’s sentence, livez does not', async () => {
    const message = 'pleg was last seen active 3m46s ago; threshold is 3m0s'
    health = healthOf({ verdict: 'stuck', ok: false, message })
    expect(await get('/healthz')).toMatchObject({
      status: 500,
      body: `[+]ping ok\n[+]syncloop ok\n[-]pleg failed: ${message}\nhealthz check failed\n`,
    })
    expect(await get('/healthz/pleg')).toMatchObject({ status: 500, body: `internal server error: ${message}\n` })
    expect(await get('/readyz')).toMatchObject({ status: 500 })
    expect(await get('/livez')).toMatchObject({ status: 200 })
  })

  test('starting: healthy, not ready', async () => {
    health = healthOf({ verdict: 'starting', ok: false, message: 'pleg has yet to be successful' })
    expect(await get('/healthz')).toMatchObject({ status: 200 })
    expect(await get('/readyz/pleg')).toMatchObject({
      status: 500,
      body: 'internal server error: pleg has yet to be successful\n',
    })
  })

  test('degraded and slow are no failures', async () => {
    for (const verdict of ['degraded', 'slow'] as const) {
      health = healthOf({ verdict, reason: 'x' })
      expect(await get('/healthz')).toMatchObject({ status: 200 })
      expect(await get('/readyz')).toMatchObject({ status: 200 })
    }
  })

  test('readiness drops when the agent ends; a hung loop is not alive', async () => {
    stopping = true
    expect((await get('/readyz')).body).toContain('[-]shutdown failed: the agent is shutting down\n')
    expect(await get('/livez')).toMatchObject({ status: 200 })
    hung = 'sync Loop took longer than expected'
    expect(await get('/livez')).toMatchObject({ status: 500 })
  })
})

describe('pages', () => {
  test('/metrics keeps its content type', async () =>
    expect(await get('/metrics')).toEqual({
      status: 200,
      body: 'plegd_up 1\n',
      type: 'text/plain; version=0.0.4',
    }))

  test('/pods', async () => {
    pods = Array.from({ length: 120 }, (_, n) => cachedPod({ uid: `uid-${n}` }))
    const { status, body, type } = await get('/pods')
    expect([status, type]).toEqual([200, expect.stringContaining('application/json')])
    expect((JSON.parse(body) as { items: unknown[] }).items).toHaveLength(120)
  })

  test('/statusz is text, and JSON where asked for', async () => {
    health = healthOf({
      verdict: 'degraded',
      reason: '1 pod can not be inspected',
      degraded: [
        {
          pod: { uid: 'u', namespace: 'shop', name: 'cart-0' },
          call: 'ContainerStatus',
          id: 'c7',
          sinceMs: 125_000,
          failures: 4,
          lastError: 'DEADLINE_EXCEEDED',
        },
      ],
      inflight: [
        { call: 'ContainerStatus', id: 'c7', pod: { uid: 'u', namespace: 'shop', name: 'cart-0' }, ageMs: 31_000 },
      ],
    })
    const { body, type } = await get('/statusz')
    expect(type).toContain('text/plain')
    expect(body).toContain('Verdict:      degraded: 1 pod can not be inspected\n')
    expect(body).toMatch(/shop {8}cart-0 {3}ContainerStatus {3}c7 {3}2m5s {4}4 {10}DEADLINE_EXCEEDED/)
    expect(body).toMatch(/ContainerStatus {3}31s {3}shop\/cart-0 {3}c7/)
    const page = JSON.parse((await get('/statusz', { accept: 'application/json' })).body) as Record<string, unknown>
    expect(page).toMatchObject({
      verdict: 'degraded',
      degraded: [{ call: 'ContainerStatus', failures: 4 }],
      threads: [{ name: 'main' }, {}],
    })
  })

  test('/statusz stays bounded', async () => {
    const pod = { uid: 'u', namespace: 'n', name: 'p' }
    health = healthOf({
      degraded: Array.from({ length: 5_000 }, () => ({
        pod,
        call: 'x',
        id: 'y',
        sinceMs: 0,
        failures: 1,
        lastError: '',
      })),
    })
    const { body } = await get('/statusz')
    expect(body).toContain('… and 4900 more\n')
    expect(body.split('\n').length).toBeLessThan(130)
  })

  test('/configz', async () =>
    expect(JSON.parse((await get('/configz')).body)).toEqual({ plegdconfig: { kind: 'PlegdConfiguration' } }))
})

describe('what is not served', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const)('%s is refused with Allow', async (method) => {
    for (const url of ['/healthz', '/pods/', '/metrics?x=1', '/healthz/pleg']) {
      const { statusCode, headers } = await app.inject({
        method,
        url,
        payload: 'x'.repeat(5_000),
        headers: { 'content-type': 'text/x' },
      })
      expect([url, statusCode, headers['allow']]).toEqual([url, 405, 'GET, HEAD'])
    }
  })

  test('HEAD is served', async () => {
    expect(await app.inject({ method: 'HEAD', url: '/healthz' })).toMatchObject({ statusCode: 200, body: '' })
  })

  test('other paths are a JSON 404', async () => {
    for (const [method, url] of [
      ['GET', '/nope'],
      ['POST', '/nope'],
      ['GET', '/healthz/nope'],
      ['GET', '/%2e%2e/etc'],
    ] as const) {
      const { statusCode, body } = await app.inject({ method, url })
      expect([url, statusCode, JSON.parse(body)]).toMatchObject([
        url,
        404,
        { kind: 'Status', reason: 'NotFound', code: 404 },
      ])
    }
    expect((await app.inject({ method: 'GET', url: '/%zz' })).statusCode).toBe(400)
  })

  test('headers beyond 8 KiB are refused', async () => {
    const url = new URL(await listen(app, '127.0.0.1', 0))
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(Number(url.port), url.hostname, () =>
        socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(9_000)}\r\n\r\n`),
      )
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      socket.on('close', () => resolve(text)).on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
  })
})

describe('where it listens', () => {
  test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('%s is loopback', (address) =>
    expect(() => requireLoopback(address)).not.toThrow(),
  )
  test.each(['0.0.0.0', '::', '10.0.0.1', '127.evil.example', '::ffff:10.0.0.1'])('%s is refused', (address) =>
    expect(() => requireLoopback(address)).toThrow(UsageError),
  )

  test('a taken port is told with what to do', async () => {
    const { port } = new URL(await listen(app, '127.0.0.1', 0))
    const other = createServer({
      checks: {},
      metrics: { contentType: '', render: async () => '' },
      snapshot,
      pods: () => [],
      config: () => ({}),
    })
    await expect(listen(other, '127.0.0.1', Number(port))).rejects.toThrow(/EADDRINUSE.*--http-address/)
    await other.close()
  })
})
