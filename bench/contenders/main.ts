import type { BlockSpec } from '../block.js'
import { Control } from '../control.js'
import { PlainAgent } from '../peers/plain.js'
import type { Contender } from './contender.js'
import { floor } from './floor.js'
import { measure } from './measure.js'
import { plegd } from './plegd.js'

/** What the parent passes, as JSON. */
export interface Order {
  readonly spec: BlockSpec
  readonly endpoint: string
  /** The compiled engine. */
  readonly engineFile: string
}

/** One contender, one block: the process is measured as a whole, and ends with its result on stdout. */
const { spec, endpoint, engineFile } = JSON.parse(process.argv[2]!) as Order
const control = await Control.dial(`${endpoint.replace('unix://', '')}.ctl`)
await control.settle()
const contender = await contend()
const result = await measure(spec, contender, control)
control.close()
process.stdout.write(`${JSON.stringify(result)}\n`)

async function contend(): Promise<Contender> {
  switch (spec.contender) {
    case 'plegd':
      return plegd(endpoint, spec, engineFile)
    case 'floor':
      return floor(endpoint, spec)
    case 'plain':
      return new PlainAgent(endpoint, spec)
    case 'kubelet':
      throw new Error('the kubelet has a program of its own')
  }
}
