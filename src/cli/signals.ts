/** Ends on SIGINT or SIGTERM by aborting; a second signal ends the process at once, as does `graceMs` after the first. */
export function abortOnSignals(graceMs: number): AbortController {
  const controller = new AbortController()
  const force = () => process.exit(1)
  const late = () => {
    process.stderr.write(`error: did not end within ${graceMs / 1_000} s, giving up on what hangs\n`)
    force()
  }
  const first = () => {
    if (controller.signal.aborted) return force()
    controller.abort()
    setTimeout(late, graceMs).unref()
  }
  process.on('SIGINT', first)
  process.on('SIGTERM', first)
  return controller
}

/** A clean end has five seconds (the agent's promise); what hangs is then left behind. */
export const endMs = 4_500
