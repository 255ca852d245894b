import type { Clock } from '../model/clock.js'
import { CriError, GrpcCode } from './errors.js'

/**
 * What a RESOURCE_EXHAUSTED is about (fact `cause` of the CriError), which the code alone does not tell:
 * - `answer_too_large`: the runtime's answer is over the runtime's own limit, and no setting on our side helps
 * - `message_too_large`: whoever received a message found it over its limit
 * - `enhance_your_calm`: HTTP/2 flow or memory limits, nothing to do with a message's size
 */
type ExhaustedCause = 'answer_too_large' | 'message_too_large' | 'enhance_your_calm'

function causeOf(error: CriError): ExhaustedCause | undefined {
  if (error.grpcCode !== GrpcCode.RESOURCE_EXHAUSTED) return undefined
  if (/(trying to send|sent) message larger than max/i.test(error.details)) return 'answer_too_large'
  if (/received message.* larger than max/i.test(error.details)) return 'message_too_large'
  return /enhance.?your.?calm|bandwidth exhausted/i.test(error.details) ? 'enhance_your_calm' : undefined
}

/** True where a list's answer is over a message limit, the runtime's or ours: to ask for less may help. */
export function isTooLarge(error: unknown): boolean {
  if (!(error instanceof CriError)) return false
  return ['answer_too_large', 'message_too_large'].includes(causeOf(error) ?? '')
}

/** The limit that a message was over, bytes, as gRPC libraries tell it: `… larger than max (17994047 vs. 16777216)`. */
export function limitOf(error: unknown): number | undefined {
  const told = error instanceof CriError ? /larger than max \(\d+ vs\. (\d+)\)/i.exec(error.details)?.[1] : undefined
  return told === undefined ? undefined : Number(told)
}

/** Runs a call; a CriError of it gets the facts endpoint, id ('' for none), durationMs and, where one is known, cause. */
export async function withFacts<T>(
  clock: Clock,
  facts: { readonly endpoint: string; readonly id: string },
  run: () => Promise<T>,
): Promise<T> {
  const start = clock.now()
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof CriError)) throw error
    const cause = causeOf(error)
    const all = { ...error.facts, ...facts, durationMs: clock.now() - start, ...(cause && { cause }) }
    throw new CriError(error.call, error.grpcCode, error.details, all, { cause: error.cause })
  }
}
