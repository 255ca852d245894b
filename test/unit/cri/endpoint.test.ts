import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkEndpoint, parseEndpoint } from '../../../src/cri/endpoint.js'
import { root } from '../../support/shared.js'

describe('parseEndpoint', () => {
  const longest = `/${'x'.repeat(106)}`

  it.each([
    ['unix:///run/a.sock', '/run/a.sock'],
    ['unix:/run/a.sock', '/run/a.sock'],
    ['/run/a.sock', '/run/a.sock'],
    ['unix:///run/with space/100%/%2e.sock', '/run/with space/100%/%2e.sock'],
    [longest, longest],
  ])('%s', (endpoint, path) => {
    expect(parseEndpoint(endpoint)).toEqual({ kind: 'unix', path })
  })

  it.each([
    ['localhost:1234', 'localhost', 1234],
    ['10.0.0.1:65535', '10.0.0.1', 65535],
    ['[::1]:80', '::1', 80],
  ])('%s', (endpoint, host, port) => {
    expect(parseEndpoint(endpoint)).toEqual({ kind: 'tcp', host, port })
  })

  it.each([
    '',
    'unix:',
    'unix:a.sock',
    'unix:./a.sock',
    'unix://a.sock',
    'unix://run/a.sock',
    'a.sock',
    'tcp://localhost:80',
    'npipe:////./pipe/x',
    'localhost:0',
    'localhost:65536',
    'localhost',
    '::1:80',
    '/run/a\0b',
  ])('refuses %j', (endpoint) => {
    expect(() => parseEndpoint(endpoint)).toThrow(expect.objectContaining({ code: 'ENDPOINT_INVALID' }))
  })

  it('counts bytes, not characters', () => {
    const path = `/${'ü'.repeat(54)}`
    const error = expect.objectContaining({ code: 'ENDPOINT_PATH_TOO_LONG', facts: { endpoint: path, bytes: 109 } })
    expect(() => parseEndpoint(path)).toThrow(error)
  })
})

describe('checkEndpoint', () => {
  let folder: string
  let server: Server | undefined

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plegd endpoint %41-'))
  })
  afterEach(async () => {
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
    server = undefined
    rmSync(folder, { recursive: true })
  })

  async function listen(where: string | number): Promise<Server> {
    server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server!.listen(where, resolve))
    return server
  }

  it('is content where something listens, in a path with a space and a percent sign', async () => {
    const path = join(folder, 'a.sock')
    await listen(path)
    await expect(checkEndpoint(`unix://${path}`)).resolves.toEqual({ kind: 'unix', path })
  })

  it('reaches a port', async () => {
    const address = (await listen(0)).address()
    const port = typeof address === 'object' ? address?.port : undefined
    await expect(checkEndpoint(`localhost:${port}`)).resolves.toMatchObject({ kind: 'tcp' })
  })

  it('knows that there is no such socket', async () => {
    await expect(checkEndpoint(join(folder, 'a.sock'))).rejects.toMatchObject({ code: 'ENDPOINT_NO_SUCH_SOCKET' })
    writeFileSync(join(folder, 'file'), '')
    const below = join(folder, 'file', 'a.sock')
    await expect(checkEndpoint(below)).rejects.toMatchObject({ code: 'ENDPOINT_NO_SUCH_SOCKET' })
  })

  it('knows a file that is no socket', async () => {
    writeFileSync(join(folder, 'file'), '')
    const failure = { code: 'ENDPOINT_NOT_A_SOCKET' }
    await expect(checkEndpoint(join(folder, 'file'))).rejects.toMatchObject(failure)
    await expect(checkEndpoint(folder)).rejects.toMatchObject(failure)
  })

  it('knows a socket that nobody listens on any more', async () => {
    const path = join(folder, 'a.sock')
    // A process that is killed leaves its socket file behind.
    const left = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
    spawnSync(process.execPath, ['-e', left])
    await expect(checkEndpoint(path)).rejects.toMatchObject({
      code: 'ENDPOINT_NOTHING_LISTENING',
      facts: { errno: 'ECONNREFUSED' },
    })
  })

  it('knows a port that nobody listens on', async () => {
    const address = (await listen(0)).address()
    const port = typeof address === 'object' ? address?.port : undefined
    await new Promise((resolve) => server!.close(resolve))
    server = undefined
    await expect(checkEndpoint(`127.0.0.1:${port}`)).rejects.toMatchObject({ code: 'ENDPOINT_NOTHING_LISTENING' })
  })

  it.runIf(process.getuid?.() === 0).each([0o600, 0o644])(
    'knows a socket of mode %o that is not ours',
    async (mode) => {
      chmodSync(folder, 0o755)
      const path = join(folder, 'a.sock')
      await listen(path)
      chmodSync(path, mode)
      const module = pathToFileURL(join(root, 'dist/src/cri/endpoint.js')).href
      const check = `
      const { checkEndpoint } = await import(${JSON.stringify(module)})
      process.setgroups([]); process.setgid(65534); process.setuid(65534)
      await checkEndpoint(${JSON.stringify(path)}).catch((error) => console.log(JSON.stringify(error)))`
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', check], { encoding: 'utf8' })
      expect(stderr).toBe('')
      expect(JSON.parse(stdout)).toMatchObject({ code: 'ENDPOINT_NO_PERMISSION', facts: { errno: 'EACCES' } })
    },
  )
})
