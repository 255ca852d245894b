import { decodeItem } from '../../src/cri/wire/item.js'
import { FrameScan } from '../../src/relist/frameScan.js'
import { ItemTable } from '../../src/relist/itemTable.js'
import type { MicroBench } from './bench.js'
import type { Listed } from './listed.js'

/** An item of an unchanged list: found, looked up, and left alone (`scan/idle-10k`); what decoding it would take. */
export function scanBenches(lists: readonly Listed[]): MicroBench[] {
  const containers = lists.find(({ kind }) => kind === 'container')!
  const eyes = lists.map((list) => {
    const scan = new FrameScan(list.kind)
    scan.audit = false
    return { list, scan, table: new ItemTable() }
  })
  const items = lists.reduce((sum, { bounds }) => sum + bounds.length / 2, 0)
  return [
    {
      id: 'scan/idle-10k',
      operations: items,
      run: () => {
        for (const { list, scan, table } of eyes) {
          const { bytes, bounds } = list
          table.begin()
          for (let i = 0; i < bounds.length; i += 2) {
            scan.scan(bytes, bounds[i]!, bounds[i + 1]!)
            table.see(bytes, scan.idStart, scan.idEnd)
          }
          table.commit()
        }
      },
    },
    {
      id: 'scan/decode-10k',
      operations: containers.bounds.length / 2,
      run: () => {
        const { bytes, bounds, kind } = containers
        for (let i = 0; i < bounds.length; i += 2) decodeItem(kind, bytes, bounds[i]!, bounds[i + 1]!)
      },
    },
  ]
}
