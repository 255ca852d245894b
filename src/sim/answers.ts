import { CriError, GrpcCode } from '../cri/errors.js'
import type { PlainMessage } from '../cri/runtime.js'
import { messageOf } from '../model/errors.js'
import { containerCalls, containerFilter, listContainers } from './containerCalls.js'
import type { Faults } from './faults.js'
import { imageCalls } from './imageCalls.js'
import type { Piece } from './listBook.js'
import { nodeCalls } from './nodeCalls.js'
import type { Parts } from './parts.js'
import type { Answer, CallContext, Handlers, Requests } from './requests.js'
import { listSandboxes, sandboxCalls, sandboxFilter } from './sandboxCalls.js'

type Handler = (request: PlainMessage, context: CallContext) => Answer | Promise<Answer>

interface StreamedList {
  /** The call that asks for the same list in one message. */
  readonly unary: string
  readonly pieces: (parts: Parts, request: PlainMessage) => Piece[]
}

/** The lists that can be streamed, by their calls. */
const streamedLists: ReadonlyMap<string, StreamedList> = new Map([
  [
    'StreamPodSandboxes',
    {
      unary: 'ListPodSandbox',
      pieces: (parts: Parts, request: PlainMessage) =>
        listSandboxes(parts, sandboxFilter((request as unknown as Requests['ListPodSandbox']).filter)),
    },
  ],
  [
    'StreamContainers',
    {
      unary: 'ListContainers',
      pieces: (parts: Parts, request: PlainMessage) =>
        listContainers(parts, containerFilter((request as unknown as Requests['ListContainers']).filter)),
    },
  ],
])
const eventCall = 'GetContainerEvents'
/** Objects a message of a streamed list, as CRI-O sends them. */
const streamedItems = 3000

/** The simulated runtime's side of CRI: encoded requests in, encoded answers out, faults in between. */
export class Answers {
  private readonly parts: Parts
  private readonly faults: Faults
  private readonly handlers: ReadonlyMap<string, Handler>

  constructor(parts: Parts, faults: Faults) {
    this.parts = parts
    this.faults = faults
    const handlers: Handlers = {
      ...sandboxCalls(parts),
      ...containerCalls(parts),
      ...imageCalls(parts),
      ...nodeCalls(parts),
    }
    // The codec decodes each request as that of its call, so it has the shape that the call's handler expects.
    this.handlers = new Map(Object.entries(handlers) as unknown as [string, Handler][])
  }

  /** Whether there is an answer to such a call; all others are UNIMPLEMENTED. */
  has(call: string): boolean {
    return this.handlers.has(call) || this.streams(call)
  }

  /** Whether the call's answer is a stream of messages. */
  streams(call: string): boolean {
    return streamedLists.has(call) || call === eventCall
  }

  /** The answer to a unary call, in pieces that belong behind one another. Throws CriError. */
  async answer(call: string, request: Buffer, signal?: AbortSignal): Promise<readonly Buffer[]> {
    const handler = this.handlers.get(call)
    if (handler === undefined) throw new CriError(call, GrpcCode.UNIMPLEMENTED, `unknown method ${call}`)
    const message = this.decoded(call, request)
    const id = objectOf(message)
    if (!this.faults.none(call, id)) await this.faults.pass(call, id, signal)
    const answer = await handler(message, signal === undefined ? {} : { signal })
    if (isPieces(answer)) return answer.map(({ bytes }) => bytes)
    return [Buffer.isBuffer(answer) ? answer : this.parts.codec.encodeResponse(call, answer)]
  }

  /**
   * The messages of a streaming call, each in pieces: a list, all of one instant, or the events from now on until the
   * signal. Throws CriError.
   */
  async *stream(call: string, request: Buffer, signal?: AbortSignal): AsyncIterableIterator<readonly Buffer[]> {
    if (!this.streams(call)) throw new CriError(call, GrpcCode.UNIMPLEMENTED, `unknown method ${call}`)
    const list = streamedLists.get(call)
    // Who makes a list fail means the list, whichever way it is asked for.
    for (const name of list === undefined ? [call] : [call, list.unary]) {
      if (!this.faults.none(name, '')) await this.faults.pass(name, '', signal)
    }
    if (list === undefined) for await (const bytes of this.parts.node.feed.subscribe(signal)) yield [bytes]
    else yield* inMessages(list.pieces(this.parts, this.decoded(call, request)))
  }

  private decoded(call: string, request: Buffer): PlainMessage {
    try {
      return this.parts.codec.decodeRequest(call, request)
    } catch (error) {
      throw new CriError(call, GrpcCode.INTERNAL, `the request can't be decoded: ${messageOf(error)}`)
    }
  }
}

/** The object that a request is about, for faults by object; '' where it is about none. */
function objectOf(request: PlainMessage): string {
  const id = request['container_id'] ?? request['pod_sandbox_id']
  return typeof id === 'string' ? id : ''
}

function isPieces(answer: Answer): answer is readonly Piece[] {
  return Array.isArray(answer)
}

/** Pieces as messages of at most `streamedItems` items; an empty list is one empty message. */
function* inMessages(pieces: readonly Piece[]): IterableIterator<readonly Buffer[]> {
  let message: Buffer[] = []
  let items = 0
  for (const piece of pieces) {
    if (items + piece.items > streamedItems) {
      yield message
      message = []
      items = 0
    }
    message.push(piece.bytes)
    items += piece.items
  }
  yield message
}
