import columnify from 'columnify'

/** A column's heading, and how a row fills it. */
export interface Column<Row> {
  readonly heading: string
  value(row: Row): string | number
}

/** A runtime's texts go to terminals: no control character gets there. */
function cell(value: string | number): string {
  const text = String(value)
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return text === '' ? '-' : text
}

/** Rows as kubectl prints them: upper-case headings, left-aligned, three spaces between, no borders. One line a row. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const headings = columns.map(({ heading }) => heading)
  const data = rows.map((row) => Object.fromEntries(columns.map((column) => [column.heading, cell(column.value(row))])))
  const heading = Object.fromEntries(headings.map((text) => [text, text]))
  const text = columnify([heading, ...data], { columns: headings, columnSplitter: '   ', showHeaders: false })
  return `${text.replace(/ +$/gm, '')}\n`
}

/** One row at a time, for streams: columns as wide as told, wider values push the rest of their row. */
export function streamRow<Row>(
  columns: readonly (Column<Row> & { readonly width: number })[],
  row: Row | 'headings',
): string {
  const cells = columns.map((column) => {
    const text = row === 'headings' ? column.heading : cell(column.value(row))
    return text.padEnd(column.width)
  })
  return `${cells.join('   ').trimEnd()}\n`
}
