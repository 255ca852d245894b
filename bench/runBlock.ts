import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Block, BlockResult, BlockSpec } from './block.js'
import { cleanUp } from './cleanup.js'
import type { Order } from './contenders/main.js'
import { kubeletResult, startKubelet } from './peers/kubelet.js'

const beside = (file: string) => fileURLToPath(new URL(file, import.meta.url))
/** This build's engine. */
export const ownEngine = beside('../src/engine/engine.js')

/** Runs one block: a runtime in one process, a contender in another, both for this block alone. */
export async function runBlock(spec: BlockSpec, engineFile: string = ownEngine): Promise<Block> {
  const directory = mkdtempSync(join(tmpdir(), 'plegd-bench-'))
  const socket = join(directory, 'cri.sock')
  const children: ChildProcess[] = []
  const clean = cleanUp(() => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })
  try {
    const server = spec.server === 'sim' ? startSim(spec, socket) : startCrisim(spec, socket)
    children.push(server)
    await firstLine(server)
    const contender = spec.contender === 'kubelet' ? startKubelet(spec, socket) : startOwn(spec, socket, engineFile)
    children.push(contender)
    return {
      spec,
      result: await (spec.contender === 'kubelet' ? kubeletResult(spec, contender) : ownResult(contender)),
    }
  } finally {
    clean()
  }
}

function startOwn(spec: BlockSpec, socket: string, engineFile: string): ChildProcess {
  const order: Order = { spec, endpoint: `unix://${socket}`, engineFile }
  return spawn(process.execPath, ['--expose-gc', beside('contenders/main.js'), JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function ownResult(child: ChildProcess): Promise<BlockResult> {
  return JSON.parse(await firstLine(child)) as BlockResult
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
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve)
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`${child.spawnfile} ended (${signal ?? code})`)))
  })
}
