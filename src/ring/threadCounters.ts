import type { Clock } from '../model/clock.js'
import { type CallObserver, type HotCall, hotCalls, type ShardPhase } from '../relist/calls.js'
import { callBounds, phaseBounds, SharedHistogram } from './histogram.js'
import { InflightSlots, type SeenCall } from './inflightSlots.js'

/** Numbers that one thread writes and any may read. Times are monotonic ms, 0 for never; delays are seconds. */
const fields = ['relistStartedAt', 'lastSeenAt', 'loopDelayP50', 'loopDelayP99', 'loopDelayMax'] as const
type Field = (typeof fields)[number]

export const shardPhases: readonly ShardPhase[] = ['diff', 'inspect', 'pod_relist']

const callLength = 1 + SharedHistogram.length(callBounds)
const phaseLength = SharedHistogram.length(phaseBounds)
const callsAt = fields.length
const phasesAt = callsAt + hotCalls.length * callLength
const numbers = phasesAt + shardPhases.length * phaseLength

/** Shared memory for one thread's counters. */
export function createThreadCounters(): SharedArrayBuffer {
  return new SharedArrayBuffer(numbers * 8 + InflightSlots.byteLength)
}

/**
 * What a thread tells about itself while it works, or hangs: nobody has to ask it. Layout: the fields, then for each hot
 * call its errors and its histogram, then the phases' histograms, all float64; then the calls in flight.
 */
export class ThreadCounters implements CallObserver {
  private readonly numbers: Float64Array
  private readonly slots: InflightSlots
  private readonly clock: Clock
  private readonly durations: readonly SharedHistogram[]
  private readonly phases: readonly SharedHistogram[]
  private readonly open = new Map<number, { call: number; start: number; slot: number }>()
  private tokens = 0

  constructor(memory: SharedArrayBuffer, clock: Clock) {
    this.clock = clock
    this.numbers = new Float64Array(memory, 0, numbers)
    this.slots = new InflightSlots(memory, numbers * 8)
    this.durations = hotCalls.map((_, call) => {
      return new SharedHistogram(callBounds, this.part(callsAt + call * callLength + 1, callLength - 1))
    })
    this.phases = shardPhases.map((_, phase) => {
      return new SharedHistogram(phaseBounds, this.part(phasesAt + phase * phaseLength, phaseLength))
    })
  }

  get(field: Field): number {
    return this.numbers[fields.indexOf(field)]!
  }

  set(field: Field, value: number): void {
    this.numbers[fields.indexOf(field)] = value
  }

  begin(call: HotCall, id: string, podUid: string): number {
    const index = hotCalls.indexOf(call)
    const start = this.clock.now()
    this.open.set(++this.tokens, { call: index, start, slot: this.slots.take(index, start, id, podUid) })
    return this.tokens
  }

  end(token: number, ok: boolean): void {
    const opened = this.open.get(token)
    if (opened === undefined) return
    this.open.delete(token)
    this.slots.release(opened.slot)
    this.durations[opened.call]!.observe((this.clock.now() - opened.start) / 1000)
    if (!ok) this.numbers[callsAt + opened.call * callLength]!++
  }

  phase(phase: ShardPhase, ms: number): void {
    this.phases[shardPhases.indexOf(phase)]!.observe(ms / 1000)
  }

  /** Calls in flight, oldest first. */
  inflight(): SeenCall[] {
    return this.slots.list()
  }

  /** Adds what a thread that is gone has counted, so that counters never go back. */
  add(gone: ThreadCounters): void {
    for (let i = callsAt; i < numbers; i++) this.numbers[i]! += gone.numbers[i]!
  }

  errors(call: HotCall): number {
    return this.numbers[callsAt + hotCalls.indexOf(call) * callLength]!
  }

  duration(call: HotCall): SharedHistogram {
    return this.durations[hotCalls.indexOf(call)]!
  }

  phaseDuration(phase: ShardPhase): SharedHistogram {
    return this.phases[shardPhases.indexOf(phase)]!
  }

  private part(start: number, length: number): Float64Array {
    return this.numbers.subarray(start, start + length)
  }
}
