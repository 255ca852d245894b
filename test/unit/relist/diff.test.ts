import { describe, expect, it } from 'vitest'
import { PlegState } from '../../../src/model/state.js'
import { transition } from '../../../src/relist/diff.js'

const { nonExistent, running, exited, unknown } = PlegState

describe('transition (kubelet v1.37 generateEvents)', () => {
  it.each([
    [nonExistent, running, ['ContainerStarted']],
    [nonExistent, exited, ['ContainerDied']],
    [nonExistent, unknown, ['ContainerChanged']],
    [nonExistent, nonExistent, []],
    [unknown, running, ['ContainerStarted']],
    [unknown, exited, ['ContainerDied']],
    [unknown, unknown, []],
    [unknown, nonExistent, ['ContainerDied', 'ContainerRemoved']],
    [running, running, []],
    [running, exited, ['ContainerDied']],
    [running, unknown, ['ContainerChanged']],
    [running, nonExistent, ['ContainerDied', 'ContainerRemoved']],
    [exited, running, ['ContainerStarted']],
    [exited, exited, []],
    [exited, unknown, ['ContainerChanged']],
    [exited, nonExistent, ['ContainerRemoved']],
  ] as const)('%i → %i gives %j', (old, current, events) => {
    expect(transition(old, current)).toEqual(events)
  })
})
