import * as z from 'zod'
import { formatGoDuration, parseGoDuration } from '../model/duration.js'
import { messageOf } from '../model/errors.js'
import { formatBytes, parseBytes } from './units.js'

export const plegdApiVersion = 'plegd.dev/v1alpha1'
export const plegdKind = 'PlegdConfiguration'

/** A text on disk, a number in the program; what `parse` throws becomes an issue at its place in the file. */
function textual(parse: (text: string) => number, format: (value: number) => string, check: (value: number) => string) {
  return z.codec(z.string(), z.number(), {
    decode: (text, context) => {
      try {
        const value = parse(text)
        const complaint = check(value)
        if (complaint === '') return value
        context.issues.push({ code: 'custom', message: complaint, input: text })
      } catch (error) {
        context.issues.push({ code: 'custom', message: messageOf(error), input: text })
      }
      return z.NEVER
    },
    encode: format,
  })
}

const duration = (minMs: number) =>
  textual(parseGoDuration, formatGoDuration, (ms) => (ms < minMs ? `must be at least ${formatGoDuration(minMs)}` : ''))
const size = textual(parseBytes, formatBytes, (bytes) => (bytes < 1 ? 'must be at least 1' : ''))

const logging = z.strictObject({
  format: z
    .enum(['text', 'json'])
    .default('text')
    .describe('`text`: klog lines. `json`: one object a line. Flag `--logging-format`.'),
  verbosity: z
    .int()
    .min(0)
    .max(10)
    .default(2)
    .describe("klog's verbosity: 2 for operators, 4 for debugging, 5 and more for traces. Flag `--v`."),
})

/**
 * The configuration file, and what it is in the program (durations in milliseconds, sizes in bytes). Keys that the
 * kubelet has too keep its name and meaning. docs/configuration.md is held against this schema by a test.
 */
export const plegdSchema = z.strictObject({
  apiVersion: z.literal(plegdApiVersion).default(plegdApiVersion).describe('Always this.'),
  kind: z.literal(plegdKind).default(plegdKind).describe('Always this.'),
  containerRuntimeEndpoint: z
    .string()
    .default('')
    .describe(
      'CRI endpoint: `unix:///run/containerd/containerd.sock`, a bare absolute path, or `host:port`. Empty: the embedded simulated node. Flag `--runtime-endpoint`.',
    ),
  runtimeTransport: z
    .enum(['h2', 'grpc'])
    .optional()
    .describe(
      'How to speak to the runtime: `h2` (own framing, unix sockets only) or `grpc` (grpc-js). Unset: `h2` where the endpoint is a unix socket. Flag `--transport`.',
    ),
  runtimeRequestTimeout: duration(1)
    .default(120_000)
    .describe('Deadline of every CRI call. Flag `--runtime-request-timeout`.'),
  nodeName: z
    .string()
    .max(253)
    .default('')
    .describe("Label of `kubelet_node_name`. Empty: the machine's host name. Flag `--hostname-override`."),
  plegRelistPeriod: duration(1)
    .default(1_000)
    .describe('Pause between the end of a relist and the start of the next. Flag `--pleg-relist-period`.'),
  plegRelistThreshold: duration(1)
    .default(180_000)
    .describe('Age of the last good list beyond which PLEG is not healthy. Flag `--pleg-relist-threshold`.'),
  plegChannelCapacity: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1_000)
    .describe('Events held for the syncLoop when it is behind. Flag `--pleg-channel-capacity`.'),
  plegChannelOverflow: z
    .enum(['sync', 'discard'])
    .default('sync')
    .describe(
      "When the channel is full: `sync` gives each affected pod one PodSync later; `discard` is the kubelet's rule. Flag `--pleg-channel-overflow`.",
    ),
  shards: z.int().min(1).max(64).optional().describe('Shard threads. Unset: from the cores. Flag `--shards`.'),
  inspectConcurrency: z
    .int()
    .min(1)
    .max(1_024)
    .default(64)
    .describe('Limit of status calls in flight, all shards together. Flag `--inspect-concurrency`.'),
  messageWarnSize: size
    .default(16 * 2 ** 20)
    .describe(
      "Size of a list's answer that the metrics and the diagnosis hold it against. Flag `--message-warn-size`.",
    ),
  housekeepingPeriod: duration(100)
    .default(2_000)
    .describe('Pause between two housekeeping passes. Flag `--housekeeping-period`.'),
  healthzBindAddress: z
    .string()
    .default('127.0.0.1')
    .describe('Address of the HTTP server. Loopback only: there is no TLS yet. Flag `--http-address`.'),
  healthzPort: z
    .int()
    .min(0)
    .max(65_535)
    .default(10_248)
    .describe('Port of the HTTP server; 0 takes a free one. Flag `--http-address`.'),
  logging: logging.prefault({}).describe('How to log, always to stderr.'),
})

/** The configuration as the program uses it: every default filled in, durations in milliseconds, sizes in bytes. */
export type PlegdConfig = z.output<typeof plegdSchema>
