import { CriError, GrpcCode } from '../cri/errors.js'
import type { PlainMessage } from '../cri/runtime.js'
import { CriSandboxState } from '../model/state.js'
import type { Codec } from './codec.js'
import { encodeSandboxStatus } from './encode.js'
import { type Filter, isOpen, sandboxMatches } from './filters.js'
import type { Piece } from './listBook.js'
import { findSandbox, invalid, needSandbox, type Parts } from './parts.js'
import type { SandboxRecord } from './records.js'
import type { Handlers, PodSandboxFilter } from './requests.js'

type SandboxCalls = 'RunPodSandbox' | 'StopPodSandbox' | 'RemovePodSandbox' | 'PodSandboxStatus' | 'ListPodSandbox'

export function sandboxFilter(filter: PodSandboxFilter | null): Filter {
  return {
    id: filter?.id ?? '',
    state: filter?.state ? stateNumber(filter.state.state) : null,
    sandboxId: '',
    labels: Object.entries(filter?.label_selector ?? {}),
  }
}

function stateNumber(name: string): number {
  return name === 'SANDBOX_READY' ? CriSandboxState.ready : CriSandboxState.notReady
}

export function listSandboxes({ node, order }: Parts, filter: Filter): Piece[] {
  if (isOpen(filter)) return node.sandboxBook.pieces(order)
  return node.sandboxBook.select(order, (record) => sandboxMatches(filter, record))
}

export function sandboxCalls(parts: Parts): Pick<Handlers, SandboxCalls> {
  const { node, codec } = parts
  return {
    RunPodSandbox: ({ config, runtime_handler }) => {
      const call = 'RunPodSandbox'
      const metadata = config?.metadata
      if (!config || !metadata || metadata.name === '') throw invalid(call, 'sandbox config must include metadata')
      const holder = node.holderOfSandboxName(metadata)
      if (holder !== undefined) {
        const name = `${metadata.name}_${metadata.namespace}_${metadata.uid}_${metadata.attempt}`
        throw new CriError(
          call,
          GrpcCode.UNKNOWN,
          `failed to reserve sandbox name "${name}": name "${name}" is reserved for "${holder}"`,
        )
      }
      const namespaces = config.linux?.security_context?.namespace_options ?? null
      const record = node.runSandbox({
        name: metadata.name,
        uid: metadata.uid,
        namespace: metadata.namespace,
        attempt: metadata.attempt,
        labels: config.labels,
        annotations: config.annotations,
        logDirectory: config.log_directory,
        runtimeHandler: runtime_handler,
        hostNetwork: namespaces?.network === 'NODE',
        encodedStatus: encodeSandboxDetails(codec, namespaces),
      })
      return { pod_sandbox_id: record.id }
    },

    StopPodSandbox: ({ pod_sandbox_id }) => {
      const record = findSandbox(node, pod_sandbox_id)
      if (record !== undefined) node.stopSandbox(record)
      return {}
    },

    RemovePodSandbox: ({ pod_sandbox_id }) => {
      const record = findSandbox(node, pod_sandbox_id)
      if (record !== undefined) node.removeSandbox(record)
      return {}
    },

    PodSandboxStatus: ({ pod_sandbox_id, verbose }) => {
      const record = needSandbox(node, 'PodSandboxStatus', pod_sandbox_id)
      return encodeSandboxStatus(record, verbose ? verboseInfo(record) : {})
    },

    ListPodSandbox: ({ filter }) => listSandboxes(parts, sandboxFilter(filter)),
  }
}

/** Of a PodSandboxStatus, what comes from the sandbox's configuration alone. */
export function encodeSandboxDetails(codec: Codec, namespaces: PlainMessage | null): Buffer {
  const options = namespaces ?? { pid: 'CONTAINER' }
  return codec.encodeStatusPart('PodSandboxStatus', { linux: { namespaces: { options } } })
}

function verboseInfo({ runtimeHandler }: SandboxRecord): Record<string, string> {
  return { info: JSON.stringify({ runtimeHandler, simulated: true }) }
}
