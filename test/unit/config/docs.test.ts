import { expect, test } from 'vitest'
import * as z from 'zod'
import { configDocument, defaultConfig } from '../../../src/config/load.js'
import { plegdSchema } from '../../../src/config/schema.js'
import { expectDocPart } from '../../support/docs.js'

const defaults = configDocument(defaultConfig())

function rows(schema: z.ZodObject, values: Record<string, unknown>, prefix = ''): string[] {
  return Object.entries(schema.shape).flatMap(([key, field]) => {
    const nested = field instanceof z.ZodPrefault ? field.unwrap() : undefined
    if (nested instanceof z.ZodObject) return rows(nested, values[key] as Record<string, unknown>, `${prefix}${key}.`)
    const value = values[key]
    const shown = value === undefined ? 'unset' : value === '' ? '`""`' : `\`${String(value)}\``
    const description = (field as z.ZodType).description
    expect(description, `${prefix}${key} has a description`).toBeTruthy()
    return [`| \`${prefix}${key}\` | ${shown} | ${description} |`]
  })
}

test('docs/configuration.md says what the schema says', () => {
  expectDocPart(
    'configuration.md',
    'keys',
    `| key | default | meaning |\n| --- | --- | --- |\n${rows(plegdSchema, defaults).join('\n')}\n`,
  )
})
