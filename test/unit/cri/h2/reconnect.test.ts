import fs from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { GrpcCode } from '../../../../src/cri/errors.js'
import { FrameType } from '../../../../src/cri/h2/frames.js'
import { criErrorOf, TestClient } from './support/client.js'
import { ScriptedServer, temporarySocket } from './support/scriptedServer.js'
import { answer, settings } from './support/wire.js'

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function connectTo(socketPath: string): TestClient {
  const client = new TestClient(socketPath)
  cleanups.push(() => client.channel.close())
  return client
}

async function listen(socketPath?: string): Promise<ScriptedServer> {
  const server = await new ScriptedServer(socketPath).listen()
  cleanups.push(() => server.close())
  return server
}

async function serveOne(server: ScriptedServer) {
  const peer = await server.accept()
  peer.send(settings())
  const { streamId } = await peer.next(FrameType.HEADERS)
  peer.send(answer(streamId, Buffer.from('ok')))
  return peer
}

describe('a runtime that is not there', () => {
  it.each([
    ['no such socket', () => temporarySocket(), /ENOENT/],
    [
      'a file that is no socket',
      () => {
        const file = temporarySocket()
        fs.writeFileSync(file, '')
        return file
      },
      /ECONNREFUSED/,
    ],
  ])('%s: says why', async (_what, makePath, expected) => {
    const error = await connectTo(makePath()).failure()
    expect(error).toMatchObject({ grpcCode: GrpcCode.UNAVAILABLE, details: expect.stringMatching(expected) })
  })

  it('fails fast until the backoff is over, which doubles to 3 s', async () => {
    const socketPath = temporarySocket()
    const client = connectTo(socketPath)
    for (const backoff of [100, 200, 400, 800, 1600, 3000, 3000]) {
      await client.failure()
      // Even where a runtime listens by now: only the next attempt to connect can see it.
      const server = await new ScriptedServer(socketPath).listen()
      await client.clock.advance(backoff * 0.79)
      expect((await client.failure()).details).toMatch(/ENOENT/)
      await server.close()
      await client.clock.advance(backoff * 0.42)
    }
    const server = await listen(socketPath)
    const call = client.call()
    await serveOne(server)
    await call
  })

  it('begins the backoff anew after a connection that worked', async () => {
    const client = connectTo(temporarySocket())
    for (const wait of [121, 241, 481]) {
      await client.failure()
      await client.clock.advance(wait)
    }
    const server = await new ScriptedServer(client.socketPath).listen()
    const call = client.call()
    await serveOne(server)
    await call
    await server.close()
    await client.failure()
    await client.clock.advance(121)
    const again = await listen(client.socketPath)
    const next = client.call()
    await serveOne(again)
    await next
  })
})

describe('a runtime that goes away', () => {
  it('fails the calls in flight and is found again at the next call', async () => {
    const server = await listen()
    const client = connectTo(server.socketPath)
    const first = client.failure()
    const second = client.failure()
    const peer = await server.accept()
    peer.send(settings())
    await peer.next(FrameType.HEADERS)
    peer.socket.destroy()
    for (const error of await Promise.all([first, second])) expect(error.grpcCode).toBe(GrpcCode.UNAVAILABLE)
    const next = client.call()
    await serveOne(server)
    await next
  })

  it('is noticed where it only closes its side', async () => {
    const server = await listen()
    const client = connectTo(server.socketPath)
    const failure = client.failure()
    const peer = await server.accept()
    peer.send(settings())
    await peer.next(FrameType.HEADERS)
    peer.socket.end()
    expect((await failure).details).toBe('the runtime closed the connection')
    await peer.untilClosed()
  })

  it('is found again behind a socket that was replaced', async () => {
    const server = await new ScriptedServer().listen()
    const client = connectTo(server.socketPath)
    const call = client.call()
    const peer = await serveOne(server)
    await call
    peer.socket.destroy()
    await server.close()
    const again = await listen(server.socketPath)
    const served = serveOne(again)
    // The end of the old connection may still be on its way to the first of these.
    await client.call().catch(() => client.call())
    await served
  })
})

describe('a server that does not shake hands', () => {
  it('is given up after 20 s', async () => {
    const server = await listen()
    const client = connectTo(server.socketPath)
    const failure = client.failure()
    const peer = await server.accept()
    await client.clock.advance(20_000)
    expect(await failure).toMatchObject({
      grpcCode: GrpcCode.UNAVAILABLE,
      details: expect.stringContaining('SETTINGS'),
    })
    await peer.untilClosed()
  })
})

describe('close', () => {
  it('ends calls, connections and further use', async () => {
    const server = await listen()
    const client = connectTo(server.socketPath)
    const failure = client.failure()
    const peer = await server.accept()
    client.channel.close()
    expect(await failure).toMatchObject({ grpcCode: GrpcCode.UNAVAILABLE, details: 'the client was closed' })
    await peer.untilClosed()
    expect((await criErrorOf(client.call())).details).toBe('the client was closed')
    expect(client.clock.pending).toBe(0)
  })
})
