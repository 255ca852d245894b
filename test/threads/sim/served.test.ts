import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as grpc from '@grpc/grpc-js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PlainMessage } from '../../../src/cri/runtime.js'
import { type ServeOptions, serveSimulatedRuntime } from '../../../src/sim/server/serve.js'
import { SimulatedRuntime, type SimulationOptions } from '../../../src/sim/simulatedRuntime.js'
import { until } from '../../support/until.js'

let directory: string
let ends: (() => Promise<void> | void)[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plegd-served-'))
  ends = [() => rmSync(directory, { recursive: true })]
})

afterEach(async () => {
  for (const end of ends.reverse()) await end()
})

async function served(options: SimulationOptions, serveOptions?: ServeOptions) {
  const sim = new SimulatedRuntime(options)
  const path = join(directory, 'cri.sock')
  const server = await serveSimulatedRuntime(sim, path, serveOptions)
  const client = new grpc.Client(server.endpoint, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
  })
  ends.push(async () => {
    client.close()
    await server.stop()
    await sim.close()
  })
  const bytesOf = (call: string, request: PlainMessage, service = 'RuntimeService') =>
    new Promise<Buffer>((resolve, reject) => {
      const path = `/runtime.v1.${service}/${call}`
      const answer = (error: grpc.ServiceError | null, bytes?: Buffer) => (error ? reject(error) : resolve(bytes!))
      client.makeUnaryRequest(
        path,
        (b: Buffer) => b,
        (b) => b,
        sim.codec.encodeRequest(call, request),
        answer,
      )
    })
  const call = async (name: string, request: PlainMessage = {}, service?: string) =>
    sim.codec.decodeResponse(name, await bytesOf(name, request, service))
  const stream = (name: string) =>
    client.makeServerStreamRequest(
      `/runtime.v1.RuntimeService/${name}`,
      (b: Buffer) => b,
      (b) => sim.codec.decodeResponse(name, b),
      sim.codec.encodeRequest(name, {}),
    )
  return { sim, server, path, call, bytesOf, stream, client }
}

