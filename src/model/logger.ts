/** Values of a structured log line. */
export type Fields = Readonly<Record<string, unknown>>

/**
 * What every part logs through; telemetry provides it. `v` is klog's verbosity: 2 is what an operator wants to see,
 * 4 debugging, 5 and more traces.
 */
export interface Logger {
  error(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  v(level: number, message: string, fields?: Fields): void
}

export const silentLogger: Logger = { error: () => {}, warn: () => {}, info: () => {}, v: () => {} }
