import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configDocument, configYaml, defaultConfig, loadConfig, parseConfig } from '../../../src/config/load.js'
import { UsageError } from '../../../src/model/errors.js'

const head = 'apiVersion: plegd.dev/v1alpha1\nkind: PlegdConfiguration\n'
const parse = (body: string) => parseConfig('f.yaml', head + body).config

function failure(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    const { message } = error as UsageError
    expect(message).not.toContain('\n')
    return message
  }
  throw new Error('nothing was thrown')
}

describe('a PlegdConfiguration', () => {
  test('is all defaults when it says nothing, and those are the constants of the kubelet', () => {
    expect(parse('')).toEqual(defaultConfig())
    expect(defaultConfig()).toMatchObject({
      containerRuntimeEndpoint: '',
      runtimeRequestTimeout: 120_000,
      plegRelistPeriod: 1_000,
      plegRelistThreshold: 180_000,
      plegChannelCapacity: 1_000,
      housekeepingPeriod: 2_000,
      healthzBindAddress: '127.0.0.1',
      healthzPort: 10_248,
      logging: { format: 'text', verbosity: 2 },
    })
  })

  test('reads durations, sizes and nested keys', () => {
    const config = parse('plegRelistPeriod: 300ms\nmessageWarnSize: 8Mi\nshards: 2\nlogging:\n  format: json\n')
    expect(config).toMatchObject({
      plegRelistPeriod: 300,
      messageWarnSize: 8 * 2 ** 20,
      shards: 2,
      logging: { format: 'json', verbosity: 2 },
    })
  })

  test('may be JSON', () => {
    const text = JSON.stringify({ ...configDocument(defaultConfig()), shards: 3 })
    expect(parseConfig('f.json', text).config.shards).toBe(3)
  })

  test('printed and read again is the same', () => {
    const config = parse('plegRelistThreshold: 3m5.123s\nruntimeTransport: grpc\nmessageWarnSize: "1000"\n')
    expect(parseConfig('printed', configYaml(config)).config).toEqual(config)
  })
})

describe('a fault is named with its line and column', () => {
  test.each([
    ['plegRelistPeriodd: 1s\n', 'f.yaml:3:1: unknown key plegRelistPeriodd'],
    ['logging:\n  colour: red\n', 'f.yaml:4:3: unknown key logging.colour'],
    [
      'plegRelistPeriod: 1x\n',
      'f.yaml:3:19: plegRelistPeriod: invalid duration "1x": expected something like 1m0s or 300ms',
    ],
    ['plegRelistPeriod: 0s\n', 'f.yaml:3:19: plegRelistPeriod: must be at least 1ms'],
    ['plegRelistPeriod: 5\n', 'f.yaml:3:19: plegRelistPeriod: expected string, received number'],
    ['shards: many\n', 'f.yaml:3:9: shards: expected number, received string'],
    ['shards: 0\n', 'f.yaml:3:9: shards: Too small: expected number to be >=1'],
    ['logging: {format: xml}\n', 'f.yaml:3:19: logging.format: expected one of "text"|"json", got "xml"'],
    ['shards: 1\nshards: 2\n', 'f.yaml:4:1: Map keys must be unique'],
    ['shards: [1\n', /^f\.yaml:\d+:\d+: Flow sequence/],
    ['---\na: 1\n', /^f\.yaml:\d+:\d+: expected one document, found more$/],
    ['a: 1\nb: 2\n', 'f.yaml:3:1: unknown key a (and 1 more)'],
  ])('%j', (body, message) => {
    const found = failure(() => parse(body))
    if (typeof message === 'string') expect(found).toBe(message)
    else expect(found).toMatch(message)
  })

  test('another kind, no kind, and nothing at all', () => {
    expect(failure(() => parseConfig('f.yaml', 'kind: Pod\napiVersion: v1\n'))).toMatch(
      /^f\.yaml:1:1: apiVersion "v1", kind "Pod": expected plegd\.dev\/v1alpha1, PlegdConfiguration/,
    )
    expect(failure(() => parseConfig('f.yaml', 'shards: 1\n'))).toMatch(/apiVersion nothing, kind nothing/)
    expect(failure(() => parseConfig('f.yaml', ''))).toBe('f.yaml: the file is empty')
    expect(failure(() => parseConfig('f.yaml', '- 1\n'))).toMatch(/expected plegd/)
  })

  test('aliases that multiply are refused', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map((key, i) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
      .join('\n')}\n`
    expect(failure(() => parse(bomb))).toMatch(/alias/i)
  })
})

describe('a KubeletConfiguration', () => {
  const kubelet = (body: string) =>
    parseConfig('kubelet.yaml', `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${body}`)

  test('gives what means the same, and says how much was left', () => {
    const { config, notices } = kubelet(
      'containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\nruntimeRequestTimeout: 15m0s\nclusterDNS: [10.96.0.10]\nhealthzPort: 10248\nlogging:\n  format: json\n  flushFrequency: 0\n',
    )
    expect(config).toMatchObject({
      containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
      runtimeRequestTimeout: 900_000,
      logging: { format: 'json', verbosity: 2 },
    })
    expect(notices).toEqual([
      'kubelet.yaml is a KubeletConfiguration: read containerRuntimeEndpoint, runtimeRequestTimeout, logging.format; ignored 2 other keys',
    ])
  })

  test('takes empty values as kubeadm writes them for unset', () => {
    const { config, notices } = kubelet(
      'containerRuntimeEndpoint: ""\nruntimeRequestTimeout: 0s\nlogging:\n  verbosity: 0\n',
    )
    expect(config).toEqual(defaultConfig())
    expect(notices[0]).toMatch(/read none/)
  })

  test('a bad value in it has its place', () => {
    expect(failure(() => kubelet('runtimeRequestTimeout: soon\n'))).toMatch(
      /^kubelet\.yaml:3:24: runtimeRequestTimeout: invalid duration/,
    )
  })
})

describe('the file itself', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'plegd-config-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('missing, a folder, and too large', () => {
    expect(failure(() => loadConfig(join(folder, 'none.yaml')))).toMatch(/none\.yaml: no such file$/)
    expect(failure(() => loadConfig(folder))).toMatch(/not a regular file$/)
    writeFileSync(join(folder, 'large.yaml'), '#'.repeat((1 << 20) + 1))
    expect(failure(() => loadConfig(join(folder, 'large.yaml')))).toMatch(/at most 1048576$/)
  })

  test('is read', () => {
    writeFileSync(join(folder, 'ok.yaml'), `${head}shards: 4\n`)
    expect(loadConfig(join(folder, 'ok.yaml'))).toEqual({ config: { ...defaultConfig(), shards: 4 }, notices: [] })
  })
})
