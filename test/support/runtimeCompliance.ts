import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CriError, GrpcCode } from '../../src/cri/errors.js'
import type { ItemSink, Transport } from '../../src/cri/runtime.js'
import { type Asked, ByteServer, failure } from './byteServer.js'
import { decode, encode, lengthField } from './criMessages.js'
import { until } from './until.js'

const forever = new Promise<never>(() => {})
const nothing: ItemSink = { item: () => {} }

class Collected implements ItemSink {
  readonly items: Buffer[] = []
  item(buf: Buffer, start: number, end: number): void {
    this.items.push(Buffer.from(buf.subarray(start, end)))
  }
}

/** Items of about a kilobyte, all different. */
function manyItems(count: number): Buffer[] {
  return Array.from({ length: count }, (_none, i) => Buffer.alloc(900 + (i % 200), `${i} `))
}
const listOf = (items: readonly Buffer[]): Buffer => Buffer.concat(items.map((item) => lengthField(1, item)))
const statusOf = (id: string): Buffer => encode('ContainerStatusResponse', { status: { id } })

/** A sink that wants no more after its first item until it is told. */
function gated() {
  const sink = new Collected()
  let open = () => {}
  let gate: Promise<void> | undefined = new Promise((resolve) => {
    open = () => {
      gate = undefined
      resolve()
    }
  })
  return { sink: Object.assign(sink, { congested: () => (sink.items.length > 0 ? gate : undefined) }), open }
}

async function criErrorOf(call: Promise<unknown>): Promise<CriError> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof CriError)) throw error
  return error
}

