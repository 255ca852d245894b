import { join } from 'node:path'
import { CriError, GrpcCode } from '../cri/errors.js'
import type { PlainMessage } from '../cri/runtime.js'
import { CriContainerState, CriSandboxState } from '../model/state.js'
import type { Codec } from './codec.js'
import { encodeContainerStatus } from './encode.js'
import { containerMatches, type Filter, isOpen } from './filters.js'
import type { Piece } from './listBook.js'
import { findContainer, invalid, needContainer, needSandbox, type Parts } from './parts.js'
import { planOf } from './processes.js'
import type { ContainerRecord } from './records.js'
import type { ContainerFilter, Handlers } from './requests.js'
import { pause } from './timers.js'

type ContainerCalls =
  | 'CreateContainer'
  | 'StartContainer'
  | 'StopContainer'
  | 'RemoveContainer'
  | 'ContainerStatus'
  | 'ListContainers'
  | 'UpdateContainerResources'
  | 'ReopenContainerLog'
  | 'ExecSync'

const stateNames = ['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN'] as const

export function containerFilter(filter: ContainerFilter | null): Filter {
  return {
    id: filter?.id ?? '',
    state: filter?.state ? (stateNames as readonly string[]).indexOf(filter.state.state) : null,
    sandboxId: filter?.pod_sandbox_id ?? '',
    labels: Object.entries(filter?.label_selector ?? {}),
  }
}

export function listContainers({ node, order }: Parts, filter: Filter): Piece[] {
  if (isOpen(filter)) return node.containerBook.pieces(order)
  return node.containerBook.select(order, (record) => containerMatches(filter, record))
}

