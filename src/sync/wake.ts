/** A flag that one waiter sleeps on. A notification between two waits is not lost. */
export class Wake {
  private raised = false
  private resume: (() => void) | undefined

  notify(): void {
    this.raised = true
    this.resume?.()
  }

  wait(): Promise<void> {
    if (this.raised) {
      this.raised = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.resume = () => {
        this.resume = undefined
        this.raised = false
        resolve()
      }
    })
  }
}
