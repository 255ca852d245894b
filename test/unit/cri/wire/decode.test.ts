import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CriError } from '../../../../src/cri/errors.js'
import { decodeItem } from '../../../../src/cri/wire/item.js'
import { decodeContainerStatusResponse, decodeSandboxStatusResponse } from '../../../../src/cri/wire/status.js'
import { containerStateOf, sandboxStateOf } from '../../../../src/model/state.js'
import { decode, encode, lengthField, type Plain } from '../../../support/criMessages.js'
import { root } from '../../../support/shared.js'
import { arbitraries, disordered, fieldsOf } from './support.js'

type Labels = Record<string, string>
const YEAR_ONE = '-6795364578871345152'
const time = (value: unknown) => (value === YEAR_ONE ? 0n : BigInt(value as string))
const part = (value: unknown): Plain => (value ?? {}) as Plain
const metadataOf = (message: Plain) => ({ name: '', uid: '', namespace: '', attempt: 0, ...part(message['metadata']) })

/** What decodeItem must say of an item that protobufjs read. */
function listed(kind: 'sandbox' | 'container', message: Plain) {
  const metadata = metadataOf(message)
  const labels = message['labels'] as Labels
  const item = {
    kind,
    id: message['id'],
    name: metadata.name,
    attempt: metadata.attempt,
    criState: message['state'],
    createdAt: BigInt(message['created_at'] as string),
    sandboxId: kind === 'sandbox' ? '' : message['pod_sandbox_id'],
    image: part(message['image'])['image'] ?? '',
  }
  if (kind === 'sandbox') {
    const labelled = metadata.uid !== '' && labels['io.kubernetes.pod.uid'] === metadata.uid
    return { item, podUid: metadata.uid, podNamespace: metadata.namespace, podName: metadata.name, labelled }
  }
  return {
    item,
    podUid: labels['io.kubernetes.pod.uid'] ?? '',
    podNamespace: labels['io.kubernetes.pod.namespace'] ?? '',
    podName: labels['io.kubernetes.pod.name'] ?? '',
    labelled: (labels['io.kubernetes.pod.uid'] ?? '') !== '',
  }
}

function sandboxStatus(message: Plain) {
  const network = part(message['network'])
  const options = part(part(part(message['linux'])['namespaces'])['options'])
  const hostNetwork = options['network'] === 2
  const others = ((network['additional_ips'] ?? []) as Plain[]).map(({ ip }) => ip)
  return {
    id: message['id'],
    ...metadataOf(message),
    state: sandboxStateOf(message['state'] as number),
    createdAt: time(message['created_at']),
    ips: hostNetwork ? [] : [network['ip'], ...others].filter((ip) => ip),
    hostNetwork,
    runtimeHandler: message['runtime_handler'],
    labels: message['labels'],
    annotations: message['annotations'],
  }
}

function containerStatus(message: Plain) {
  const { name, attempt } = metadataOf(message)
  return {
    id: message['id'],
    name,
    attempt,
    state: containerStateOf(message['state'] as number),
    createdAt: time(message['created_at']),
    startedAt: time(message['started_at']),
    finishedAt: time(message['finished_at']),
    exitCode: message['exit_code'],
    image: part(message['image'])['image'] ?? '',
    imageRef: message['image_ref'],
    imageId: message['image_id'],
    reason: message['reason'],
    message: message['message'],
    logPath: message['log_path'],
    labels: message['labels'],
    annotations: message['annotations'],
  }
}

/** Each decoder: the message it reads, where its bytes stand in the answer, what must come out. */
const decoders = {
  PodSandbox: {
    wrap: (bytes: Buffer) => bytes,
    read: (bytes: Buffer): unknown => decodeItem('sandbox', bytes, 0, bytes.length),
    expected: (message: Plain): unknown => listed('sandbox', message),
  },
  Container: {
    wrap: (bytes: Buffer) => bytes,
    read: (bytes: Buffer): unknown => decodeItem('container', bytes, 0, bytes.length),
    expected: (message: Plain): unknown => listed('container', message),
  },
  PodSandboxStatus: {
    wrap: (bytes: Buffer) => lengthField(1, bytes),
    read: (bytes: Buffer): unknown => decodeSandboxStatusResponse(bytes, 0, bytes.length),
    expected: sandboxStatus,
  },
  ContainerStatus: {
    wrap: (bytes: Buffer) => lengthField(1, bytes),
    read: (bytes: Buffer): unknown => decodeContainerStatusResponse(bytes, 0, bytes.length),
    expected: containerStatus,
  },
}
const types = Object.keys(decoders) as (keyof typeof decoders)[]

