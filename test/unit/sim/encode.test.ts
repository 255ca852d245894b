import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Codec } from '../../../src/sim/codec.js'
import {
  encodeContainerStatus,
  encodeEvent,
  encodeListedContainer,
  encodeListedSandbox,
  encodeSandboxStatus,
} from '../../../src/sim/encode.js'
import type { ContainerRecord, SandboxRecord } from '../../../src/sim/records.js'

const codec = new Codec()
const int64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })
// Lengths around those where a length takes one byte more.
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(126, 127, 128, 129, 16_383, 16_384).map((n) => 'é'.repeat(n >> 1)),
)
const map = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 10 }).filter((key) => key !== '__proto__'),
  text,
  {
    noNullPrototype: true,
    maxKeys: 4,
  },
)
const uint32 = fc.nat(2 ** 31 - 1)

const sandboxes: fc.Arbitrary<SandboxRecord> = fc.record({
  id: text,
  name: text,
  uid: text,
  namespace: text,
  attempt: uint32,
  createdAt: int64,
  labels: map,
  annotations: map,
  runtimeHandler: text,
  logDirectory: text,
  hostNetwork: fc.boolean(),
  encodedStatus: fc.constant(
    codec.encodeStatusPart('PodSandboxStatus', { linux: { namespaces: { options: { network: 'NODE' } } } }),
  ),
  state: fc.nat(1),
  ips: fc.array(text, { maxLength: 3 }),
  containers: fc.constant(new Set<ContainerRecord>()),
})
const containers: fc.Arbitrary<ContainerRecord> = fc.record({
  id: text,
  sandbox: sandboxes,
  name: text,
  attempt: uint32,
  createdAt: int64,
  image: fc.constant({ id: 'sha256:1', tags: ['a:1'], digests: ['a@sha256:2'], size: 1, pinned: false, user: null }),
  userImage: text,
  labels: map,
  annotations: map,
  command: fc.constant([]),
  envs: fc.constant({}),
  encodedStatus: fc.constant(
    codec.encodeStatusPart('ContainerStatus', { mounts: [{ host_path: '/h' }], stop_signal: 'SIGNAL_SIGTERM' }),
  ),
  logPath: text,
  state: fc.nat(3),
  startedAt: int64,
  finishedAt: int64,
  exitCode: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  reason: text,
  message: text,
})

const sandboxStates = ['SANDBOX_READY', 'SANDBOX_NOTREADY']
const containerStates = ['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN']

const sandboxFields = (s: SandboxRecord) => ({
  id: s.id,
  metadata: { name: s.name, uid: s.uid, namespace: s.namespace, attempt: s.attempt },
  state: sandboxStates[s.state],
  created_at: `${s.createdAt}`,
  labels: s.labels,
  annotations: s.annotations,
  runtime_handler: s.runtimeHandler,
})
const containerFields = (c: ContainerRecord) => ({
  id: c.id,
  metadata: { name: c.name, attempt: c.attempt },
  state: containerStates[c.state],
  created_at: `${c.createdAt}`,
  labels: c.labels,
  annotations: c.annotations,
  image_id: c.image.id,
})
const containerStatusFields = (c: ContainerRecord) => ({
  ...containerFields(c),
  started_at: `${c.startedAt}`,
  finished_at: `${c.finishedAt}`,
  exit_code: c.exitCode,
  image_ref: 'a@sha256:2',
  reason: c.reason,
  message: c.message,
  log_path: c.logPath,
  stop_signal: 'SIGNAL_SIGTERM',
  mounts: [expect.objectContaining({ host_path: '/h' })],
})

describe('messages written by hand, read by protobuf.js', () => {
  it('a listed sandbox', () => {
    fc.assert(
      fc.property(sandboxes, (sandbox) => {
        const read = codec.decodeResponse('ListPodSandbox', encodeListedSandbox(sandbox))
        expect(read).toEqual({ items: [sandboxFields(sandbox)] })
      }),
    )
  })

  it('a listed container', () => {
    fc.assert(
      fc.property(containers, (container) => {
        const read = codec.decodeResponse('ListContainers', encodeListedContainer(container))
        const image = expect.objectContaining({ image: 'sha256:1', user_specified_image: container.userImage })
        const fields = {
          ...containerFields(container),
          pod_sandbox_id: container.sandbox.id,
          image,
          image_ref: 'sha256:1',
        }
        expect(read).toEqual({ containers: [fields] })
      }),
    )
  })

  it('a sandbox status', () => {
    fc.assert(
      fc.property(sandboxes, (sandbox) => {
        const read = codec.decodeResponse('PodSandboxStatus', encodeSandboxStatus(sandbox, { info: '{}' }))
        const [ip = '', ...more] = sandbox.ips
        expect(read).toMatchObject({
          status: { ...sandboxFields(sandbox), network: { ip, additional_ips: more.map((other) => ({ ip: other })) } },
          info: { info: '{}' },
        })
        expect(read).toMatchObject({ status: { linux: { namespaces: { options: { network: 'NODE' } } } } })
      }),
    )
  })

  it('a container status', () => {
    fc.assert(
      fc.property(containers, (container) => {
        const read = codec.decodeResponse('ContainerStatus', encodeContainerStatus(container, {}))
        expect(read).toMatchObject({ status: containerStatusFields(container), info: {} })
      }),
    )
  })

  it('an event with its pod', () => {
    fc.assert(
      fc.property(containers, int64, (container, at) => {
        const sandbox = { ...container.sandbox, containers: new Set([container]) }
        const read = codec.decodeResponse('GetContainerEvents', encodeEvent(container.id, 2, at, sandbox))
        expect(read).toMatchObject({
          container_id: container.id,
          container_event_type: 'CONTAINER_STOPPED_EVENT',
          created_at: `${at}`,
          pod_sandbox_status: sandboxFields(sandbox),
          containers_statuses: [containerStatusFields(container)],
        })
      }),
    )
  })
})
