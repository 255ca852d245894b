import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectHot, connectRuntime } from '../../../src/cri/connect.js'
import { CriError, GrpcCode } from '../../../src/cri/errors.js'
import type { PlainMessage, Runtime } from '../../../src/cri/runtime.js'
import { type Asked, ByteServer, failure } from '../../support/byteServer.js'
import { decode, encode, lengthField } from '../../support/criMessages.js'
import { root } from '../../support/shared.js'

const forever = new Promise<never>(() => {})

async function criErrorOf(call: Promise<unknown>): Promise<CriError> {
  const error = await call.catch((thrown: unknown) => thrown)
  if (!(error instanceof CriError)) throw new Error(`no CriError: ${String(error)}`)
  return error
}

const event = (id: string, createdAt = '0') =>
  encode('ContainerEventResponse', { container_id: id, created_at: createdAt })

async function idsOf(events: AsyncIterable<PlainMessage>): Promise<unknown[]> {
  const ids: unknown[] = []
  for await (const { container_id: id } of events) ids.push(id)
  return ids
}

describe.each(['h2', 'grpc'] as const)('connectRuntime over %s', (transport) => {
  let folder: string
  let server: ByteServer
  let runtime: Runtime

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plegd-cri-'))
    server = await new ByteServer(join(folder, 'cri.sock')).listen()
    runtime = await connectRuntime(server.endpoint, { transport, deadlineMs: 5000 })
  })
  afterEach(async () => {
    await runtime.close()
    server.stop()
    rmSync(folder, { recursive: true })
  })

  it('has hot and cold calls', async () => {
    server.answers.set('Version', ({ message }) => {
      expect(decode('VersionRequest', message)).toEqual({ version: 'v1' })
      return encode('VersionResponse', { runtime_name: 'cri-o' })
    })
    server.answers.set('ListContainers', () => lengthField(1, Buffer.from('x')))
    expect(await runtime.call('Version', { version: 'v1' })).toEqual({
      version: '',
      runtime_name: 'cri-o',
      runtime_version: '',
      runtime_api_version: '',
    })
    expect(await runtime.listContainers({ item: () => {} })).toMatchObject({ items: 1 })
    expect(runtime.endpoint).toBe(server.endpoint)
  })

  it('has exact int64 and enums by name in cold answers', async () => {
    const container = { id: 'c', state: 1, created_at: '1789000000000000101' }
    server.answers.set('ListContainers', () => encode('ListContainersResponse', { containers: [container] }))
    expect(await runtime.call('ListContainers', {})).toMatchObject({
      containers: [{ created_at: '1789000000000000101', state: 'CONTAINER_RUNNING', metadata: null }],
    })
  })

  it('says which object a cold call was about', async () => {
    server.answers.set('StopContainer', () => {
      throw failure(GrpcCode.NOT_FOUND, 'no such container')
    })
    const error = await criErrorOf(runtime.call('StopContainer', { container_id: 'c1', timeout: '3' }))
    expect(error).toMatchObject({ code: 'CRI_NOT_FOUND', facts: { id: 'c1', endpoint: server.endpoint } })
  })

  it('gives StopContainer its grace on top', async () => {
    const asked = new Promise<Asked>((resolve) => {
      server.answers.set('StopContainer', (call) => {
        resolve(call)
        return encode('StopContainerResponse', {})
      })
    })
    await runtime.call('StopContainer', { container_id: 'c1', timeout: '600' })
    expect((await asked).timeLeft).toBeGreaterThan(600_000)
    expect((await asked).timeLeft).toBeLessThanOrEqual(605_000)
  })

  it('knows the size limit of the runtime by its words', async () => {
    const strict = await new ByteServer(join(folder, 'strict.sock'), { 'grpc.max_send_message_length': 1000 }).listen()
    strict.answers.set('ListContainers', () => lengthField(1, Buffer.alloc(2000)))
    const client = await connectRuntime(strict.endpoint, { transport })
    const error = await criErrorOf(client.listContainers({ item: () => {} }, { filter: { id: 'c' } }))
    expect(error).toMatchObject({ code: 'CRI_RESOURCE_EXHAUSTED', facts: { cause: 'answer_too_large' } })
    await client.close()
    strict.stop()
  })

  it('refuses a request that is no message of its call', async () => {
    const error = await criErrorOf(runtime.call('RunPodSandbox', { config: 'pod' }))
    expect(error).toMatchObject({ code: 'CRI_INVALID_ARGUMENT' })
  })

  it('fails on an answer that is no message', async () => {
    server.answers.set('Version', () => Buffer.from([0x0f]))
    expect(await criErrorOf(runtime.call('Version', {}))).toMatchObject({ code: 'CRI_INTERNAL' })
  })

  describe('containerEvents', () => {
    it('ends when the runtime ends it', async () => {
      server.events = async function* () {
        yield* [event('a'), event('b')]
      }
      expect(await idsOf(runtime.containerEvents())).toEqual(['a', 'b'])
    })

    it('throws what broke it, after the events before', async () => {
      server.events = async function* () {
        yield event('a')
        throw failure(GrpcCode.ABORTED, 'shutting down')
      }
      const seen: unknown[] = []
      const reading = (async () => {
        for await (const { container_id: id } of runtime.containerEvents()) seen.push(id)
      })()
      expect(await criErrorOf(reading)).toMatchObject({ code: 'CRI_ABORTED', details: 'shutting down' })
      expect(seen).toEqual(['a'])
    })

    it('throws when the runtime dies', async () => {
      server.events = async function* () {
        yield event('a')
        await forever
      }
      const events = runtime.containerEvents()[Symbol.asyncIterator]()
      await events.next()
      const failed = criErrorOf(events.next())
      server.stop()
      expect(await failed).toMatchObject({ code: 'CRI_UNAVAILABLE' })
    })

    it.each(['leaving the loop', 'aborting'])('%s tells the runtime', async (how) => {
      let cancelled: Promise<void> | undefined
      server.events = async function* (asked) {
        cancelled = asked.cancelled
        yield event('a')
        await forever
      }
      const abort = new AbortController()
      const reading = (async () => {
        for await (const _event of runtime.containerEvents({ signal: abort.signal })) {
          if (how === 'leaving the loop') break
          abort.abort()
        }
      })()
      if (how === 'aborting') expect(await criErrorOf(reading)).toMatchObject({ code: 'CRI_CANCELLED' })
      else await reading
      await cancelled
    })
  })

  it('is of no use once closed', async () => {
    await runtime.close()
    expect(await criErrorOf(runtime.call('Version', {}))).toMatchObject({ code: 'CRI_UNAVAILABLE' })
    expect(await criErrorOf(idsOf(runtime.containerEvents()))).toMatchObject({ code: 'CRI_UNAVAILABLE' })
  })
})

describe('which transport', () => {
  it('refuses h2 where there is no unix socket', async () => {
    const refused = { code: 'ENDPOINT_INVALID' }
    await expect(connectHot('localhost:1', { transport: 'h2' })).rejects.toMatchObject(refused)
    await expect(connectRuntime('localhost:1', { transport: 'h2' })).rejects.toMatchObject(refused)
  })

  it('refuses what is no endpoint at once', async () => {
    await expect(connectHot('unix:here.sock')).rejects.toMatchObject({ code: 'ENDPOINT_INVALID' })
  })

  it('loads no grpc-js for the hot calls of a unix socket', () => {
    const module = pathToFileURL(join(root, 'dist/src/cri/connect.js')).href
    const script = `
      import { createRequire } from 'node:module'
      const { connectHot, connectRuntime } = await import(${JSON.stringify(module)})
      for (const connect of [connectHot, connectRuntime]) {
        const runtime = await connect('unix:///nowhere/cri.sock')
        await runtime.listContainers({ item: () => {} }).catch(() => {})
        await runtime.close()
      }
      const loaded = Object.keys(createRequire(import.meta.url).cache)
      console.log(loaded.filter((file) => /grpc|protobufjs/.test(file)).length)`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).toBe('0\n')
  })
})
