/**
 * Time, handed in. Ages and orders come from `now` alone; `wallMs` is for people and for what a protocol asks for.
 * `now` is one clock for all threads of a process (CLOCK_MONOTONIC), in milliseconds with a fraction.
 */
export interface Clock {
  now(): number
  wallMs(): number
  /** Calls `run` once after `ms` unless the returned function is called first. */
  after(ms: number, run: () => void): () => void
}

/** Resolves after `ms`, or at once when the signal aborts (never rejects). */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** The machine's clocks. Timers hold the process open, as the work that waits for them should. */
export const systemClock: Clock = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  wallMs: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
