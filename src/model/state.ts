/** CRI v1 ContainerState, as on the wire. */
export const CriContainerState = { created: 0, running: 1, exited: 2, unknown: 3 } as const
/** CRI v1 PodSandboxState, as on the wire. */
export const CriSandboxState = { ready: 0, notReady: 1 } as const

/**
 * The PLEG's view of a container or sandbox (kubelet v1.37 pleg/generic.go). CRI's created and unknown are both
 * `unknown`; a sandbox is `running` when READY and `exited` when NOTREADY. Numbers, because tables hold them as bytes.
 */
export const PlegState = { nonExistent: 0, running: 1, exited: 2, unknown: 3 } as const
export type PlegState = (typeof PlegState)[keyof typeof PlegState]

/** Unrecognised enum values are `unknown`, as in the kubelet. */
export function plegStateOfContainer(criState: number): PlegState {
  if (criState === CriContainerState.running) return PlegState.running
  if (criState === CriContainerState.exited) return PlegState.exited
  return PlegState.unknown
}

export function plegStateOfSandbox(criState: number): PlegState {
  if (criState === CriSandboxState.ready) return PlegState.running
  if (criState === CriSandboxState.notReady) return PlegState.exited
  return PlegState.unknown
}

/** List-view state of a container, in the words of `running_containers{container_state}`. */
export type ContainerState = 'created' | 'running' | 'exited' | 'unknown'
export const containerStates: readonly ContainerState[] = ['created', 'running', 'exited', 'unknown']
export type SandboxState = 'ready' | 'notready' | 'unknown'
export const sandboxStates: readonly SandboxState[] = ['ready', 'notready']

export function containerStateOf(criState: number): ContainerState {
  return containerStates[criState] ?? 'unknown'
}

export function sandboxStateOf(criState: number): SandboxState {
  return sandboxStates[criState] ?? 'unknown'
}
