import { CriError, GrpcCode } from '../cri/errors.js'
import type { Clock } from '../model/clock.js'

/** What a call does instead of answering at once. */
type FaultEffect =
  /** Never answers, until the fault is cleared or the caller gives up. */
  | { readonly kind: 'hang' }
  /** Fails with a gRPC code (default UNKNOWN, 2). */
  | { readonly kind: 'error'; readonly code?: number; readonly message?: string }
  /** Answers `ms` milliseconds later, with the state of that moment. */
  | { readonly kind: 'latency'; readonly ms: number }

/** A fault of one CRI call, of one object or (without `id`) of all. */
export type Fault = { readonly call: string; readonly id?: string } & FaultEffect

/**
 * Faults by call and by object, changed at run time. One fault per call and object: setting another replaces it. A
 * fault of the object stands before one of the call.
 */
export class Faults {
  private readonly clock: Clock
  private readonly byTarget = new Map<string, Fault>()
  private readonly waiting = new Map<Fault, Set<() => void>>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  set(fault: Fault): void {
    const key = target(fault.call, fault.id)
    const old = this.byTarget.get(key)
    this.byTarget.set(key, fault)
    if (old !== undefined) this.release(old)
  }

  /** Takes a fault away; calls that hang on it answer now. Without `call`: all faults. */
  clear(call?: string, id?: string): void {
    const gone =
      call === undefined ? [...this.byTarget] : [...this.byTarget].filter(([key]) => key === target(call, id))
    for (const [key, fault] of gone) {
      this.byTarget.delete(key)
      this.release(fault)
    }
  }

  /** Whether the call may be answered at once. */
  none(call: string, id: string): boolean {
    return this.byTarget.size === 0 || this.find(call, id) === undefined
  }

  /** Resolves when the call may be answered; throws its scripted error, or CANCELLED once the signal aborts. */
  async pass(call: string, id: string, signal?: AbortSignal): Promise<void> {
    for (let fault = this.find(call, id); fault !== undefined; fault = this.find(call, id)) {
      if (fault.kind === 'error') {
        throw new CriError(call, fault.code ?? GrpcCode.UNKNOWN, fault.message ?? 'scripted failure')
      }
      await this.wait(fault, signal)
      if (signal?.aborted) throw new CriError(call, GrpcCode.CANCELLED, 'the caller gave up')
      // A delay is over once it has passed; a hang that was cleared may have made place for another fault.
      if (fault.kind === 'latency') return
    }
  }

  private find(call: string, id: string): Fault | undefined {
    return (id === '' ? undefined : this.byTarget.get(target(call, id))) ?? this.byTarget.get(target(call))
  }

  private wait(fault: Fault, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiters = this.waiting.get(fault) ?? new Set()
      this.waiting.set(fault, waiters)
      let stopTimer = () => {}
      const done = () => {
        stopTimer()
        waiters.delete(done)
        if (waiters.size === 0) this.waiting.delete(fault)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      waiters.add(done)
      signal?.addEventListener('abort', done, { once: true })
      if (fault.kind === 'latency') stopTimer = this.clock.after(fault.ms, done)
    })
  }

  private release(fault: Fault): void {
    for (const done of [...(this.waiting.get(fault) ?? [])]) done()
  }
}

function target(call: string, id?: string): string {
  return id === undefined ? call : `${call} ${id}`
}
