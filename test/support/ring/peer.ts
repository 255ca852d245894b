import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../src/model/clock.js'
import { packMessage, unpackMessage } from '../../../src/ring/codec.js'
import { Doorbell } from '../../../src/ring/doorbell.js'
import { RingReader, RingWriter } from '../../../src/ring/ring.js'
import { ThreadCounters } from '../../../src/ring/threadCounters.js'
import { exchange, never } from './exchange.js'

/** What the other thread of test/threads/ring does. */
export type PeerTask =
  | {
      readonly do: 'exchange'
      readonly toPeer: SharedArrayBuffer
      readonly toMain: SharedArrayBuffer
      readonly peerBell: SharedArrayBuffer
      readonly mainBell: SharedArrayBuffer
      readonly records: number
    }
  /** Answers each ring of its bell by one ring of the other, `rounds` times. */
  | {
      readonly do: 'pingPong'
      readonly peerBell: SharedArrayBuffer
      readonly mainBell: SharedArrayBuffer
      readonly ball: SharedArrayBuffer
      readonly rounds: number
    }
  /** Unpacks what it is sent, and sends it packed by itself. */
  | { readonly do: 'repack' }
  /** Begins a call, then blocks its thread until `gate` is opened. */
  | { readonly do: 'hang'; readonly counters: SharedArrayBuffer; readonly gate: SharedArrayBuffer }
  /** Begins and ends calls whose id and pod UID are the same, until `gate` is opened. */
  | { readonly do: 'calls'; readonly counters: SharedArrayBuffer; readonly gate: SharedArrayBuffer }

const port = parentPort!
const task = workerData as PeerTask
// Waiting at a bell does not keep a thread alive.
port.ref()

switch (task.do) {
  case 'exchange': {
    const bell = new Doorbell(task.peerBell)
    const mainBell = new Doorbell(task.mainBell)
    const writer = new RingWriter(task.toMain, mainBell)
    const reader = new RingReader(task.toPeer, mainBell)
    port.postMessage(
      await exchange({ writer, reader, bell, records: task.records, writeSeed: 77_777, readSeed: 99_991 }),
    )
    break
  }
  case 'pingPong': {
    const bell = new Doorbell(task.peerBell)
    const mainBell = new Doorbell(task.mainBell)
    const ball = new Int32Array(task.ball)
    for (let round = 1; round < task.rounds * 2; round += 2) {
      while (Atomics.load(ball, 0) !== round) await bell.wait(never)
      Atomics.store(ball, 0, round + 1)
      mainBell.ring()
    }
    break
  }
  case 'repack':
    port.on('message', (packed: Uint8Array) => {
      port.postMessage(new Uint8Array(packMessage(unpackMessage(packed, 0, packed.length))))
    })
    break
  case 'hang': {
    const counters = new ThreadCounters(task.counters, systemClock)
    counters.set('relistStartedAt', 42)
    counters.begin('ContainerStatus', 'hung', 'uid-1')
    Atomics.wait(new Int32Array(task.gate), 0, 0)
    break
  }
  case 'calls': {
    const counters = new ThreadCounters(task.counters, systemClock)
    const gate = new Int32Array(task.gate)
    let calls = 0
    for (; Atomics.load(gate, 0) === 0; calls++) {
      const id = String.fromCharCode(97 + (calls % 26)).repeat(1 + (calls % 100))
      const token = counters.begin('PodSandboxStatus', id, id)
      counters.end(token, true)
    }
    port.postMessage(calls)
    break
  }
}
