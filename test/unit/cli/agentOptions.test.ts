import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentOptions, resolveAgentConfig } from '../../../src/cli/agentOptions.js'

let path: string
beforeAll(() => {
  path = join(mkdtempSync(join(tmpdir(), 'plegd-flags-')), 'config.yaml')
  writeFileSync(
    path,
    'apiVersion: plegd.dev/v1alpha1\nkind: PlegdConfiguration\ncontainerRuntimeEndpoint: unix:///file\nplegRelistPeriod: 5s\nshards: 2\nlogging: {format: json}\n',
  )
})
afterAll(() => rmSync(join(path, '..'), { recursive: true }))

const resolve = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  resolveAgentConfig(agentOptions().exitOverride().parse(args, { from: 'user' }).opts(), env).config

describe('flags beat the environment, and that the file', () => {
  test('the file alone', () => {
    expect(resolve(['--config', path])).toMatchObject({
      containerRuntimeEndpoint: 'unix:///file',
      plegRelistPeriod: 5_000,
      shards: 2,
      logging: { format: 'json', verbosity: 2 },
    })
  })

  test('each flag replaces its key and no other', () => {
    const args = ['--config', path, '--pleg-relist-period', '300ms', '--v', '4', '--http-address', '[::1]:0']
    expect(resolve(args)).toMatchObject({
      plegRelistPeriod: 300,
      shards: 2,
      healthzBindAddress: '::1',
      healthzPort: 0,
      logging: { format: 'json', verbosity: 4 },
    })
  })

  test('the endpoint: flag, environment, file, none', () => {
    const env = { CONTAINER_RUNTIME_ENDPOINT: 'unix:///env' }
    expect(resolve(['--config', path, '-r', 'unix:///flag'], env).containerRuntimeEndpoint).toBe('unix:///flag')
    expect(resolve(['--config', path], env).containerRuntimeEndpoint).toBe('unix:///env')
    expect(resolve([]).containerRuntimeEndpoint).toBe('')
  })

  test('the node’s name: flag, environment, the host’s', () => {
    expect(resolve(['--hostname-override', 'flag'], { NODE_NAME: 'env' }).nodeName).toBe('flag')
    expect(resolve([], { NODE_NAME: 'env' }).nodeName).toBe('env')
    expect(resolve([]).nodeName).not.toBe('')
  })

  test('every flag of the schema reaches the configuration', () => {
    const args =
      '--pleg-relist-threshold 1m --pleg-channel-capacity 10 --pleg-channel-overflow discard --inspect-concurrency 7 --transport grpc --runtime-request-timeout 4s --message-warn-size 1Mi --housekeeping-period 3s --logging-format json'
    expect(resolve(args.split(' '))).toMatchObject({
      plegRelistThreshold: 60_000,
      plegChannelCapacity: 10,
      plegChannelOverflow: 'discard',
      inspectConcurrency: 7,
      runtimeTransport: 'grpc',
      runtimeRequestTimeout: 4_000,
      messageWarnSize: 2 ** 20,
      housekeepingPeriod: 3_000,
      logging: { format: 'json' },
    })
  })
})
