/**
 * Runs `clean` when it is asked to, or when the process ends before that, by a signal too (see `endBySignal`).
 * Returns how to ask.
 */
export function cleanUp(clean: () => void): () => void {
  const once = () => {
    process.off('exit', once)
    clean()
  }
  process.on('exit', once)
  return once
}

const signals = { SIGINT: 130, SIGTERM: 143 } as const

/** Lets SIGINT and SIGTERM end the process in such a way that its children and folders go too. */
export function endBySignal(): void {
  for (const [signal, code] of Object.entries(signals)) process.once(signal, () => process.exit(code))
}
