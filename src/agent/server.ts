import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { CachedPod } from '../engine/api.js'
import { PlegdError, UsageError } from '../model/errors.js'
import { type Check, runCheck, runChecks } from './checks.js'
import { podListText } from './podList.js'
import type { AgentSnapshot } from './snapshot.js'
import { statuszObject, statuszText } from './statusz.js'

/** A page that Prometheus reads. */
export interface MetricsPage {
  readonly contentType: string
  render(): Promise<string>
}

export interface ServerSources {
  readonly checks: Readonly<Record<string, readonly Check[]>>
  readonly metrics: MetricsPage
  readonly snapshot: () => AgentSnapshot
  readonly pods: () => Iterable<CachedPod>
  /** The configuration in force; holds no secrets. */
  readonly config: () => unknown
}

const limits = {
  headerBytes: 8 << 10,
  headers: 64,
  bodyBytes: 1 << 10,
  connections: 128,
  requestMs: 10_000,
  keepAliveMs: 90_000,
} as const

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

const plain = (reply: FastifyReply, status: number, text: string) =>
  reply.code(status).type('text/plain; charset=utf-8').send(text)

/** As the API machinery words an error. */
function failure(reply: FastifyReply, code: number, reason: string, message: string) {
  return reply
    .code(code)
    .send({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code })
}

function isVerbose(request: FastifyRequest): boolean {
  return Object.hasOwn(request.query as object, 'verbose')
}

function wantsJson(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('application/json')
}

/** The agent's pages on a server that does not listen yet. Everything is read-only. */
export function createServer(sources: ServerSources): FastifyInstance {
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    forceCloseConnections: true,
    http: { maxHeaderSize: limits.headerBytes },
    routerOptions: { ignoreTrailingSlash: true },
  })
  app.server.maxConnections = limits.connections
  app.server.maxHeadersCount = limits.headers

  const paths = new Set<string>()
  const get = (path: string, handler: Handler) => {
    paths.add(path)
    app.get(path, handler)
  }
  for (const [endpoint, checks] of Object.entries(sources.checks)) {
    get(`/${endpoint}`, (request, reply) => {
      const { status, text } = runChecks(endpoint, checks, isVerbose(request))
      return plain(reply, status, text)
    })
    for (const check of checks) {
      get(`/${endpoint}/${check.name}`, (_request, reply) => {
        const { status, text } = runCheck(check)
        return plain(reply, status, text)
      })
    }
  }
  get('/metrics', async (_request, reply) =>
    reply.type(sources.metrics.contentType).send(await sources.metrics.render()),
  )
  get('/pods', (_request, reply) => reply.type('application/json').send(Readable.from(podListText(sources.pods()))))
  get('/statusz', (request, reply) => {
    const snapshot = sources.snapshot()
    return wantsJson(request) ? reply.send(statuszObject(snapshot)) : plain(reply, 200, statuszText(snapshot))
  })
  get('/configz', (_request, reply) => reply.send({ plegdconfig: sources.config() }))

  // Before any body is read.
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (request.method === 'GET' || request.method === 'HEAD') return
    const path = request.url.split('?', 1)[0]?.replace(/(.)\/+$/, '$1') ?? ''
    if (!paths.has(path)) return failure(reply, 404, 'NotFound', 'no such path')
    return plain(reply.header('allow', 'GET, HEAD'), 405, 'Method Not Allowed\n')
  })
  app.setNotFoundHandler((_request, reply) => failure(reply, 404, 'NotFound', 'no such path'))
  app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
    failure(
      reply,
      error.statusCode ?? 500,
      error.statusCode === undefined ? 'InternalError' : 'BadRequest',
      error.message,
    ),
  )
  return app
}

/** @throws UsageError for an address that other machines can reach: nothing here is encrypted or authenticated yet. */
export function requireLoopback(address: string): void {
  const loopback = address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
  if (loopback) return
  throw new UsageError(
    `will not serve HTTP on ${address}: without TLS and authentication only loopback addresses are allowed, such as 127.0.0.1`,
  )
}

/** Listens, and answers where. @throws PlegdError HTTP_LISTEN with what to do about it. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const hint = code === 'EADDRINUSE' && port === 10_248 ? ' (a kubelet serves its health on 10248 too)' : ''
    throw new PlegdError(
      'HTTP_LISTEN',
      `can not serve HTTP on ${host}:${port}: ${code ?? String(error)}${hint}; choose another with --http-address`,
      { host, port },
      { cause: error },
    )
  }
}
