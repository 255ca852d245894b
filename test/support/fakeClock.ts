import { VirtualClock } from '../../src/sim/virtualClock.js'

/** Virtual time that knows which timers have been left behind. */
export class FakeClock extends VirtualClock {
  private readonly open = new Set<symbol>()

  /** Timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.open.size
  }

  override after(ms: number, run: () => void): () => void {
    const timer = Symbol()
    this.open.add(timer)
    const cancel = super.after(ms, () => {
      this.open.delete(timer)
      run()
    })
    return () => {
      this.open.delete(timer)
      cancel()
    }
  }
}
