import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

export interface SeenFrame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

const PREFACE = 24

/** One client's connection, seen from a server that does only what a test tells it to. */
export class Peer {
  readonly socket: net.Socket
  readonly frames: SeenFrame[] = []
  closed = false
  #bytes = Buffer.alloc(0)
  #greeted = false
  #wake: () => void = () => {}

  constructor(socket: net.Socket) {
    this.socket = socket
    socket.on('data', (bytes) => this.#take(bytes))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
  }

  send(...frames: Uint8Array[]): void {
    this.socket.write(Buffer.concat(frames))
  }

  /** Takes the next frame of that type (and stream) out of what came. */
  async next(type: number, streamId?: number): Promise<SeenFrame> {
    for (;;) {
      const at = this.frames.findIndex((f) => f.type === type && (streamId === undefined || f.streamId === streamId))
      if (at >= 0) return this.frames.splice(at, 1)[0]!
      if (this.closed) throw new Error(`closed before a frame of type ${type}`)
      await this.#change()
    }
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await this.#change()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    if (!this.#greeted) {
      if (this.#bytes.length < PREFACE) return
      this.#greeted = true
      this.#bytes = this.#bytes.subarray(PREFACE)
    }
    for (;;) {
      const length = this.#bytes.length < 9 ? Number.POSITIVE_INFINITY : this.#bytes.readUIntBE(0, 3)
      if (this.#bytes.length < 9 + length) break
      this.frames.push({
        type: this.#bytes[3]!,
        flags: this.#bytes[4]!,
        streamId: this.#bytes.readUInt32BE(5),
        payload: Buffer.from(this.#bytes.subarray(9, 9 + length)),
      })
      this.#bytes = this.#bytes.subarray(9 + length)
    }
    this.#wake()
  }
}

export function temporarySocket(): string {
  return path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'plegd-h2-')), 's')
}

export class ScriptedServer {
  readonly socketPath: string
  /** Hangs up on whoever comes next. */
  refusing = false
  readonly #server = net.createServer((socket) => {
    if (this.refusing) {
      socket.destroy()
      return
    }
    const peer = new Peer(socket)
    this.#peers.push(peer)
    const waiter = this.#waiters.shift()
    if (waiter) waiter(peer)
    else this.#ready.push(peer)
  })
  readonly #peers: Peer[] = []
  readonly #ready: Peer[] = []
  readonly #waiters: ((peer: Peer) => void)[] = []

  constructor(socketPath = temporarySocket()) {
    this.socketPath = socketPath
  }

  async listen(): Promise<this> {
    this.#server.listen(this.socketPath)
    await once(this.#server, 'listening')
    return this
  }

  accept(): Promise<Peer> {
    const peer = this.#ready.shift()
    if (peer) return Promise.resolve(peer)
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
    })
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) peer.socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