describe('a served node', () => {
  it('answers grpc-js as it answers in process', async () => {
    const { sim, call } = await served({ pods: 300, deadPerContainer: 1 })
    const { containers } = (await call('ListContainers')) as { containers: PlainMessage[] }
    expect(containers).toHaveLength(1200)
    const { containers: own } = (await sim.call('ListContainers', {})) as { containers: PlainMessage[] }
    const byId = (items: PlainMessage[]) => new Map(items.map((item) => [item['id'], item]))
    expect(byId(containers)).toEqual(byId(own))
    const id = containers[17]!['id'] as string
    expect(await call('ContainerStatus', { container_id: id })).toEqual(
      await sim.call('ContainerStatus', { container_id: id }),
    )
    expect(await call('Version')).toMatchObject({ runtime_name: 'plegd-sim', runtime_api_version: 'v1' })
    const { images } = await call('ListImages', {}, 'ImageService')
    expect((images as unknown[]).length).toBeGreaterThan(5)
  })

  it('gives errors as codes and words', async () => {
    const { call } = await served({})
    await expect(call('ContainerStatus', { container_id: 'näh %' })).rejects.toMatchObject({
      code: grpc.status.NOT_FOUND,
      details: 'an error occurred when try to find container "näh %": not found',
    })
    await expect(call('Attach')).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED })
    await expect(call('ListImages', {}, 'RuntimeService')).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED })
  })

  it('refuses requests that are no message, or too large', async () => {
    const { client } = await served({}, { maxReceiveBytes: 1000 })
    const ask = (request: Buffer) =>
      new Promise((resolve, reject) => {
        const answer = (error: grpc.ServiceError | null, bytes?: Buffer) => (error ? reject(error) : resolve(bytes))
        const identity = (b: Buffer) => b
        client.makeUnaryRequest('/runtime.v1.RuntimeService/ContainerStatus', identity, identity, request, answer)
      })
    await expect(ask(Buffer.from([0x0a, 0xff]))).rejects.toMatchObject({ code: grpc.status.INTERNAL })
    const id = Buffer.from([0x0a, 0x80 | (997 & 127), 997 >> 7, ...Array(997).fill(0x61)])
    expect(id).toHaveLength(1000)
    await expect(ask(id)).rejects.toMatchObject({ code: grpc.status.NOT_FOUND })
    await expect(ask(Buffer.concat([id, id]))).rejects.toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
      details: 'received message larger than max (2000 vs. 1000)',
    })
  })

  it('refuses an answer over its limit in the words of a real runtime, and sends one of just that size', async () => {
    const free = await served({ pods: 20, seed: 4, listOrder: 'stable' })
    const { length } = await free.bytesOf('ListContainers', {})
    await free.server.stop()
    const exact = await served({ pods: 20, seed: 4 }, { maxSendBytes: length })
    expect(await exact.bytesOf('ListContainers', {})).toHaveLength(length)
    await exact.server.stop()
    const tight = await served({ pods: 20, seed: 4 }, { maxSendBytes: length - 1 })
    await expect(tight.bytesOf('ListContainers', {})).rejects.toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
      details: `trying to send message larger than max (${length} vs. ${length - 1})`,
    })
    await expect(tight.call('ListPodSandbox')).resolves.toBeDefined()
  })

  it('sends 15 MB on four calls at once', async () => {
    const { bytesOf } = await served({ pods: 8000, containersPerPod: 2 })
    const answers = await Promise.all([1, 2, 3, 4].map(() => bytesOf('ListContainers', {})))
    for (const bytes of answers) expect(bytes.length).toBeGreaterThan(14e6)
  })

  it('streams the lists in messages of 3000 items', async () => {
    const { stream } = await served({ pods: 2000, containersPerPod: 2 })
    const sizes: number[] = []
    const ids = new Set<unknown>()
    for await (const message of stream('StreamContainers')) {
      const { containers } = message as { containers: { id: string }[] }
      sizes.push(containers.length)
      for (const { id } of containers) ids.add(id)
    }
    expect(ids.size).toBe(4000)
    expect(sizes).toHaveLength(2)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3000)
  })

  it('keeps a reader of events that does not read within bounds, and counts what it drops', async () => {
    const { sim, stream } = await served({ pods: 50 })
    const events = stream('GetContainerEvents')
    await once(events, 'metadata')
    events.pause()
    await until('a subscription', () => sim.events.subscriberCount === 1)
    // The client's window, the socket and the stream's buffer take some; the feed holds 1000 more.
    for (let i = 0; sim.events.dropped === 0 && i < 200_000; i++) {
      sim.step()
      if (i % 100 === 0) await new Promise(setImmediate)
    }
    expect(sim.events.dropped).toBeGreaterThan(0)
    // A reader that comes back gets on with the newest.
    events.resume()
    await once(events, 'data')
    events.cancel()
    await once(events, 'error')
    await until('no subscription', () => sim.events.subscriberCount === 0)
  })

  it('lets a call hang until its caller gives up', async () => {
    const { sim, client } = await served({ pods: 1 })
    sim.faults.set({ call: 'ListContainers', kind: 'hang' })
    const identity = (b: Buffer) => b
    const call = new Promise((_, reject) => {
      const deadline = Date.now() + 100
      const path = '/runtime.v1.RuntimeService/ListContainers'
      client.makeUnaryRequest(path, identity, identity, Buffer.alloc(0), { deadline }, (error) => reject(error))
    })
    await expect(call).rejects.toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED })
  })
})

/** Leaves a socket as a process does that is killed: the file stays, nobody listens. */
async function abandonSocket(path: string): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('listening'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(statSync(path).isSocket()).toBe(true)
}

describe('the socket', () => {
  it('is for its user alone, and gone after the end', async () => {
    const { server, path } = await served({})
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await server.stop()
    await server.stop()
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('replaces one that nobody listens on, and no other file', async () => {
    const sim = new SimulatedRuntime()
    const path = join(directory, 'cri.sock')
    writeFileSync(path, 'precious')
    await expect(serveSimulatedRuntime(sim, path)).rejects.toMatchObject({ code: 'ENDPOINT_NOT_A_SOCKET' })
    rmSync(path)

    const other = createServer().listen(path)
    await once(other, 'listening')
    await expect(serveSimulatedRuntime(sim, path)).rejects.toMatchObject({ code: 'ENDPOINT_INVALID' })
    other.close()
    await once(other, 'close')
    await abandonSocket(path)
    const server = await serveSimulatedRuntime(sim, path)
    await server.stop()

    const long = join(directory, 'x'.repeat(108))
    await expect(serveSimulatedRuntime(sim, long)).rejects.toMatchObject({ code: 'ENDPOINT_PATH_TOO_LONG' })
  })
})
