import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { messageOf, PlegdError } from '../model/errors.js'
import { type Logger, silentLogger } from '../model/logger.js'
import type { SimulationOptions } from './simulatedRuntime.js'

/** What the simulator's thread is started with: plain data. */
export interface EmbeddedTask {
  readonly socketPath: string
  readonly simulation: Omit<SimulationOptions, 'clock' | 'onChange'>
}

/** The thread → its owner. */
export type EmbeddedReport = { readonly t: 'serving' } | { readonly t: 'failed'; readonly message: string }

/** The owner → the thread. */
export type EmbeddedControl = { readonly t: 'stop' }

export interface EmbeddedSim {
  /** `unix://` and a socket in a directory that only this user can enter. */
  readonly endpoint: string
  /** Ends the thread and removes the socket's directory. Safe to call twice. */
  stop(): Promise<void>
}

/** How long the thread may take to end by itself. */
const stopMs = 2000
const entry = new URL('../../workers/sim.js', import.meta.url)

/**
 * A simulated node on a thread of its own, served on a private socket, its life going on by the machine's clock. Throws
 * PlegdError SIM_START_FAILED.
 */
export async function startEmbeddedSim(
  simulation: EmbeddedTask['simulation'],
  logger: Logger = silentLogger,
): Promise<EmbeddedSim> {
  const directory = mkdtempSync(join(tmpdir(), 'plegd-sim-'))
  const cleanUp = () => rmSync(directory, { recursive: true, force: true })
  // Also where the process ends without `stop`.
  process.once('exit', cleanUp)
  const task: EmbeddedTask = { socketPath: join(directory, 'cri.sock'), simulation }
  const worker = new Worker(entry, { workerData: task, name: 'sim' })
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      process.off('exit', cleanUp)
      cleanUp()
      resolve()
    })
  })
  try {
    await started(worker)
  } catch (error) {
    await worker.terminate()
    throw new PlegdError('SIM_START_FAILED', `the simulated node does not start: ${messageOf(error)}`)
  }
  worker.on('error', (error) => logger.error('The simulated node died', { err: messageOf(error) }))
  return {
    endpoint: `unix://${task.socketPath}`,
    stop: async () => {
      worker.postMessage({ t: 'stop' } satisfies EmbeddedControl)
      const force = setTimeout(() => void worker.terminate(), stopMs)
      await ended
      clearTimeout(force)
    },
  }
}

function started(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`its thread ended with code ${code}`)))
    worker.once('message', (report: EmbeddedReport) => {
      worker.removeListener('error', reject)
      if (report.t === 'serving') resolve()
      else reject(new Error(report.message))
    })
  })
}
