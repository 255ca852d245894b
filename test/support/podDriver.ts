import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../../src/cri/runtime.js'

const image = { image: 'localhost/rt/work:1', user_specified_image: 'localhost/rt/work:1' }

/** A container that was made, and its pod. */
export interface DrivenContainer {
  readonly pod: DrivenPod
  readonly container: string
  readonly id: string
  /** An argument of its process that no other on this machine has: finds it from outside, whatever the runtime. */
  readonly mark: string
}

/** A pod as a kubelet would make it, on a real runtime. */
export interface DrivenPod {
  readonly uid: string
  readonly name: string
  /** Of its sandbox. */
  readonly id: string
  readonly sandboxConfig: Record<string, unknown>
  readonly logs: string
}

/** Does to pods what a kubelet does, through CRI, with its labels and annotations. */
export class PodDriver {
  readonly #cri: Pick<Runtime, 'call'>
  readonly #folder: string

  /** Logs go below `folder`, which the runtime must see at the same path. */
  constructor(cri: Pick<Runtime, 'call'>, folder: string) {
    this.#cri = cri
    this.#folder = folder
  }

  async runPod(name: string): Promise<DrivenPod> {
    const uid = `uid-${name}`
    const logs = join(this.#folder, 'logs', `default_${name}_${uid}`)
    mkdirSync(logs, { recursive: true })
    const sandboxConfig = {
      metadata: { name, uid, namespace: 'default', attempt: 0 },
      hostname: name,
      log_directory: logs,
      labels: podLabels(name, uid),
      annotations: { 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.seen': '2026-01-01T00:00:00Z' },
      linux: { cgroup_parent: `/kubepods/pod${uid}` },
    }
    const { pod_sandbox_id } = await this.#cri.call('RunPodSandbox', { config: sandboxConfig })
    return { uid, name, id: String(pod_sandbox_id), sandboxConfig, logs }
  }

  /** `args` as the test image's /bin/work takes them; at least up to the exit code, so that the mark is one too many. */
  async createContainer(pod: DrivenPod, name: string, args: readonly string[], attempt = 0): Promise<DrivenContainer> {
    const mark = `${this.#folder}/${pod.name}/${name}/${attempt}`
    mkdirSync(join(pod.logs, name), { recursive: true })
    const { container_id } = await this.#cri.call('CreateContainer', {
      pod_sandbox_id: pod.id,
      config: {
        metadata: { name, attempt },
        image,
        args: [...args, mark],
        labels: { ...podLabels(pod.name, pod.uid), 'io.kubernetes.container.name': name },
        annotations: {
          'io.kubernetes.container.hash': '5e1d8a',
          'io.kubernetes.container.restartCount': String(attempt),
          'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
          'io.kubernetes.container.terminationMessagePolicy': 'File',
          'io.kubernetes.pod.terminationGracePeriod': '30',
        },
        log_path: `${name}/${attempt}.log`,
        linux: {},
      },
      sandbox_config: pod.sandboxConfig,
    })
    return { pod, container: name, id: String(container_id), mark }
  }

  async startContainer(container: DrivenContainer): Promise<void> {
    await this.#cri.call('StartContainer', { container_id: container.id })
  }

  async runContainer(pod: DrivenPod, name: string, args: readonly string[], attempt = 0): Promise<DrivenContainer> {
    const container = await this.createContainer(pod, name, args, attempt)
    await this.startContainer(container)
    return container
  }

  async stopContainer(container: DrivenContainer): Promise<void> {
    await this.#cri.call('StopContainer', { container_id: container.id, timeout: 10 })
  }

  async removeContainer(container: DrivenContainer): Promise<void> {
    await this.#cri.call('RemoveContainer', { container_id: container.id })
  }

  async stopPod(pod: DrivenPod): Promise<void> {
    await this.#cri.call('StopPodSandbox', { pod_sandbox_id: pod.id })
  }

  async removePod(pod: DrivenPod): Promise<void> {
    await this.#cri.call('RemovePodSandbox', { pod_sandbox_id: pod.id })
  }
}

function podLabels(name: string, uid: string): Record<string, string> {
  return { 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.uid': uid }
}

/** SIGKILL to a container's process, past the runtime. */
export function killProcess(container: DrivenContainer): void {
  const pid = readdirSync('/proc').find((entry) => {
    if (!/^\d+$/.test(entry)) return false
    const argv = commandLine(entry)
    return argv[0] === '/bin/work' && argv.at(-1) === container.mark
  })
  if (pid === undefined) throw new Error(`no process of container ${container.mark}`)
  process.kill(Number(pid), 'SIGKILL')
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}
