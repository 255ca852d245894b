const brand = Symbol.for('plegd.error')

/** Facts of a failure: which pod, container, call, how long (ms). Plain data, so that it survives a thread boundary. */
export type Facts = Readonly<Record<string, string | number | boolean | null | undefined>>

/**
 * The base of every error that plegd raises. `code` is stable and meant for programs; `message` is for people and says
 * what to do; `facts` hold the rest. Recognised across threads and duplicate copies by a symbol, not by its class.
 */
export class PlegdError extends Error {
  readonly code: string
  readonly facts: Facts
  readonly [brand] = true

  constructor(code: string, message: string, facts: Facts = {}, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    this.facts = facts
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A subclass keeps the ordinary rule; only PlegdError itself is recognised by brand.
    // biome-ignore lint/complexity/noThisInStatic: the rule depends on which class is asked
    if (this !== PlegdError) return Function.prototype[Symbol.hasInstance].call(this, value)
    return typeof value === 'object' && value !== null && brand in value
  }

  toJSON(): { code: string; message: string; facts: Facts } {
    return { code: this.code, message: this.message, facts: this.facts }
  }
}

/** Bad input from a person: a flag, a file, a duration. The CLI prints its message as one line and exits with 2. */
export class UsageError extends PlegdError {
  constructor(message: string, facts: Facts = {}) {
    super('USAGE', message, facts)
  }
}

/** One line for a log or a person, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