/** What every transport of the hot calls must do, against a grpc-js server that serves given bytes. */
export function runtimeCompliance(
  name: string,
  connect: (endpoint: string, options?: { deadlineMs?: number }) => Promise<Transport>,
): void {
  describe(`${name}: compliance`, () => {
    let folder: string
    let server: ByteServer
    let runtime: Transport

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'plegd-cri-'))
      server = await new ByteServer(join(folder, 'cri.sock')).listen()
      runtime = await connect(server.endpoint)
    })
    afterEach(async () => {
      await runtime.close()
      server.stop()
      rmSync(folder, { recursive: true })
    })

    describe('lists', () => {
      const lists = [
        ['ListPodSandbox', 'listPodSandboxes'],
        ['ListContainers', 'listContainers'],
      ] as const

      it.each(lists)('%s: every item, byte for byte, of 20 MB', async (call, method) => {
        const items = manyItems(20_000)
        const message = listOf(items)
        server.answers.set(call, () => message)
        const sink = new Collected()
        const report = await runtime[method](sink)
        expect(report).toEqual({
          mode: 'unary',
          items: items.length,
          bytes: message.length,
          largestMessage: message.length,
        })
        expect(sink.items.length).toBe(items.length)
        expect(sink.items.every((item, i) => item.equals(items[i]!))).toBe(true)
      })

      it.each(lists)('%s: an empty list', async (call, method) => {
        server.answers.set(call, () => Buffer.alloc(0))
        expect(await runtime[method](nothing)).toEqual({ mode: 'unary', items: 0, bytes: 0, largestMessage: 0 })
      })

      it('skips unknown fields, small ones and large ones', async () => {
        const big = lengthField(99, Buffer.alloc(3_000_000))
        server.answers.set('ListContainers', () =>
          Buffer.concat([
            lengthField(1, Buffer.from('a')),
            big,
            lengthField(77, Buffer.from('x')),
            lengthField(1, Buffer.from('b')),
          ]),
        )
        const sink = new Collected()
        await runtime.listContainers(sink)
        expect(sink.items.map(String)).toEqual(['a', 'b'])
      })

      it('reads an item of two megabytes', async () => {
        const item = Buffer.alloc(2_000_000, 'large ')
        server.answers.set('ListContainers', () => listOf([Buffer.from('a'), item, Buffer.from('b')]))
        const sink = new Collected()
        await runtime.listContainers(sink)
        expect(sink.items.map((bytes) => bytes.length)).toEqual([1, item.length, 1])
        expect(sink.items[1]!.equals(item)).toBe(true)
      })

      it('asks with the filter', async () => {
        const asked: unknown[] = []
        server.answers.set('ListContainers', ({ message }) => {
          asked.push(decode('ListContainersRequest', message))
          return Buffer.alloc(0)
        })
        await runtime.listContainers(nothing, { filter: { sandboxId: 's', state: 2, labels: { a: 'b' } } })
        await runtime.listContainers(nothing)
        expect(asked).toMatchObject([
          { filter: { id: '', pod_sandbox_id: 's', state: { state: 2 }, label_selector: { a: 'b' } } },
          { filter: null },
        ])
      })

      it('fails on bytes that are no list', async () => {
        server.answers.set('ListContainers', () => Buffer.from([0x0a, 0x7f, 1]))
        expect(await criErrorOf(runtime.listContainers(nothing))).toMatchObject({ code: 'CRI_INTERNAL' })
        server.answers.set('ListContainers', () => listOf(manyItems(3)))
        expect(await runtime.listContainers(nothing)).toMatchObject({ items: 3 })
      })

      it('fails with what the sink throws, and goes on with the next list', async () => {
        server.answers.set('ListContainers', () => listOf(manyItems(2000)))
        const full: ItemSink = {
          item: () => {
            throw new RangeError('full')
          },
        }
        await expect(runtime.listContainers(full)).rejects.toThrow(new RangeError('full'))
        expect(await runtime.listContainers(nothing)).toMatchObject({ items: 2000 })
      })
    })

    describe('streamed lists', () => {
      const streams = [
        ['StreamPodSandboxes', 'streamPodSandboxes'],
        ['StreamContainers', 'streamContainers'],
      ] as const
      const messagesOf = (...messages: Buffer[]) =>
        async function* () {
          yield* messages
        }

      it.each(streams)('%s: every item of many messages, byte for byte', async (call, method) => {
        const items = manyItems(20_000)
        const messages = [0, 1, 5000, 5001, 20_000].map((end, i, ends) => listOf(items.slice(ends[i - 1] ?? 0, end)))
        server.streams.set(call, messagesOf(...messages))
        const sink = new Collected()
        expect(await runtime[method](sink)).toEqual({
          mode: 'streaming',
          items: items.length,
          bytes: messages.reduce((sum, { length }) => sum + length, 0),
          largestMessage: messages.at(-1)!.length,
        })
        expect(sink.items.length).toBe(items.length)
        expect(sink.items.every((item, i) => item.equals(items[i]!))).toBe(true)
      })

      it.each(streams)('%s: one message, an empty one, none', async (call, method) => {
        const lists: (readonly [Buffer[], number])[] = [
          [[listOf(manyItems(3))], 3],
          [[Buffer.alloc(0)], 0],
          [[], 0],
        ]
        for (const [messages, items] of lists) {
          server.streams.set(call, messagesOf(...messages))
          expect(await runtime[method](nothing)).toMatchObject({ mode: 'streaming', items })
        }
      })

      it('asks with the filter', async () => {
        const asked: unknown[] = []
        server.streams.set('StreamContainers', async function* ({ message }) {
          asked.push(decode('ListContainersRequest', message))
          yield Buffer.alloc(0)
        })
        await runtime.streamContainers(nothing, { filter: { sandboxId: 's', state: 2 } })
        expect(asked).toMatchObject([{ filter: { pod_sandbox_id: 's', state: { state: 2 } } }])
      })

      it('fails when the stream breaks after half of the list, and goes on with the next one', async () => {
        const half = listOf(manyItems(4999))
        server.streams.set('StreamContainers', async function* () {
          yield half
          throw failure(GrpcCode.ABORTED, 'shutting down')
        })
        const broken = await criErrorOf(runtime.streamContainers(nothing))
        expect(broken).toMatchObject({ code: 'CRI_ABORTED', call: 'StreamContainers', details: 'shutting down' })
        server.streams.set('StreamContainers', messagesOf(half, half))
        expect(await runtime.streamContainers(nothing)).toMatchObject({ items: 2 * 4999 })
      })

      it('fails with UNIMPLEMENTED where the runtime has no such call', async () => {
        const sink = new Collected()
        expect(await criErrorOf(runtime.streamContainers(sink))).toMatchObject({ code: 'CRI_UNIMPLEMENTED' })
        expect(sink.items).toEqual([])
      })

      it('fails on bytes that are no list', async () => {
        server.streams.set('StreamContainers', messagesOf(listOf(manyItems(3)), Buffer.from([0x0a, 0x7f, 1])))
        expect(await criErrorOf(runtime.streamContainers(nothing))).toMatchObject({ code: 'CRI_INTERNAL' })
      })

      it('gives the whole stream one deadline', async () => {
        let cancelled: Promise<void> | undefined
        server.streams.set('StreamContainers', async function* (asked) {
          cancelled = asked.cancelled
          yield listOf(manyItems(3))
          await forever
        })
        const failed = await criErrorOf(runtime.streamContainers(nothing, { deadlineMs: 500 }))
        expect(failed).toMatchObject({ code: 'CRI_DEADLINE_EXCEEDED' })
        await cancelled
        const late = await criErrorOf(runtime.streamContainers(nothing, { deadlineMs: 0 }))
        expect(late).toMatchObject({ code: 'CRI_DEADLINE_EXCEEDED' })
      })

      it('ends when its caller gives up in the middle', async () => {
        const abort = new AbortController()
        let cancelled: Promise<void> | undefined
        server.streams.set('StreamContainers', async function* (asked) {
          cancelled = asked.cancelled
          yield listOf(manyItems(3))
          await forever
        })
        const sink = new Collected()
        const list = criErrorOf(runtime.streamContainers(sink, { signal: abort.signal }))
        await until('the first items', () => sink.items.length === 3, { everyMs: 1 })
        abort.abort()
        expect(await list).toMatchObject({ code: 'CRI_CANCELLED' })
        await cancelled
      })

      it('takes no more while the sink is congested, and all of it after', async () => {
        const messages = Array.from({ length: 20 }, () => listOf(manyItems(1000)))
        server.streams.set('StreamContainers', messagesOf(...messages))
        const { sink, open } = gated()
        const list = runtime.streamContainers(sink)
        const atGate = await until('the first items', () => sink.items.length || undefined, { everyMs: 1 })
        for (let i = 0; i < 200; i++) await turn()
        expect(sink.items.length).toBe(atGate)
        open()
        expect(await list).toMatchObject({ items: 20_000 })
      })
    })

    describe('back-pressure', () => {
      it('takes no more while the sink is congested, and all of it after', async () => {
        server.answers.set('ListContainers', () => listOf(manyItems(20_000)))
        const { sink, open } = gated()
        const list = runtime.listContainers(sink)
        const atGate = await until('the first items', () => sink.items.length || undefined, { everyMs: 1 })
        for (let i = 0; i < 200; i++) await turn()
        expect(sink.items.length).toBe(atGate)
        expect(atGate).toBeLessThan(20_000)
        open()
        expect(await list).toMatchObject({ items: 20_000 })
        expect(sink.items.length).toBe(20_000)
      })

      it('gives up a congested list when it is aborted', async () => {
        server.answers.set('ListContainers', () => listOf(manyItems(20_000)))
        const { sink } = gated()
        const abort = new AbortController()
        const list = criErrorOf(runtime.listContainers(sink, { signal: abort.signal }))
        await until('the first items', () => sink.items.length > 0, { everyMs: 1 })
        abort.abort()
        expect(await list).toMatchObject({ code: 'CRI_CANCELLED' })
      })
    })

    describe('statuses', () => {
      it('reads a sandbox and a container, asked by id', async () => {
        server.answers.set('PodSandboxStatus', ({ message }) => {
          const { pod_sandbox_id: id } = decode('PodSandboxStatusRequest', message)
          return encode('PodSandboxStatusResponse', { status: { id, created_at: '1789000000000000001' } })
        })
        server.answers.set('ContainerStatus', ({ message }) =>
          statusOf(decode('ContainerStatusRequest', message)['container_id'] as string),
        )
        expect(await runtime.podSandboxStatus('s')).toMatchObject({ id: 's', createdAt: 1789000000000000001n })
        expect(await runtime.containerStatus('c')).toMatchObject({ id: 'c' })
      })

      it('knows an answer without a status', async () => {
        server.answers.set('ContainerStatus', () => Buffer.alloc(0))
        const error = await criErrorOf(runtime.containerStatus('c'))
        expect(error).toMatchObject({ code: 'CRI_INTERNAL', details: 'the runtime answered without a status' })
        expect(error.facts).toMatchObject({ endpoint: server.endpoint, id: 'c', durationMs: expect.any(Number) })
      })

      it('keeps 200 calls at once apart, with lists among them', async () => {
        server.answers.set('ContainerStatus', async ({ message }) => {
          const id = decode('ContainerStatusRequest', message)['container_id'] as string
          // Answered in another order than asked.
          for (let i = 0; i < Number(id) % 7; i++) await turn()
          return statusOf(id)
        })
        server.answers.set('ListContainers', () => listOf(manyItems(5000)))
        const ids = Array.from({ length: 200 }, (_none, i) => String(i))
        const list = runtime.listContainers(nothing)
        const statuses = await Promise.all(ids.map((id) => runtime.containerStatus(id)))
        expect(statuses.map(({ id }) => id)).toEqual(ids)
        expect(await list).toMatchObject({ items: 5000 })
      })
    })

    describe('errors', () => {
      const codes = Object.entries(GrpcCode).filter(([codeName]) => codeName !== 'OK')

      it.each(codes)('%s, with and without headers before it', async (codeName, code) => {
        for (const headersFirst of [false, true]) {
          server.answers.set('ContainerStatus', (asked) => {
            if (headersFirst) asked.sendHeaders()
            throw failure(code, `what ${codeName} is about`)
          })
          const error = await criErrorOf(runtime.containerStatus('c1'))
          expect(error).toMatchObject({ code: `CRI_${codeName}`, grpcCode: code, details: `what ${codeName} is about` })
          expect(error.facts).toMatchObject({ call: 'ContainerStatus', endpoint: server.endpoint, id: 'c1' })
        }
      })

      it('gives details of any letters as they were sent', async () => {
        const details = 'контейнер не найден: 100% 壊れた %41\n\tend'
        server.answers.set('ListContainers', () => {
          throw failure(GrpcCode.UNKNOWN, details)
        })
        expect(await criErrorOf(runtime.listContainers(nothing))).toMatchObject({ details })
      })

      it.each([
        ['trying to send message larger than max (17994047 vs. 16777216)', 'answer_too_large'],
        ['grpc: received message larger than max (20006505 vs. 16777216)', 'message_too_large'],
        ['Bandwidth exhausted or memory limit exceeded', 'enhance_your_calm'],
        ['no space left', undefined],
      ])('RESOURCE_EXHAUSTED "%s" has the cause %s', async (details, cause) => {
        server.answers.set('ListContainers', () => {
          throw failure(GrpcCode.RESOURCE_EXHAUSTED, details)
        })
        expect((await criErrorOf(runtime.listContainers(nothing))).facts['cause']).toBe(cause)
      })
    })

    describe('giving up', () => {
      /** Makes the call hang; resolves with what was asked. */
      function hang(call: string): Promise<Asked> {
        return new Promise((resolve) => {
          server.answers.set(call, (asked) => {
            resolve(asked)
            return forever
          })
        })
      }

      it('after the deadline, which the server is told', async () => {
        const asked = hang('ContainerStatus')
        const failed = criErrorOf(runtime.containerStatus('c', { deadlineMs: 500 }))
        expect((await asked).timeLeft).toBeLessThanOrEqual(500)
        expect(await failed).toMatchObject({ code: 'CRI_DEADLINE_EXCEEDED' })
        await (await asked).cancelled
      })

      it('after the deadline of the connection, where the call names none', async () => {
        const impatient = await connect(server.endpoint, { deadlineMs: 300 })
        const asked = hang('ListContainers')
        expect(await criErrorOf(impatient.listContainers(nothing))).toMatchObject({ code: 'CRI_DEADLINE_EXCEEDED' })
        await (await asked).cancelled
        await impatient.close()
      })

      it.each([0, -1, Number.NaN])('at once with a deadline of %s', async (deadlineMs) => {
        let calls = 0
        server.answers.set('ContainerStatus', () => {
          calls++
          return statusOf('c')
        })
        const failed = await criErrorOf(runtime.containerStatus('c', { deadlineMs }))
        expect(failed).toMatchObject({ code: 'CRI_DEADLINE_EXCEEDED' })
        await runtime.containerStatus('c')
        expect(calls).toBe(1)
      })

      it('when aborted: the server hears of it, other calls go on', async () => {
        const abort = new AbortController()
        const asked = hang('ContainerStatus')
        server.answers.set('ListContainers', () => listOf(manyItems(10)))
        const failed = criErrorOf(runtime.containerStatus('c', { signal: abort.signal }))
        await asked
        const list = runtime.listContainers(nothing)
        abort.abort()
        expect(await failed).toMatchObject({ code: 'CRI_CANCELLED' })
        await (await asked).cancelled
        expect(await list).toMatchObject({ items: 10 })
      })

      it('when aborted before it began', async () => {
        const signal = AbortSignal.abort()
        expect(await criErrorOf(runtime.containerStatus('c', { signal }))).toMatchObject({ code: 'CRI_CANCELLED' })
        expect(await criErrorOf(runtime.listContainers(nothing, { signal }))).toMatchObject({ code: 'CRI_CANCELLED' })
      })

      it('when the client is closed, and after it', async () => {
        const asked = hang('ContainerStatus')
        const failed = criErrorOf(runtime.containerStatus('c', { deadlineMs: 2000 }))
        await asked
        await runtime.close()
        expect(await failed).toMatchObject({ code: 'CRI_UNAVAILABLE' })
        expect(await criErrorOf(runtime.containerStatus('c'))).toMatchObject({ code: 'CRI_UNAVAILABLE' })
      })
    })

    describe('outages', () => {
      const works = () =>
        runtime
          .containerStatus('c')
          .then(() => true)
          .catch(() => false)

      it('fails while nobody is there, and works when the server is back on the same path', async () => {
        server.answers.set('ContainerStatus', () => statusOf('c'))
        await runtime.containerStatus('c')
        server.stop()
        for (let i = 0; i < 3; i++)
          expect(await criErrorOf(runtime.containerStatus('c'))).toMatchObject({ code: 'CRI_UNAVAILABLE' })
        await server.listen()
        await until('the server is found again', works, { everyMs: 20 })
      })

      it('fails calls in flight when the server goes away', async () => {
        let reached = () => {}
        const inFlight = new Promise<void>((resolve) => {
          reached = resolve
        })
        server.answers.set('ContainerStatus', () => {
          reached()
          return forever
        })
        const failed = criErrorOf(runtime.containerStatus('c'))
        await inFlight
        server.stop()
        expect(await failed).toMatchObject({ code: 'CRI_UNAVAILABLE' })
      })

      it('finds the new server where the socket file was replaced', async () => {
        server.answers.set('ContainerStatus', () => statusOf('old'))
        await runtime.containerStatus('c')
        const other = await new ByteServer(join(folder, 'other.sock')).listen()
        other.answers.set('ContainerStatus', () => statusOf('new'))
        server.stop()
        renameSync(other.path, server.path)
        const found = () =>
          runtime.containerStatus('c').then(
            ({ id }) => id === 'new',
            () => false,
          )
        await until('the new server', found, { everyMs: 20 })
        other.stop()
      })

      it('connects when the server comes after the client', async () => {
        const path = join(folder, 'late.sock')
        const early = await connect(`unix://${path}`)
        expect(await criErrorOf(early.listContainers(nothing))).toMatchObject({ code: 'CRI_UNAVAILABLE' })
        const late = await new ByteServer(path).listen()
        late.answers.set('ListContainers', () => Buffer.alloc(0))
        await until('the server', () => early.listContainers(nothing).catch(() => undefined), { everyMs: 20 })
        await early.close()
        late.stop()
      })
    })
  })
}
