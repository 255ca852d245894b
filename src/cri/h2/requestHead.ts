const SERVICE = '/runtime.v1.RuntimeService/'

/** Indexes into HPACK's static table (RFC 7541 appendix A). */
const Static = { AUTHORITY: 1, METHOD_POST: 3, PATH: 4, SCHEME_HTTP: 6, CONTENT_TYPE: 31, USER_AGENT: 58 } as const

/** First in the first block of a connection: we keep no dynamic table, whatever the peer would allow (RFC 7541 section 4.2). */
export const NO_DYNAMIC_TABLE = 0x20

/** Serialised once per method. Literals are never indexed nor Huffman-coded, so a block doesn't depend on its connection. */
export function requestHead(method: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x80 | Static.METHOD_POST, 0x80 | Static.SCHEME_HTTP]),
    indexedName(Static.PATH, SERVICE + method),
    indexedName(Static.AUTHORITY, 'localhost'),
    indexedName(Static.CONTENT_TYPE, 'application/grpc'),
    indexedName(Static.USER_AGENT, 'plegd-h2'),
    newName('te', 'trailers'),
  ])
}

const MAX_TIMEOUT_VALUE = 99_999_999

/**
 * The `grpc-timeout` header: at most 8 digits and a unit (gRPC over HTTP/2, "Timeout"). Rounded up, so that the
 * runtime never gives up before we do. The last one is kept: calls that don't wait for a stream all have the same.
 */
export class TimeoutHeader {
  #ms = -1
  #header: Buffer = Buffer.alloc(0)

  of(ms: number): Buffer {
    const whole = Math.ceil(ms)
    if (whole !== this.#ms) {
      this.#ms = whole
      this.#header = newName('grpc-timeout', timeoutValue(whole))
    }
    return this.#header
  }
}

function timeoutValue(ms: number): string {
  if (ms <= MAX_TIMEOUT_VALUE) return `${ms}m`
  return `${Math.min(Math.ceil(ms / 1000), MAX_TIMEOUT_VALUE)}S`
}

function indexedName(index: number, value: string): Buffer {
  // Four bits of prefix; what doesn't fit them (15 and up) follows in one byte.
  const name = index < 15 ? [index] : [15, index - 15]
  return Buffer.concat([Buffer.from(name), text(value)])
}

function newName(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

/** Under 127 bytes, so that the length is one byte. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')])
}
