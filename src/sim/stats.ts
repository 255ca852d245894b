import type { PlainMessage } from '../cri/runtime.js'
import { CriContainerState } from '../model/state.js'
import { containerMetadata, sandboxMetadata } from './messages.js'
import type { ContainerRecord, SandboxRecord } from './records.js'

/** Share of a core that every simulated process uses, and its memory: what stats show, the same for all. */
const coreShare = 0.02
const workingSetBytes = 24 * 1024 * 1024
const writableLayerBytes = 20_480

/** ContainerStats as containerd gives it: cpu and memory only while the container runs. */
export function containerStats(record: ContainerRecord, nowNs: bigint): PlainMessage {
  const running = record.state === CriContainerState.running
  const timestamp = nowNs.toString()
  return {
    attributes: {
      id: record.id,
      metadata: containerMetadata(record),
      labels: record.labels,
      annotations: record.annotations,
    },
    cpu: running ? cpuUsage(nowNs - record.startedAt, timestamp) : null,
    memory: running ? memoryUsage(1, timestamp) : null,
    writable_layer: {
      timestamp,
      fs_id: { mountpoint: '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs' },
      used_bytes: uint64(writableLayerBytes),
      inodes_used: uint64(8),
    },
  }
}

/** PodSandboxStats: the sum of its running containers, and each container, as containerd gives it. */
export function podSandboxStats(sandbox: SandboxRecord, nowNs: bigint): PlainMessage {
  const timestamp = nowNs.toString()
  const running = [...sandbox.containers].filter((c) => c.state === CriContainerState.running)
  const nanos = running.reduce((sum, c) => sum + (nowNs - c.startedAt), 0n)
  return {
    attributes: {
      id: sandbox.id,
      metadata: sandboxMetadata(sandbox),
      labels: sandbox.labels,
      annotations: sandbox.annotations,
    },
    linux: {
      cpu: cpuUsage(nanos, timestamp),
      memory: memoryUsage(running.length, timestamp),
      network: { timestamp, default_interface: networkInterface(nanos) },
      process: { timestamp, process_count: uint64(running.length + 1) },
      containers: Array.from(sandbox.containers, (c) => containerStats(c, nowNs)),
    },
  }
}

function cpuUsage(processNanos: bigint, timestamp: string): PlainMessage {
  const used = (processNanos * BigInt(Math.round(coreShare * 1000))) / 1000n
  return {
    timestamp,
    usage_core_nano_seconds: { value: (used > 0n ? used : 0n).toString() },
    usage_nano_cores: uint64(coreShare * 1e9),
  }
}

function memoryUsage(processes: number, timestamp: string): PlainMessage {
  const bytes = uint64(processes * workingSetBytes)
  return {
    timestamp,
    working_set_bytes: bytes,
    usage_bytes: bytes,
    rss_bytes: bytes,
    available_bytes: uint64(0),
    page_faults: uint64(59 * processes),
    major_page_faults: uint64(0),
  }
}

function networkInterface(processNanos: bigint): PlainMessage {
  const bytes = { value: (processNanos / 1_000_000n).toString() }
  return { name: 'eth0', rx_bytes: bytes, rx_errors: uint64(0), tx_bytes: bytes, tx_errors: uint64(0) }
}

function uint64(value: number): PlainMessage {
  return { value: `${value}` }
}
