import { access, constants, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { messageOf } from '../model/errors.js'
import { EndpointError } from './errors.js'

/** What sun_path of a Linux sockaddr_un holds before its terminating zero byte. */
const MAX_SOCKET_PATH_BYTES = 107

export type Endpoint =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }

/**
 * Understands `unix:///abs`, `unix:/abs`, a bare absolute path, and `host:port` (`[::1]:port`). A path is taken as it
 * stands: spaces and percent signs mean themselves.
 *
 * @throws EndpointError ENDPOINT_INVALID, ENDPOINT_PATH_TOO_LONG
 */
export function parseEndpoint(endpoint: string): Endpoint {
  if (endpoint.startsWith('/')) return unix(endpoint, endpoint)
  if (endpoint.startsWith('unix:///')) return unix(endpoint, endpoint.slice('unix://'.length))
  if (endpoint.startsWith('unix:/') && !endpoint.startsWith('unix://'))
    return unix(endpoint, endpoint.slice('unix:'.length))
  if (endpoint.startsWith('unix:')) throw invalid(endpoint, 'a unix socket needs an absolute path: unix:///run/….sock')
  const tcp = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(endpoint)
  const port = Number(tcp?.[3])
  if (!tcp || port < 1 || port > 65535) throw invalid(endpoint, 'expected unix:///path, an absolute path, or host:port')
  return { kind: 'tcp', host: tcp[1] ?? tcp[2]!, port }
}

function unix(endpoint: string, path: string): Endpoint {
  if (path.includes('\0')) throw invalid(endpoint, 'a socket path has no zero bytes')
  const bytes = Buffer.byteLength(path)
  if (bytes <= MAX_SOCKET_PATH_BYTES) return { kind: 'unix', path }
  const message = `${path}: ${bytes} bytes are too long for a socket path (at most ${MAX_SOCKET_PATH_BYTES}); use a shorter one or a symbolic link`
  throw new EndpointError('ENDPOINT_PATH_TOO_LONG', message, { endpoint, bytes })
}

function invalid(endpoint: string, why: string): EndpointError {
  return new EndpointError('ENDPOINT_INVALID', `endpoint "${endpoint}": ${why}`, { endpoint })
}

/**
 * Looks whether somebody listens there, by connecting once. Says nothing about what it is that listens.
 *
 * @throws EndpointError, a code for each thing that can be wrong
 */
export async function checkEndpoint(endpoint: string): Promise<Endpoint> {
  const parsed = parseEndpoint(endpoint)
  if (parsed.kind === 'unix') await checkSocketFile(endpoint, parsed.path)
  await new Promise<void>((resolve, reject) => {
    const socket = connect(parsed.kind === 'unix' ? { path: parsed.path } : { host: parsed.host, port: parsed.port })
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', (error) => reject(explained(endpoint, error)))
  })
  return parsed
}

/** connect(2) answers ECONNREFUSED for a regular file too, so the file is looked at first. */
async function checkSocketFile(endpoint: string, path: string): Promise<void> {
  try {
    const file = await stat(path)
    if (!file.isSocket()) {
      const message = `${path} is not a socket: give the runtime's CRI socket`
      throw new EndpointError('ENDPOINT_NOT_A_SOCKET', message, { endpoint })
    }
    await access(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw error instanceof EndpointError ? error : explained(endpoint, error)
  }
}

function explained(endpoint: string, error: unknown): EndpointError {
  const errno = (error as NodeJS.ErrnoException).code
  const facts = { endpoint, errno }
  if (errno === 'ENOENT' || errno === 'ENOTDIR') {
    const message = `${endpoint}: no such socket: is the runtime running, and is this its path?`
    return new EndpointError('ENDPOINT_NO_SUCH_SOCKET', message, facts)
  }
  if (errno === 'EACCES' || errno === 'EPERM') {
    const message = `${endpoint}: no permission: run as root, or as a member of the socket's group`
    return new EndpointError('ENDPOINT_NO_PERMISSION', message, facts)
  }
  if (errno === 'ENOTFOUND' || errno === 'EAI_AGAIN') {
    return new EndpointError('ENDPOINT_INVALID', `${endpoint}: the host name can't be resolved`, facts)
  }
  const message = `${endpoint}: nothing is listening there (${errno ?? messageOf(error)}): is the runtime running?`
  return new EndpointError('ENDPOINT_NOTHING_LISTENING', message, facts)
}
