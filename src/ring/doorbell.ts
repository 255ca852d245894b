export function createDoorbell(): SharedArrayBuffer {
  return new SharedArrayBuffer(4)
}

/**
 * Wakes one consumer thread; all who produce for it share its bell. Rings coalesce: whoever wakes looks at everything.
 * A ring between two waits is not lost, because a wait compares the count with the one that the last wait returned at.
 *
 * `Atomics.waitAsync` does not keep the process alive.
 */
export class Doorbell {
  readonly buffer: SharedArrayBuffer
  private readonly count: Int32Array
  private heard: number

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.count = new Int32Array(buffer)
    this.heard = Atomics.load(this.count, 0)
  }

  ring(): void {
    Atomics.add(this.count, 0, 1)
    Atomics.notify(this.count, 0)
  }

  /** Resolves at once if the bell was rung since the last wait ended, else at the next ring or after `timeoutMs`. */
  async wait(timeoutMs: number): Promise<'rung' | 'timeout'> {
    const outcome = Atomics.waitAsync(this.count, 0, this.heard, timeoutMs)
    const value = outcome.async ? await outcome.value : outcome.value
    const now = Atomics.load(this.count, 0)
    const rung = now !== this.heard
    this.heard = now
    return rung || value !== 'timed-out' ? 'rung' : 'timeout'
  }

  /** Ends a wait that is under way. */
  close(): void {
    this.ring()
  }
}
