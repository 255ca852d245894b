import { existsSync, rmSync } from 'node:fs'
import * as grpc from '@grpc/grpc-js'

const raw = (bytes: Buffer): Buffer => bytes

export interface Asked {
  readonly message: Buffer
  /** Milliseconds that the client gives the call, as told by grpc-timeout. */
  readonly timeLeft: number
  readonly cancelled: Promise<void>
  /** Sends headers at once, so that an error comes in trailers of its own. */
  sendHeaders(): void
}

/** The answer's bytes; throw `failure` for an error. A promise that never settles is a call that hangs. */
export type Answer = (asked: Asked) => Buffer | Promise<Buffer>
export type StreamAnswer = (asked: Asked) => AsyncIterable<Buffer>

export function failure(code: number, details: string): Error {
  return Object.assign(new Error(details), { code, details })
}

/** A grpc-js server on a unix socket that answers runtime.v1's calls with the bytes it is given. */
export class ByteServer {
  readonly path: string
  readonly endpoint: string
  readonly answers = new Map<string, Answer>()
  /** Messages of GetContainerEvents, in order. */
  events: StreamAnswer = async function* () {}
  /** Messages of other streams, by call; of those that are not here UNIMPLEMENTED. */
  readonly streams = new Map<string, StreamAnswer>()
  #server: grpc.Server | undefined
  readonly #options: grpc.ServerOptions

  constructor(path: string, options: grpc.ServerOptions = {}) {
    this.path = path
    this.endpoint = `unix://${path}`
    this.#options = { 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': -1, ...options }
  }

  async listen(): Promise<this> {
    const server = new grpc.Server(this.#options)
    const unary = [
      'ListPodSandbox',
      'ListContainers',
      'PodSandboxStatus',
      'ContainerStatus',
      'Version',
      'StopContainer',
    ]
    const method = (name: string, responseStream: boolean) => ({
      path: `/runtime.v1.RuntimeService/${name}`,
      requestStream: false,
      responseStream,
      requestSerialize: raw,
      requestDeserialize: raw,
      responseSerialize: raw,
      responseDeserialize: raw,
    })
    const definition: Record<string, grpc.MethodDefinition<Buffer, Buffer>> = {}
    const implementation: grpc.UntypedServiceImplementation = {}
    for (const name of ['GetContainerEvents', 'StreamPodSandboxes', 'StreamContainers']) {
      definition[name] = method(name, true)
      implementation[name] = (call: grpc.ServerWritableStream<Buffer, Buffer>) => this.#stream(name, call)
    }
    for (const name of unary) {
      definition[name] = method(name, false)
      implementation[name] = (call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) =>
        this.#unary(name, call, done)
    }
    server.addService(definition, implementation)
    await new Promise<void>((resolve, reject) => {
      const bound = (error: Error | null) => (error ? reject(error) : resolve())
      server.bindAsync(`unix://${this.path}`, grpc.ServerCredentials.createInsecure(), bound)
    })
    this.#server = server
    return this
  }

  /** Breaks all connections. */
  stop(): void {
    this.#server?.forceShutdown()
    this.#server = undefined
    if (existsSync(this.path)) rmSync(this.path)
  }

  #unary(name: string, call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>): void {
    const answered = async () => {
      const answer = this.answers.get(name)
      if (!answer) throw failure(grpc.status.UNIMPLEMENTED, `unknown method ${name}`)
      return answer(asked(call, call.request))
    }
    answered().then(
      (bytes) => done(null, bytes),
      (error: grpc.ServiceError) => done(error),
    )
  }

  #stream(name: string, call: grpc.ServerWritableStream<Buffer, Buffer>): void {
    const answer = name === 'GetContainerEvents' ? this.events : this.streams.get(name)
    const send = async () => {
      if (!answer) throw failure(grpc.status.UNIMPLEMENTED, `unknown method ${name}`)
      for await (const message of answer(asked(call, call.request))) call.write(message)
    }
    send().then(
      () => call.end(),
      (error: grpc.ServiceError) => call.emit('error', error),
    )
  }
}

function asked(
  call: grpc.ServerUnaryCall<Buffer, Buffer> | grpc.ServerWritableStream<Buffer, Buffer>,
  message: Buffer,
): Asked {
  const deadline = call.getDeadline()
  return {
    message,
    timeLeft: (deadline instanceof Date ? deadline.getTime() : deadline) - Date.now(),
    cancelled: new Promise((resolve) => call.once('cancelled', () => resolve())),
    sendHeaders: () => call.sendMetadata(new grpc.Metadata()),
  }
}
