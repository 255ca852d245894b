import { chmodSync } from 'node:fs'
import * as http2 from 'node:http2'
import type { SimulatedRuntime } from '../simulatedRuntime.js'
import { type GrpcLimits, grpcStream } from './grpcStream.js'
import { clearStaleSocket, removeSocket } from './socket.js'

export type ServeOptions = Partial<GrpcLimits>

export interface SimulatedServer {
  /** `unix://` and the socket's path. */
  readonly endpoint: string
  /** Ends open calls and removes the socket. Safe to call twice. */
  stop(): Promise<void>
}

/** What a client may send before the server has read it. Requests are small; HTTP/2's default is 64 KiB. */
const windowBytes = 1024 * 1024
/** Node's own cap of 10 MB a session ends large answers with ENHANCE_YOUR_CALM (nodejs/node#29223); megabytes. */
const sessionMemoryMb = 4096

/**
 * Serves the runtime on a unix socket, as a container runtime does: only for its own user (mode 0600). A socket file
 * that nobody listens on is replaced. Throws EndpointError where the path can't be one or is in use.
 *
 * It stands on node:http2 and not on grpc-js's server, which copies each answer into a fresh buffer: of a node of
 * 10,000 pods 28 MB a second, each of which makes V8 collect the whole heap. Here a list goes out in the pieces that it
 * is kept in.
 */
export async function serveSimulatedRuntime(
  sim: SimulatedRuntime,
  socketPath: string,
  options: ServeOptions = {},
): Promise<SimulatedServer> {
  await clearStaleSocket(socketPath)
  const limits: GrpcLimits = { maxSendBytes: Number.POSITIVE_INFINITY, maxReceiveBytes: 64 * 1024 * 1024, ...options }
  const sessions = new Set<http2.ServerHttp2Session>()
  const server = http2.createServer({
    settings: { initialWindowSize: windowBytes },
    maxSessionMemory: sessionMemoryMb,
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    // A client that goes away in the middle of an answer is no error of the server's.
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => grpcStream(sim, limits, stream, headers))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, () => {
      server.off('error', reject)
      resolve()
    })
  })
  chmodSync(socketPath, 0o600)
  let stopped: Promise<void> | undefined
  return {
    endpoint: `unix://${socketPath}`,
    stop: () => {
      stopped ??= new Promise((resolve) => {
        for (const session of sessions) session.destroy()
        server.close(() => {
          removeSocket(socketPath)
          resolve()
        })
      })
      return stopped
    },
  }
}
