import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resolveEndpoint } from '../../../src/cli/endpoint.js'
import { UsageError } from '../../../src/model/errors.js'

let folder: string
const file = (text: string) => {
  const path = join(folder, 'crictl.yaml')
  writeFileSync(path, text)
  return path
}
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plegd-endpoint-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const env = { CONTAINER_RUNTIME_ENDPOINT: 'unix:///env' }

test('flag, then environment, then crictl.yaml', () => {
  const path = file('runtime-endpoint: unix:///file\ntimeout: 2\n')
  expect(resolveEndpoint('unix:///flag', env, path)).toBe('unix:///flag')
  expect(resolveEndpoint(undefined, env, path)).toBe('unix:///env')
  expect(resolveEndpoint(undefined, {}, path)).toBe('unix:///file')
  expect(resolveEndpoint(undefined, { CONTAINER_RUNTIME_ENDPOINT: '' }, path)).toBe('unix:///file')
})

test('none of them: says what to do', () => {
  const missing = join(folder, 'none')
  expect(() => resolveEndpoint(undefined, {}, missing)).toThrow(UsageError)
  expect(() => resolveEndpoint(undefined, {}, missing)).toThrow(/--runtime-endpoint/)
  expect(() => resolveEndpoint(undefined, {}, file(''))).toThrow(UsageError)
  expect(() => resolveEndpoint(undefined, {}, file('a: [1'))).toThrow(UsageError)
})
