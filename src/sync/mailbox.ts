/** A bounded queue between producers that wait and one consumer that doesn't. */
export class Mailbox<Item> {
  readonly capacity: number
  private readonly items: Item[] = []
  private readonly waiting: (() => void)[] = []
  private ended = false
  private notify: () => void = () => {}

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get depth(): number {
    return this.items.length
  }

  /** Closed and empty: nothing will come any more. */
  get drained(): boolean {
    return this.ended && this.items.length === 0
  }

  /** `notify` is called whenever there is something new to look at. */
  onChange(notify: () => void): void {
    this.notify = notify
  }

  /**
   * Resolves to true once the item is in, waiting while the mailbox is full; to false if it was closed first. A producer
   * awaits each put before the next: that is what bounds the queue.
   */
  async put(item: Item): Promise<boolean> {
    while (this.items.length >= this.capacity && !this.ended) {
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
    if (this.ended) return false
    this.items.push(item)
    this.notify()
    return true
  }

  take(): Item | undefined {
    const item = this.items.shift()
    this.waiting.shift()?.()
    return item
  }

  close(): void {
    this.ended = true
    for (const resume of this.waiting.splice(0)) resume()
    this.notify()
  }
}
