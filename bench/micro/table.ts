import { FrameScan } from '../../src/relist/frameScan.js'
import { ItemTable } from '../../src/relist/itemTable.js'
import { Random } from '../../src/sim/random.js'
import type { MicroBench } from './bench.js'
import type { Listed } from './listed.js'

/**
 * Looking up ids in the order of the last list, where the record before predicts the next (`table/lookup`), and in an
 * order that changes each time, where each is hashed (`table/lookup-shuffled`).
 */
export function tableBenches({ kind, bytes, bounds }: Listed): MicroBench[] {
  const scan = new FrameScan(kind)
  const ids: Uint8Array[] = []
  for (let i = 0; i < bounds.length; i += 2) {
    scan.scan(bytes, bounds[i]!, bounds[i + 1]!)
    ids.push(bytes.subarray(scan.idStart, scan.idEnd))
  }
  const inOrder = Buffer.concat(ids)
  const idBytes = ids[0]!.length
  const random = new Random(1, 0)
  const orders = Array.from({ length: 8 }, () => shuffled(ids.length, random))
  let turn = 0
  const look = (table: ItemTable, order: Int32Array) => {
    table.begin()
    for (const place of order) table.see(inOrder, place * idBytes, (place + 1) * idBytes)
    table.commit()
  }
  const straight = Int32Array.from(ids.keys())
  const predicted = new ItemTable()
  const hashed = new ItemTable()
  return [
    { id: 'table/lookup', operations: ids.length, run: () => look(predicted, straight) },
    {
      id: 'table/lookup-shuffled',
      operations: ids.length,
      run: () => look(hashed, orders[turn++ % orders.length]!),
    },
  ]
}

function shuffled(length: number, random: Random): Int32Array {
  const order = Int32Array.from({ length }, (_, i) => i)
  for (let i = length - 1; i > 0; i--) {
    const other = random.below(i + 1)
    const kept = order[i]!
    order[i] = order[other]!
    order[other] = kept
  }
  return order
}
