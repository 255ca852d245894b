import { type Document, isMap, isNode, isPair, isScalar, LineCounter, type Node, parseAllDocuments } from 'yaml'
import type * as z from 'zod'
import { UsageError } from '../model/errors.js'

/** A YAML file that holds one document, and where each of its values stands. */
export interface YamlFile {
  readonly path: string
  readonly value: unknown
  /** `path:line:column` of the value (or the key) at this path inside the document. */
  at(path: readonly PropertyKey[], key?: string): string
}

const shown = 80

function nodeAt(document: Document, path: readonly PropertyKey[]): Node | undefined {
  const node = document.getIn(path, true)
  return isNode(node) ? node : undefined
}

function keyOf(node: Node | undefined, key: string): Node | undefined {
  if (!isMap(node)) return undefined
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key)
  return isNode(pair?.key) ? pair.key : undefined
}

/** @throws UsageError with line and column for text that is not one YAML (or JSON) document. */
export function parseYaml(path: string, text: string): YamlFile {
  const lines = new LineCounter()
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line}:${col}`
  }
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const [document, second] = Array.isArray(documents) ? documents : []
  const error = document?.errors[0] ?? second?.errors[0]
  if (error !== undefined) throw new UsageError(`${place(error.pos[0])}: ${error.message}`)
  if (second !== undefined) throw new UsageError(`${place(second.range[0])}: expected one document, found more`)
  if (document === undefined || document.contents === null) throw new UsageError(`${path}: the file is empty`)

  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (cause) {
    throw new UsageError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  return {
    path,
    value,
    at: (where, key) => {
      const node = nodeAt(document, where)
      const start = (key === undefined ? undefined : keyOf(node, key))?.range?.[0] ?? node?.range?.[0]
      return start === undefined ? path : place(start)
    },
  }
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.')
}

/** What zod (told to report inputs) found wrong with a file, as one line: the first fault with its place, and how many more there are. */
export function schemaError(file: YamlFile, error: z.core.$ZodError): UsageError {
  const faults = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map(
        (key) => `${file.at(issue.path, key)}: unknown key ${nameOf([...issue.path, key].slice(0, 8))}`,
      )
    }
    const name = issue.path.length === 0 ? 'the document' : nameOf(issue.path)
    const got = issue.code === 'invalid_value' ? `, got ${brief(issue.input)}` : ''
    return [`${file.at(issue.path)}: ${name}: ${issue.message.replace(/^Invalid (input|option): /, '')}${got}`]
  })
  const rest = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  return new UsageError(`${faults[0] ?? file.path}${rest}`)
}

/** The member of a mapping, for a look at `kind` before the schema is chosen. */
export function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

/** A value for an error message: never longer than a line. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > shown ? `${text.slice(0, shown)}…` : text
}