export function containerCalls(parts: Parts): Pick<Handlers, ContainerCalls> {
  const { node, images, codec } = parts
  return {
    CreateContainer: ({ pod_sandbox_id, config }) => {
      const call = 'CreateContainer'
      const sandbox = needSandbox(node, call, pod_sandbox_id)
      if (!config?.metadata || config.metadata.name === '')
        throw invalid(call, 'container config must include metadata')
      if (sandbox.state !== CriSandboxState.ready) {
        throw new CriError(call, GrpcCode.UNKNOWN, `sandbox container "${sandbox.id}" is not running`)
      }
      const user = config.linux?.security_context
      if (user?.run_as_group && !user.run_as_user && user.run_as_username === '') {
        throw invalid(call, 'run_as_group is set without run_as_user or run_as_username')
      }
      const holder = node.holderOfContainerName(sandbox, config.metadata)
      if (holder !== undefined) {
        const name = `${config.metadata.name}_${sandbox.name}_${sandbox.namespace}_${sandbox.uid}_${config.metadata.attempt}`
        throw new CriError(
          call,
          GrpcCode.UNKNOWN,
          `failed to reserve container name "${name}": name "${name}" is reserved for "${holder}"`,
        )
      }
      const reference = config.image?.image ?? ''
      const image = images.find(reference)
      if (image === undefined) {
        throw new CriError(call, GrpcCode.NOT_FOUND, `failed to resolve image "${reference}": not found`)
      }
      const record = node.createContainer(sandbox, {
        name: config.metadata.name,
        attempt: config.metadata.attempt,
        image,
        userImage: config.image?.user_specified_image || reference,
        labels: config.labels,
        annotations: config.annotations,
        command: [...config.command, ...config.args],
        envs: Object.fromEntries(config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()])),
        logPath: config.log_path === '' ? '' : join(sandbox.logDirectory, config.log_path),
        encodedStatus: encodeContainerDetails(
          codec,
          config.mounts,
          config.linux?.resources ?? null,
          config.stop_signal,
        ),
      })
      return { container_id: record.id }
    },

    StartContainer: ({ container_id }) => {
      const record = needContainer(node, 'StartContainer', container_id)
      if (record.state !== CriContainerState.created) {
        throw new CriError(
          'StartContainer',
          GrpcCode.UNKNOWN,
          `failed to set starting state for container "${record.id}": container is in ${stateNames[record.state]} state`,
        )
      }
      startProcess(parts, record)
      return {}
    },

    StopContainer: ({ container_id, timeout }) => {
      const record = findContainer(node, container_id)
      // A simulated process ends at once on SIGTERM; without a grace period it is killed.
      if (record !== undefined) node.exitContainer(record, Number(timeout) > 0 ? 143 : 137, 'Error')
      return {}
    },

    RemoveContainer: ({ container_id }) => {
      const record = findContainer(node, container_id)
      if (record !== undefined) node.removeContainer(record)
      return {}
    },

    ContainerStatus: ({ container_id, verbose }) => {
      const record = needContainer(node, 'ContainerStatus', container_id)
      return encodeContainerStatus(record, verbose ? { info: verboseInfo(record) } : {})
    },

    ListContainers: ({ filter }) => listContainers(parts, containerFilter(filter)),

    UpdateContainerResources: ({ container_id, linux, annotations }) => {
      const record = needContainer(node, 'UpdateContainerResources', container_id)
      const resources = codec.encodeStatusPart('ContainerStatus', { resources: { linux } })
      node.updateContainer(record, resources, annotations)
      return {}
    },

    ReopenContainerLog: ({ container_id }) => {
      const record = needContainer(node, 'ReopenContainerLog', container_id)
      if (record.state !== CriContainerState.running) {
        throw new CriError('ReopenContainerLog', GrpcCode.UNKNOWN, 'container is not running')
      }
      return {}
    },

    ExecSync: async ({ container_id, cmd, timeout }, { signal }) => {
      const call = 'ExecSync'
      const record = needContainer(node, call, container_id)
      if (record.state !== CriContainerState.running) {
        throw new CriError(call, GrpcCode.UNKNOWN, `container is in ${stateNames[record.state]} state`)
      }
      const plan = planOf(cmd)
      if (!plan.known || cmd.length === 0) {
        throw new CriError(
          call,
          GrpcCode.UNKNOWN,
          `failed to exec in container: exec: "${cmd[0] ?? ''}": executable file not found in $PATH`,
        )
      }
      const limit = Number(timeout) > 0 ? Number(timeout) : Number.POSITIVE_INFINITY
      const seconds = Math.min(plan.seconds, limit)
      if (seconds > 0) await pause(parts.timers, seconds * 1000, signal)
      if (plan.seconds > limit) {
        throw new CriError(call, GrpcCode.DEADLINE_EXCEEDED, `failed to exec in container: timeout ${limit}s exceeded`)
      }
      return { stdout: Buffer.from(plan.stdout), stderr: Buffer.alloc(0), exit_code: plan.exitCode }
    },
  }
}

/** Of a ContainerStatus, what comes from the container's configuration alone. */
export function encodeContainerDetails(
  codec: Codec,
  mounts: readonly PlainMessage[],
  resources: PlainMessage | null,
  stopSignal: string,
): Buffer {
  return codec.encodeStatusPart('ContainerStatus', {
    mounts,
    resources: resources === null ? null : { linux: resources },
    user: { linux: { uid: '0', gid: '0', supplemental_groups: ['0'] } },
    stop_signal: stopSignal,
  })
}

/** Starts the container's process as scripted by its command line; it ends by itself when its time is over. */
function startProcess({ node, timers }: Parts, record: ContainerRecord): void {
  const plan = planOf(record.command)
  node.startContainer(record)
  if (!plan.known || !Number.isFinite(plan.seconds)) return
  const reason = plan.exitCode === 0 ? 'Completed' : 'Error'
  timers.after(plan.seconds * 1000, () => node.exitContainer(record, plan.exitCode, reason))
}

function verboseInfo(record: ContainerRecord): string {
  return JSON.stringify({
    sandboxID: record.sandbox.id,
    simulated: true,
    config: { command: record.command, envs: record.envs },
  })
}
