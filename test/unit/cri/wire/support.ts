import fc from 'fast-check'
import protobuf from 'protobufjs'
import { lengthField, type Plain } from '../../../support/criMessages.js'

const text = fc.string({ maxLength: 20, unit: 'binary' })
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
const podLabel = fc.constantFrom('io.kubernetes.pod.uid', 'io.kubernetes.pod.namespace', 'io.kubernetes.pod.name')
const map = fc.dictionary(fc.oneof(podLabel, text), text, { maxKeys: 6 })
const metadata = fc.record({ name: text, attempt: fc.nat({ max: 0xffffffff }) }, { requiredKeys: [] })
const sandboxMetadata = fc.record(
  { name: text, uid: text, namespace: text, attempt: fc.nat({ max: 0xffffffff }) },
  { requiredKeys: [] },
)
const image = fc.record({ image: text, annotations: map, user_specified_image: text }, { requiredKeys: [] })
const state = fc.integer({ min: 0, max: 300 })
const optional = <T extends Record<string, fc.Arbitrary<unknown>>>(model: T): fc.Arbitrary<Plain> =>
  fc.record(model, { requiredKeys: [] })

export const arbitraries = {
  PodSandbox: optional({
    id: text,
    metadata: sandboxMetadata,
    state,
    created_at: int64,
    labels: map,
    annotations: map,
    runtime_handler: text,
  }),
  Container: optional({
    id: text,
    pod_sandbox_id: text,
    metadata,
    image,
    image_ref: text,
    state,
    created_at: int64,
    labels: map,
    annotations: map,
    image_id: text,
  }),
  PodSandboxStatus: optional({
    id: text,
    metadata: sandboxMetadata,
    state,
    created_at: int64,
    network: optional({ ip: fc.ipV4(), additional_ips: fc.array(fc.record({ ip: fc.ipV6() }), { maxLength: 2 }) }),
    linux: optional({ namespaces: optional({ options: optional({ network: fc.nat(3), target_id: text }) }) }),
    labels: map,
    annotations: map,
    runtime_handler: text,
  }),
  ContainerStatus: optional({
    id: text,
    metadata,
    state,
    created_at: int64,
    started_at: int64,
    finished_at: int64,
    exit_code: fc.integer(),
    image,
    image_ref: text,
    reason: text,
    message: text,
    labels: map,
    annotations: map,
    mounts: fc.array(fc.record({ container_path: text }), { maxLength: 2 }),
    log_path: text,
    image_id: text,
  }),
}

/** Fields that no CRI version knows, of every wire type. */
const unknownField: fc.Arbitrary<Buffer> = fc
  .tuple(fc.integer({ min: 500, max: 100_000 }), fc.constantFrom(0, 1, 2, 5), fc.uint8Array({ maxLength: 60 }))
  .map(([field, wireType, bytes]) => {
    if (wireType === 2) return lengthField(field, bytes)
    const writer = protobuf.Writer.create().uint32(field * 8 + wireType)
    if (wireType === 0) writer.uint32(bytes.length)
    else if (wireType === 1) writer.fixed64(bytes.length)
    else writer.fixed32(bytes.length)
    return Buffer.from(writer.finish())
  })

/** The fields of an encoded message, each with its tag. */
export function fieldsOf(message: Uint8Array): Buffer[] {
  const reader = protobuf.Reader.create(message)
  const fields: Buffer[] = []
  while (reader.pos < reader.len) {
    const start = reader.pos
    reader.skipType(reader.uint32() & 7)
    fields.push(Buffer.from(message.subarray(start, reader.pos)))
  }
  return fields
}

/** The same message with its fields in another order and unknown ones among them. */
export function disordered(message: Buffer): fc.Arbitrary<Buffer> {
  return fc.array(unknownField, { maxLength: 4 }).chain((unknown) => {
    const fields = [...fieldsOf(message), ...unknown]
    return fc
      .shuffledSubarray(fields, { minLength: fields.length, maxLength: fields.length })
      .map((shuffled) => Buffer.concat(shuffled))
  })
}
