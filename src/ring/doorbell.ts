export function createDoorbell(): SharedArrayBuffer {
  return new SharedArrayBuffer(4)
}

type Outcome = 'rung' | 'timeout'

/**
 * Wakes one consumer thread; all who produce for it share its bell. Rings coalesce: whoever wakes looks at everything.
 * A ring between two waits is not lost, because a wait compares the count with the one that the last wait returned at.
 *
 * A consumer makes its end first and then looks for work, since rings from before count as heard. Waiting does not keep
 * a thread alive.
 */
export class Doorbell {
  readonly buffer: SharedArrayBuffer
  private readonly count: Int32Array
  private heard: number
  private readonly waiting = new Set<(outcome: Outcome) => void>()
  /** One `waitAsync` is under way, or was notified and has not come back yet: either way it will wake all who wait. */
  private listening = false

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
  wait(timeoutMs: number): Promise<Outcome> {
    if (!this.listen()) {
      this.hear()
      return Promise.resolve('rung')
    }
    return new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        clearTimeout(timer)
        this.waiting.delete(end)
        this.hear()
        resolve(outcome)
      }
      // Not waitAsync's own timeout: that stays behind in Node's task list when a ring comes first.
      const timer = setTimeout(end, timeoutMs, 'timeout').unref()
      this.waiting.add(end)
    })
  }

  /** Ends a wait that is under way. */
  close(): void {
    this.ring()
  }

  private hear(): void {
    this.heard = Atomics.load(this.count, 0)
  }

  /** False where the bell was rung already. */
  private listen(): boolean {
    if (Atomics.load(this.count, 0) !== this.heard) return false
    if (this.listening) return true
    const outcome = Atomics.waitAsync(this.count, 0, this.heard)
    if (!outcome.async) return false
    this.listening = true
    void outcome.value.then(() => {
      this.listening = false
      for (const end of [...this.waiting]) end('rung')
    })
    return true
  }
}
