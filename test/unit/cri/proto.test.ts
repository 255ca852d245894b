import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs'
import { expect, test } from 'vitest'
import { loadCri } from '../../support/criMessages.js'
import { sharedFile } from '../../support/shared.js'

const facts = sharedFile('cri/cri-v1-fields.tsv')

const typeOf = (field: protobuf.Field) =>
  field instanceof protobuf.MapField ? `map<${field.keyType},${field.type}>` : field.type

function labelOf(field: protobuf.Field): string {
  if (field.repeated) return 'repeated'
  return field.options?.['deprecated'] ? 'deprecated' : ''
}

/** The rows of the facts' table that a loaded proto states: kind, owner, number, label, type, name. */
function rowsOf(object: protobuf.ReflectionObject, owner: string): string[] {
  if (object instanceof protobuf.Enum)
    return Object.entries(object.values).map(([name, number]) => ['enum', owner, number, '', '', name].join('\t'))
  if (object instanceof protobuf.Service)
    return object.methodsArray.map((m) => {
      if (m.requestStream) throw new Error(`${m.name}: no CRI call streams requests`)
      const response = `${m.responseStream ? 'stream ' : ''}${m.responseType}`
      return ['rpc', owner, '', m.requestType, response, m.name].join('\t')
    })
  if (!(object instanceof protobuf.Type)) return []
  const rows = object.fieldsArray.map((f) => ['field', owner, f.id, labelOf(f), typeOf(f), f.name].join('\t'))
  const nested = object.nestedArray.flatMap((inner) => rowsOf(inner, `${owner}.${inner.name}`))
  return rows.length === 0 ? [['message', owner, '', 'empty', '', ''].join('\t')] : [...rows, ...nested]
}

test.skipIf(!facts)('proto/ states every fact of CRI v1 and no other (needs PLEGD_SHARED)', () => {
  const written = loadCri().nestedArray.flatMap((object) => rowsOf(object, object.name))
  const known = readFileSync(facts!, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [...line.split('\t'), '', '', '', ''].slice(0, 6).join('\t'))
  expect(known.length).toBeGreaterThan(600)
  expect(written.toSorted()).toEqual(known.toSorted())
})
