import { decodeItem } from '../../src/cri/wire/item.js'
import { CriContainerState, PlegState } from '../../src/model/state.js'
import { transition } from '../../src/relist/diff.js'
import { PodRecord } from '../../src/relist/podRecord.js'
import type { MicroBench } from './bench.js'
import type { Listed } from './listed.js'

const batch = 256

/** `diff/transition`: the kubelet's table. `diff/pod`: a pod one of whose containers ends and runs again. */
export function diffBenches({ bytes, bounds }: Listed): MicroBench[] {
  const states = Object.values(PlegState)
  const { item, podUid, podNamespace, podName } = decodeItem('container', bytes, bounds[0]!, bounds[1]!)
  const pod = new PodRecord({ uid: podUid, namespace: podNamespace, name: podName })
  let round = 0
  let events = 0
  return [
    {
      id: 'diff/transition',
      operations: batch,
      run: () => {
        for (let i = 0; i < batch; i++) events += transition(states[i & 3]!, states[(i >> 2) & 3]!).length
        return events
      },
    },
    {
      id: 'diff/pod',
      operations: batch,
      run: () => {
        for (let i = 0; i < batch; i++) {
          const criState = (round++ & 1) === 0 ? CriContainerState.running : CriContainerState.exited
          pod.put({ ...item, criState }, true, round)
          pod.diff(round)
          events += pod.advance(pod.take()).length
        }
        return events
      },
    },
  ]
}