describe.each(types)('%s', (type) => {
  const { wrap, read, expected } = decoders[type]
  const encoded = arbitraries[type].map((message) => encode(type, message))

  it('reads what protobufjs reads: any field order, unknown and absent fields', () => {
    const property = fc.property(encoded.chain(disordered), (bytes) => {
      expect(read(wrap(bytes))).toEqual(expected(decode(type, bytes)))
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('reads from the middle of a buffer', () => {
    const bytes = encode(type, { id: 'a', metadata: { name: 'n' } })
    const around = Buffer.concat([Buffer.from([0x0a, 0x7f]), wrap(bytes), Buffer.from([0x0a, 0x7f])])
    const end = 2 + wrap(bytes).length
    const middle = {
      PodSandbox: () => decodeItem('sandbox', around, 2, end),
      Container: () => decodeItem('container', around, 2, end),
      PodSandboxStatus: () => decodeSandboxStatusResponse(around, 2, end),
      ContainerStatus: () => decodeContainerStatusResponse(around, 2, end),
    }[type]()
    expect(middle).toEqual(expected(decode(type, bytes)))
  })

  it('takes the last of a repeated scalar and merges a repeated message', () => {
    const halves = [
      encode(type, { id: 'first', metadata: { name: 'n' }, image: { image: 'i' } }),
      encode(type, { id: 'last', metadata: { attempt: 3 }, image: { runtime_handler: 'r' } }),
    ]
    const whole = encode(type, { id: 'last', metadata: { name: 'n', attempt: 3 }, image: { image: 'i' } })
    const merged = expected(decode(type, whole))
    expect(read(wrap(Buffer.concat(halves)))).toEqual(merged)
    if (type.endsWith('Status')) expect(read(Buffer.concat(halves.map(wrap)))).toEqual(merged)
  })

  it('skips a known field of another wire type, as Go does', () => {
    const idAsVarint = Buffer.from([0x08, 0x05])
    expect(read(wrap(idAsVarint))).toEqual(expected(decode(type, Buffer.alloc(0))))
  })

  it('only ever fails with a CriError, wherever the bytes stop', () => {
    const property = fc.property(encoded, fc.nat(), (bytes, cut) => {
      const whole = wrap(bytes)
      expectReadOrCriError(() => read(whole.subarray(0, cut % (whole.length + 1))))
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('only ever fails with a CriError on random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => expectReadOrCriError(() => read(Buffer.from(bytes)))),
    )
    const property = fc.property(encoded, fc.nat(), fc.nat({ max: 255 }), (bytes, at, value) => {
      const broken = Buffer.from(wrap(bytes))
      broken[at % broken.length] = value
      expectReadOrCriError(() => read(broken))
    })
    fc.assert(property, { numRuns: 500 })
  })
})

function expectReadOrCriError(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(CriError)
    expect(error).toMatchObject({ code: 'CRI_INTERNAL' })
  }
}

describe('what protobufjs is no yardstick for', () => {
  it('keeps nanoseconds exact at the ends of int64', () => {
    for (const created of [
      '1789000000000000001',
      '1789000000000000101',
      '9223372036854775807',
      '-9223372036854775808',
    ]) {
      const bytes = encode('Container', { created_at: created })
      expect(decodeItem('container', bytes, 0, bytes.length).item.createdAt).toBe(BigInt(created))
    }
  })

  it('turns invalid UTF-8 into U+FFFD and goes on', () => {
    const entry = Buffer.concat([
      lengthField(1, Buffer.from('io.kubernetes.pod.name')),
      lengthField(2, Buffer.from([0x61, 0xff, 0x62])),
    ])
    const bytes = Buffer.concat([lengthField(8, entry), lengthField(1, Buffer.from('id'))])
    expect(decodeItem('container', bytes, 0, bytes.length)).toMatchObject({ podName: 'a\ufffdb', item: { id: 'id' } })
  })

  it('keeps a label named __proto__', () => {
    const entry = Buffer.concat([lengthField(1, Buffer.from('__proto__')), lengthField(2, Buffer.from('x'))])
    const bytes = lengthField(1, lengthField(12, entry))
    const { labels } = decodeContainerStatusResponse(bytes, 0, bytes.length)
    expect(Object.entries(labels)).toEqual([['__proto__', 'x']])
  })

  it('knows year 1 as no time', () => {
    const status = { created_at: YEAR_ONE, started_at: YEAR_ONE, finished_at: YEAR_ONE }
    const bytes = lengthField(1, encode('ContainerStatus', status))
    const none = { createdAt: 0n, startedAt: 0n, finishedAt: 0n }
    expect(decodeContainerStatusResponse(bytes, 0, bytes.length)).toMatchObject(none)
  })

  it('drops what is no address', () => {
    const network = { ip: '10.0.0.300', additional_ips: [{ ip: '' }, { ip: 'fd00::1' }] }
    const bytes = lengthField(1, encode('PodSandboxStatus', { network }))
    expect(decodeSandboxStatusResponse(bytes, 0, bytes.length).ips).toEqual(['fd00::1'])
  })

  it.each([
    ['ContainerStatus', decodeContainerStatusResponse],
    ['PodSandboxStatus', decodeSandboxStatusResponse],
  ] as const)('%s: an answer without a status is an error', (call, read) => {
    const bytes = lengthField(2, Buffer.alloc(0))
    for (const answer of [bytes, Buffer.alloc(0)])
      expect(() => read(answer, 0, answer.length)).toThrow(`${call}: INTERNAL: the runtime answered without a status`)
  })
})

describe('answers of real runtimes', () => {
  const folder = join(root, 'test/fixtures/wire')
  for (const file of readdirSync(folder)) {
    const answers = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Labels
    it.each(Object.entries(answers))(`${file}: %s`, (name, base64) => {
      const call = name.split('_')[0]!
      const bytes = Buffer.from(base64, 'base64')
      if (call.startsWith('List')) {
        const type = call === 'ListPodSandbox' ? 'PodSandbox' : 'Container'
        const items = fieldsOf(bytes).map((field) => field.subarray(3))
        expect(items.length).toBeGreaterThan(1)
        for (const item of items) expect(decoders[type].read(item)).toEqual(decoders[type].expected(decode(type, item)))
      } else {
        const type = call as 'PodSandboxStatus' | 'ContainerStatus'
        const { status } = decode(`${type}Response`, bytes)
        expect(decoders[type].read(bytes)).toEqual(decoders[type].expected(status as Plain))
      }
    })
  }
})
