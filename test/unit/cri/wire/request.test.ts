import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ListFilter } from '../../../../src/cri/runtime.js'
import { encodeListRequest, encodeStatusRequest } from '../../../../src/cri/wire/request.js'
import { decode, encode, framed } from '../../../support/criMessages.js'

const filters = fc.record(
  {
    id: fc.string(),
    state: fc.nat({ max: 300 }),
    sandboxId: fc.string({ maxLength: 300 }),
    labels: fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<ListFilter>

const types = { sandbox: 'ListPodSandboxRequest', container: 'ListContainersRequest' } as const

describe('requests', () => {
  it.each(['sandbox', 'container'] as const)(
    'a filtered list of each %s reads as protobufjs would have written it',
    (kind) => {
      const property = fc.property(filters, (filter) => {
        const expected = {
          ...(filter.id !== undefined && { id: filter.id }),
          ...(filter.state !== undefined && { state: { state: filter.state } }),
          ...(kind === 'container' && filter.sandboxId !== undefined && { pod_sandbox_id: filter.sandboxId }),
          ...(filter.labels && { label_selector: filter.labels }),
        }
        const request = encodeListRequest(kind, filter)
        expect(request.readUInt32BE(1)).toBe(request.length - 5)
        const given = Object.values(expected).some(
          (value) => typeof value !== 'object' || Object.keys(value).length > 0,
        )
        const message = given ? { filter: expected } : {}
        expect(decode(types[kind], request.subarray(5))).toEqual(decode(types[kind], encode(types[kind], message)))
      })
      fc.assert(property)
    },
  )

  it('a list without a filter is an empty message', () => {
    expect(encodeListRequest('container')).toEqual(framed(Buffer.alloc(0)))
  })

  it('a status asks by id, not verbose', () => {
    const request = encodeStatusRequest('ü'.repeat(100))
    expect(decode('ContainerStatusRequest', request.subarray(5))).toEqual({
      container_id: 'ü'.repeat(100),
      verbose: false,
    })
  })
})
