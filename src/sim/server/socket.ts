import { lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { EndpointError } from '../../cri/errors.js'

/** Longest path of a unix socket, bytes (sockaddr_un of Linux, its closing zero byte left out). */
const maxPathBytes = 107

/** Makes way for a new socket: removes the file of one that nobody listens on. */
export async function clearStaleSocket(path: string): Promise<void> {
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new EndpointError(
      'ENDPOINT_PATH_TOO_LONG',
      `${path} is longer than a socket's path may be (${maxPathBytes} bytes)`,
      {
        path,
      },
    )
  }
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isSocket()) throw new EndpointError('ENDPOINT_NOT_A_SOCKET', `${path} exists and is no socket`, { path })
  if (await isListening(path)) {
    throw new EndpointError('ENDPOINT_INVALID', `${path} is in use: another process listens on it`, { path })
  }
  removeSocket(path)
}

export function removeSocket(path: string): void {
  rmSync(path, { force: true })
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const answer = (listening: boolean) => {
      socket.destroy()
      resolve(listening)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}
