import { setTimeout as pause } from 'node:timers/promises'

/**
 * Asks `probe` until it answers something other than undefined or false. Fails after `timeoutMs` with `what`, and with
 * what `state` tells about the point reached.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; state?: () => string } = {},
): Promise<Exclude<T, undefined | false>> {
  const { timeoutMs = 60_000, everyMs = 100, state } = options
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await probe()
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>
    if (performance.now() > deadline) {
      throw new Error(`not within ${timeoutMs} ms: ${what}${state === undefined ? '' : `\n${state()}`}`)
    }
    await pause(everyMs)
  }
}
