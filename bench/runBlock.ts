import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Block, BlockResult, BlockSpec } from './block.js'
import type { Order } from './contenders/main.js'
import { runKubelet } from './peers/kubelet.js'

const beside = (file: string) => fileURLToPath(new URL(file, import.meta.url))
/** This build's engine. */
export const ownEngine = beside('../src/engine/engine.js')

/** Runs one block: a runtime in one process, a contender in another, both for this block alone. */
export async function runBlock(spec: BlockSpec, engineFile: string = ownEngine): Promise<Block> {
  const directory = mkdtempSync(join(tmpdir(), 'plegd-bench-'))
  const socket = join(directory, 'cri.sock')
  const server = spec.server === 'sim' ? startSim(spec, socket) : startCrisim(spec, socket)
  try {
    await firstLine(server)
    if (spec.contender === 'kubelet') return { spec, result: await runKubelet(spec, socket) }
    const order: Order = { spec, endpoint: `unix://${socket}`, engineFile }
    const child = spawn(process.execPath, ['--expose-gc', beside('contenders/main.js'), JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const line = await firstLine(child)
    return { spec, result: JSON.parse(line) as BlockResult }
  } finally {
    server.kill()
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
}

function startSim(spec: BlockSpec, socket: string): ChildProcess {
  const { pods, containers, dead, seed, statusLatencyMs, model } = spec
  const flags = { socket, pods, containers, dead, seed, 'latency-ms': statusLatencyMs, model }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return spawn(process.execPath, [beside('server/main.js'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}

function startCrisim(spec: BlockSpec, socket: string): ChildProcess {
  const { pods, containers, dead, seed, statusLatencyMs } = spec
  const latency = Math.round(statusLatencyMs * 1000)
  const flags = { socket, pods, containers, seed, 'initial-dead': dead, 'latency-us': latency, 'last-applied': 0.1 }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return spawn(process.env['PLEGD_BENCH_CRISIM']!, args, { stdio: ['ignore', 'pipe', 'ignore'] })
}

/** The first line that a child prints; rejects when it ends without one. */
export function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve)
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`${child.spawnfile} ended (${signal ?? code})`)))
  })
}
