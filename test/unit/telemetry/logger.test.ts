import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogger, type LogOptions } from '../../../src/telemetry/logger.js'

const wall = new Date(2026, 11, 1, 14, 15, 15, 525).getTime()

function logged(options: Partial<LogOptions> = {}) {
  const lines: string[] = []
  const sink = { write: (line: string) => void lines.push(line) }
  return { lines, logger: createLogger({ format: 'text', verbosity: 2, ...options }, sink, () => wall) }
}

describe('text is klog', () => {
  test('header, quoted message, err first, numbers bare, pods as namespace/name', () => {
    const { lines, logger } = logged()
    logger.error('Skipping pod synchronization', {
      pod: { uid: 'u', namespace: 'ns', name: 'web' },
      n: 3,
      err: new Error('a "b"'),
    })
    const pid = String(process.pid).padStart(7)
    const [line = ''] = lines
    expect(line.replace(/logger\.test\.[jt]s:\d+/, 'FILE')).toBe(
      `E1201 14:15:15.525000 ${pid} FILE] "Skipping pod synchronization" err="a \\"b\\"" pod="ns/web" n=3\n`,
    )
  })

  test('the PLEG line that people grep', () => {
    const { lines, logger } = logged()
    logger.v(2, 'SyncLoop (PLEG): event for pod', { event: { ID: 'u', Type: 'ContainerStarted', Data: 'c' } })
    expect(lines[0]).toContain(
      '"SyncLoop (PLEG): event for pod" event={"ID":"u","Type":"ContainerStarted","Data":"c"}\n',
    )
  })

  test('severities and verbosity', () => {
    const { lines, logger } = logged({ verbosity: 3 })
    logger.warn('w')
    logger.info('i')
    logger.v(3, 'three')
    logger.v(4, 'four')
    expect(lines.map((line) => [line[0], line.slice(line.indexOf('] ') + 2)])).toEqual([
      ['W', '"w"\n'],
      ['I', '"i"\n'],
      ['I', '"three"\n'],
    ])
  })
})

describe('json is the kubelet’s', () => {
  test('ts, v, msg, err; no v on errors', () => {
    const { lines, logger } = logged({ format: 'json' })
    logger.v(2, 'hello', { pod: { namespace: 'ns', name: 'web' }, big: 5n })
    logger.error('bad', { err: new Error('why') })
    const [hello, bad] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(hello).toMatchObject({
      ts: wall,
      v: 2,
      msg: 'hello',
      level: 'info',
      big: '5',
      pod: { namespace: 'ns', name: 'web' },
    })
    expect(hello?.['caller']).toMatch(/^logger\.test\.[jt]s:\d+$/)
    expect(bad).toMatchObject({ ts: wall, msg: 'bad', err: 'why', level: 'error' })
    expect(bad).not.toHaveProperty('v')
  })
})

test.each(['text', 'json'] as const)(
  '%s: one call is one line without control characters, whatever the value',
  (format) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.anything(), (text, value) => {
        const { lines, logger } = logged({ format })
        logger.info(text, { text, value, '\n': 1 })
        expect(lines).toHaveLength(1)
        expect(lines[0]).toMatch(/^[^\p{Cc}\u2028\u2029]+\n$/u)
      }),
    )
  },
)

test('values are bounded in length, breadth and depth', () => {
  const { lines, logger } = logged({ format: 'json' })
  const deep: Record<string, unknown> = {}
  deep['self'] = deep
  logger.info('x'.repeat(5_000), { text: 'y'.repeat(5_000), list: Array(1_000).fill('z'), deep })
  expect(lines[0]?.length).toBeLessThan(3_500)
  const line = JSON.parse(lines[0] ?? '') as { text: string; list: string[] }
  expect(line.text).toBe(`${'y'.repeat(1_024)}…(+3976)`)
  expect(line.list.at(-1)).toBe('…(+968)')
})
