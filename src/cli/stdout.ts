import { once } from 'node:events'

/** Writes data for a program or a person, waiting where they are slower than we are. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** The reader of a pipe that goes away (`plegd events | head`) ends the command, and that is no failure. */
export function endQuietlyOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}
