import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTransport } from '../../../src/cri/connect.js'
import { GrpcCode } from '../../../src/cri/errors.js'
import { ListingRuntime } from '../../../src/cri/listing.js'
import type { ItemSink } from '../../../src/cri/runtime.js'
import { VirtualClock } from '../../../src/sim/virtualClock.js'
import { ByteServer, failure, type StreamAnswer } from '../../support/byteServer.js'
import { decode, lengthField } from '../../support/criMessages.js'

const nothing: ItemSink = { item: () => {} }
const listOf = (...items: string[]) => Buffer.concat(items.map((item) => lengthField(1, Buffer.from(item))))
const containerOf = (id: string) => lengthField(1, lengthField(1, Buffer.from(id)))

describe.each(['h2', 'grpc'] as const)('lists over %s', (transportName) => {
  let folder: string
  let server: ByteServer
  let runtime: ListingRuntime
  let clock: VirtualClock
  /** Calls as the server saw them, in order. */
  let asked: string[]

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plegd-cri-'))
    server = await new ByteServer(join(folder, 'cri.sock')).listen()
    clock = new VirtualClock()
    asked = []
    const transport = await openTransport(server.endpoint, transportName, 10_000)
    runtime = new ListingRuntime({ transport, clock, deadlineMs: 10_000 })
  })
  afterEach(async () => {
    await runtime.close()
    server.stop()
    rmSync(folder, { recursive: true })
  })

  function streams(call: string, answer: StreamAnswer): void {
    server.streams.set(call, (request) => {
      asked.push(call)
      return answer(request)
    })
  }
  function answers(call: string, answer: (filter: string) => Buffer): void {
    server.answers.set(call, ({ message }) => {
      const request = call === 'ListPodSandbox' ? 'ListPodSandboxRequest' : 'ListContainersRequest'
      const filter = filterText(decode(request, message)['filter'] as Filter | null)
      asked.push(filter === '' ? call : `${call} ${filter}`)
      return answer(filter)
    })
  }
  const refusesToStream: StreamAnswer = () => {
    throw failure(GrpcCode.UNIMPLEMENTED, 'unknown method')
  }

  it('come as streams where the runtime streams', async () => {
    streams('StreamPodSandboxes', async function* () {
      yield* [listOf('a', 'b'), listOf('c')]
    })
    streams('StreamContainers', async function* () {
      yield* [listOf('d')]
    })
    for (let i = 0; i < 2; i++) {
      expect(await runtime.listPodSandboxes(nothing)).toMatchObject({ mode: 'streaming', items: 3 })
      expect(await runtime.listContainers(nothing)).toMatchObject({ mode: 'streaming', items: 1 })
    }
    expect(asked.filter((call) => call.startsWith('List'))).toEqual([])
  })

  it('are unary where it does not, each kind for itself, and not tried again for ten minutes', async () => {
    streams('StreamPodSandboxes', refusesToStream)
    answers('ListPodSandbox', () => listOf('a', 'b'))
    streams('StreamContainers', async function* () {
      yield* [listOf('d')]
    })
    for (let i = 0; i < 3; i++) {
      expect(await runtime.listPodSandboxes(nothing)).toMatchObject({ mode: 'unary', items: 2 })
      expect(await runtime.listContainers(nothing)).toMatchObject({ mode: 'streaming', items: 1 })
    }
    expect(asked.filter((call) => call === 'StreamPodSandboxes')).toHaveLength(1)
    expect(asked.filter((call) => call === 'StreamContainers')).toHaveLength(3)

    await clock.advance(599_999)
    await runtime.listPodSandboxes(nothing)
    expect(asked.filter((call) => call === 'StreamPodSandboxes')).toHaveLength(1)
    await clock.advance(1)
    streams('StreamPodSandboxes', async function* () {
      yield* [listOf('a', 'b', 'c')]
    })
    expect(await runtime.listPodSandboxes(nothing)).toMatchObject({ mode: 'streaming', items: 3 })
  })

  it('fail when the stream breaks in the middle, whatever breaks it; a stream is tried again unless it is no use', async () => {
    answers('ListContainers', () => listOf('a', 'b', 'c'))
    const breaks = (code: number, details: string): StreamAnswer =>
      async function* () {
        yield listOf('a')
        throw failure(code, details)
      }
    streams('StreamContainers', breaks(GrpcCode.UNAVAILABLE, 'shutting down'))
    await expect(runtime.listContainers(nothing)).rejects.toMatchObject({ code: 'CRI_UNAVAILABLE' })
    streams('StreamContainers', breaks(GrpcCode.RESOURCE_EXHAUSTED, 'trying to send message larger than max (9 vs. 8)'))
    await expect(runtime.listContainers(nothing)).rejects.toMatchObject({ code: 'CRI_RESOURCE_EXHAUSTED' })
    expect(asked).toEqual(['StreamContainers', 'StreamContainers'])
    expect(await runtime.listContainers(nothing)).toMatchObject({ mode: 'unary', items: 3 })
  })

  describe('over the message limit', () => {
    let limit: number
    let states: Record<string, Buffer>

    beforeEach(() => {
      limit = 60
      states = {
        '0': containerOf('created'),
        '1': containerOf('running1'),
        '2': Buffer.concat(['exited1', 'exited2', 'exited3', 'exited4', 'exited5'].map(containerOf)),
        '3': Buffer.alloc(0),
      }
      const limited = (bytes: Buffer) => {
        if (bytes.length <= limit) return bytes
        throw failure(
          GrpcCode.RESOURCE_EXHAUSTED,
          `trying to send message larger than max (${bytes.length} vs. ${limit})`,
        )
      }
      answers('ListContainers', (filter) => {
        const [, state, sandbox] = /^state=(\d)(?: sandbox=(.*))?$/.exec(filter) ?? []
        if (sandbox !== undefined) return sandbox === 's1' ? containerOf('exited1') : Buffer.alloc(0)
        if (filter.startsWith('id=')) return Buffer.alloc(0)
        return limited(state === undefined ? Buffer.concat(Object.values(states)) : states[state]!)
      })
      answers('ListPodSandbox', (filter) => (filter === 'state=0' ? containerOf('s1') : containerOf('s2')))
      answers('ContainerStatus', () => Buffer.alloc(0))
    })

    it('come state by state, and in one answer again once they fit with room to spare', async () => {
      const report = await runtime.listContainers(nothing)
      expect(report).toEqual({ mode: 'filtered', items: 7, bytes: 78, largestMessage: 55 })
      const byState = ['state=0', 'state=1', 'state=3', 'state=2'].map((filter) => `ListContainers ${filter}`)
      expect(asked).toEqual(['ListContainers', ...byState])

      asked = []
      states['2'] = containerOf('exited1')
      expect(await runtime.listContainers(nothing)).toMatchObject({ mode: 'filtered', items: 3 })
      expect(asked).toEqual(byState)
      expect(await runtime.listContainers(nothing)).toMatchObject({ mode: 'unary', items: 3 })
    })

    it('stay in parts while they would nearly reach the limit', async () => {
      await runtime.listContainers(nothing)
      states['2'] = Buffer.concat(['exited1', 'exited2', 'exited3'].map(containerOf))
      // 93 % of the limit.
      for (let i = 0; i < 2; i++) {
        expect(await runtime.listContainers(nothing)).toMatchObject({ mode: 'filtered', items: 5, bytes: 56 })
      }
    })

    it('come sandbox by sandbox where one state alone is over it', async () => {
      limit = 50
      const shown: string[] = []
      await runtime.listContainers({ item: (buf, start, end) => shown.push(buf.toString('utf8', start + 2, end)) })
      expect(shown).toEqual(['created', 'running1', 'exited1'])
      expect(asked.slice(-4)).toEqual([
        'ListPodSandbox state=0',
        'ListPodSandbox state=1',
        'ListContainers state=2 sandbox=s1',
        'ListContainers state=2 sandbox=s2',
      ])
    })

    it('fail as a whole when one part fails', async () => {
      await runtime.listContainers(nothing)
      server.answers.set('ListContainers', ({ message }) => {
        const filter = decode('ListContainersRequest', message)['filter'] as Filter
        if (filter.state?.state === 3) throw failure(GrpcCode.INTERNAL, 'lost count')
        return Buffer.alloc(0)
      })
      await expect(runtime.listContainers(nothing)).rejects.toMatchObject({ details: 'lost count' })
    })

    it('leave out a state that the runtime does not know', async () => {
      const known = server.answers.get('ListContainers')!
      server.answers.set('ListContainers', (request) => {
        const { filter } = decode('ListContainersRequest', request.message) as { filter: Filter | null }
        if (filter?.state?.state !== 3) return known(request)
        throw failure(GrpcCode.UNKNOWN, "Error response from daemon: invalid filter 'status=unknown'")
      })
      expect(await runtime.listContainers(nothing)).toMatchObject({ mode: 'filtered', items: 7 })
    })

    it('look for what the sink misses by id, unless its status says that it is gone', async () => {
      server.answers.set('ContainerStatus', ({ message }) => {
        const id = decode('ContainerStatusRequest', message)['container_id']
        throw failure(id === 'gone' ? GrpcCode.NOT_FOUND : GrpcCode.UNKNOWN, 'as you asked')
      })
      await runtime.listContainers({ item: () => {}, unseen: () => ['gone', 'odd'] })
      expect(asked.filter((call) => call.includes('id='))).toEqual(['ListContainers id=odd'])
    })

    it('are left to the caller who narrowed them', async () => {
      limit = 20
      const narrowed = runtime.listContainers(nothing, { filter: { state: 2 } })
      await expect(narrowed).rejects.toMatchObject({ facts: { cause: 'answer_too_large' } })
      expect(asked).toEqual(['ListContainers state=2'])
    })
  })
})

interface Filter {
  readonly id: string
  readonly state: { readonly state: number } | null
  readonly pod_sandbox_id?: string
}

function filterText(filter: Filter | null): string {
  if (filter === null) return ''
  const parts = [
    filter.id && `id=${filter.id}`,
    filter.state && `state=${filter.state.state}`,
    filter.pod_sandbox_id && `sandbox=${filter.pod_sandbox_id}`,
  ]
  return parts.filter(Boolean).join(' ')
}
