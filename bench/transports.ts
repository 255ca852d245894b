import { openTransport } from '../src/cri/connect.js'
import { DEFAULT_DEADLINE_MS } from '../src/cri/deadline.js'
import type { HotRuntime, ItemSink } from '../src/cri/runtime.js'
import { messageOf } from '../src/model/errors.js'

/**
 * What one relist's calls cost over each transport, side by side against one runtime of another process:
 * `node dist/bench/transports.js unix:///run/sim.sock [ROUNDS]`. Rounds are interleaved; medians of the whole process.
 */

const transports = ['h2', 'grpc'] as const
type Transport = (typeof transports)[number]
const WARM_UP = 5
const STATUSES = 2000
const CONCURRENCY = 64

interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const start = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { wallMs: performance.now() - start, cpuMs: (user + system) / 1000 }
}

const ignore: ItemSink = { item: () => {} }

function bothLists(runtime: HotRuntime) {
  return Promise.all([runtime.listPodSandboxes(ignore), runtime.listContainers(ignore)])
}

async function statuses(runtime: HotRuntime, ids: readonly string[]): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < STATUSES) await runtime.containerStatus(ids[next++ % ids.length]!)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}

/** An item begins with its id: field 1, length under 128. */
async function containerIds(runtime: HotRuntime): Promise<string[]> {
  const ids: string[] = []
  const item = (buf: Buffer, start: number) => {
    if (ids.length < STATUSES) ids.push(buf.toString('latin1', start + 2, start + 2 + buf[start + 1]!))
  }
  await runtime.listContainers({ item })
  return ids
}

function median(costs: readonly Cost[], of: keyof Cost): number {
  const sorted = costs.map((cost) => cost[of]).sort((a, b) => a - b)
  return sorted[sorted.length >> 1]!
}

function print(what: string, costs: Record<Transport, Cost[]>, share: number): void {
  for (const transport of transports) {
    const wall = (median(costs[transport], 'wallMs') / share).toFixed(3)
    const cpu = (median(costs[transport], 'cpuMs') / share).toFixed(3)
    console.log(`${what.padEnd(10)} ${transport.padEnd(5)} ${wall.padStart(9)} ms ${cpu.padStart(9)} ms CPU`)
  }
  const ratio = (of: keyof Cost) => (median(costs.grpc, of) / median(costs.h2, of)).toFixed(1)
  console.log(`${what.padEnd(10)} ratio ${ratio('wallMs').padStart(8)}x ${ratio('cpuMs').padStart(10)}x`)
}

async function main(endpoint: string, rounds: number): Promise<void> {
  const runtimes = {
    h2: await openTransport(endpoint, 'h2', DEFAULT_DEADLINE_MS),
    grpc: await openTransport(endpoint, 'grpc', DEFAULT_DEADLINE_MS),
  }
  const [sandboxes, containers] = await bothLists(runtimes.h2)
  const ids = await containerIds(runtimes.h2)
  const bytes = sandboxes.bytes + containers.bytes
  console.log(`${endpoint}: ${sandboxes.items} sandboxes, ${containers.items} containers, ${bytes} bytes a relist`)
  const lists: Record<Transport, Cost[]> = { h2: [], grpc: [] }
  const calls: Record<Transport, Cost[]> = { h2: [], grpc: [] }
  for (let round = 0; round < WARM_UP + rounds; round++) {
    for (const transport of transports) {
      const list = await costOf(() => bothLists(runtimes[transport]))
      const status = await costOf(() => statuses(runtimes[transport], ids))
      if (round < WARM_UP) continue
      lists[transport].push(list)
      calls[transport].push(status)
    }
  }
  print('two lists', lists, 1)
  print('a status', calls, STATUSES)
  for (const transport of transports) await runtimes[transport].close()
}

const [endpoint, rounds = '21'] = process.argv.slice(2)
if (endpoint === undefined || !(Number(rounds) > 0)) {
  console.error('usage: node dist/bench/transports.js ENDPOINT [ROUNDS]')
  process.exitCode = 2
} else {
  await main(endpoint, Number(rounds)).catch((error: unknown) => {
    console.error(messageOf(error))
    process.exitCode = 1
  })
}
