import { describe, expect, it } from 'vitest'
import { TimeoutHeader } from '../../../../src/cri/h2/requestHead.js'
import { decodeGrpcMessage, HeaderMemo } from '../../../../src/cri/h2/response.js'
import { grpcHead, literal, trailers } from './support/wire.js'

describe('HeaderMemo', () => {
  it('gives for each block what is in it, however alike the last one was', () => {
    const memo = new HeaderMemo()
    const blocks = [
      trailers(5, 'a'),
      trailers(5, 'a'),
      trailers(5, 'b'),
      Buffer.concat([trailers(5, 'b'), literal('grpc-message', 'longer')]),
      literal('grpc-status', '5'),
      Buffer.alloc(0),
      trailers(13, 'x'.repeat(120)),
    ]
    const texts = blocks.map((block) => {
      const { grpcStatus, grpcMessage } = memo.decode(block, 0, block.length)
      return `${grpcStatus} ${grpcMessage}`
    })
    expect(texts).toEqual(['5 a', '5 a', '5 b', '5 longer', '5 ', ' ', `13 ${'x'.repeat(120)}`])
  })

  it('decodes equal blocks once', () => {
    const memo = new HeaderMemo()
    const first = memo.decode(grpcHead, 0, grpcHead.length)
    expect(memo.decode(Buffer.from(grpcHead), 0, grpcHead.length)).toBe(first)
  })
})

describe('decodeGrpcMessage', () => {
  it.each([
    ['plain', 'plain'],
    ['%E2%82%AC 5', '€ 5'],
    ['100%', '100%'],
    ['%zz%4', '%zz%4'],
    ['%ff', '\ufffd'],
  ])('%s', (encoded, text) => {
    expect(decodeGrpcMessage(encoded)).toBe(text)
  })
})

describe('TimeoutHeader', () => {
  it.each([
    [1, '1m'],
    [0.2, '1m'],
    [1000.01, '1001m'],
    [99_999_999, '99999999m'],
    [100_000_000, '100000S'],
    [100_000_001, '100001S'],
    [Number.POSITIVE_INFINITY, '99999999S'],
  ])('%s ms', (ms, value) => {
    const timeout = new TimeoutHeader()
    expect(timeout.of(ms)).toEqual(literal('grpc-timeout', value))
    expect(timeout.of(5)).toEqual(literal('grpc-timeout', '5m'))
  })
})
