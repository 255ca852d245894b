import { describe, expect, test } from 'vitest'
import { type Column, streamRow, table } from '../../../src/agent/table.js'

interface Row {
  readonly name: string
  readonly count: number
}
const columns: readonly Column<Row>[] = [
  { heading: 'NAME', value: (row) => row.name },
  { heading: 'POD ID', value: (row) => row.count },
]

describe('table', () => {
  test('is kubectl’s: upper case, left-aligned, three spaces, no borders, nothing after the last column', () => {
    expect(
      table(columns, [
        { name: 'web-0', count: 1 },
        { name: 'a-longer-name', count: 22 },
      ]),
    ).toBe('NAME            POD ID\nweb-0           1\na-longer-name   22\n')
  })

  test('one line a row, whatever a runtime sends; nothing is a dash', () => {
    expect(
      table(columns, [
        { name: 'a\nb\u001b[31m', count: 1 },
        { name: '', count: 2 },
      ]),
    ).toBe('NAME       POD ID\na b [31m   1\n-          2\n')
  })

  test('without rows it is the headings', () => expect(table(columns, [])).toBe('NAME   POD ID\n'))
})

test('a stream keeps its columns', () => {
  const wide = columns.map((column) => ({ ...column, width: 6 }))
  expect(streamRow(wide, 'headings')).toBe('NAME     POD ID\n')
  expect(streamRow(wide, { name: 'web', count: 1 })).toBe('web      1\n')
  expect(streamRow(wide, { name: 'much-too-long', count: 1 })).toBe('much-too-long   1\n')
})
