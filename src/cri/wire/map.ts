import { type WireReader, WireType } from './reader.js'

/** One entry of a map<string, string>. */
export function readMapEntry(reader: WireReader): [key: string, value: string] {
  let key = ''
  let value = ''
  reader.message((entry) => {
    while (entry.next()) {
      if (entry.field === 1 && entry.wireType === WireType.bytes) key = entry.string()
      else if (entry.field === 2 && entry.wireType === WireType.bytes) value = entry.string()
      else entry.skip()
    }
  })
  return [key, value]
}
