import type { PlainMessage } from '../cri/runtime.js'
import type { Random } from './random.js'
import type { ImageRecord } from './records.js'

/** What a pod of the simulated node is before the runtime makes it: what a kubelet would send over CRI. */
export interface PodDraft {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly logDirectory: string
  readonly containers: readonly ContainerDraft[]
}

export interface ContainerDraft {
  readonly name: string
  readonly image: ImageRecord
  readonly userImage: string
  /** The kubelet's hash of the container's spec. */
  readonly hash: string
  /** JSON of the container's ports; '' without ports. */
  readonly ports: string
  readonly mounts: readonly PlainMessage[]
  readonly resources: PlainMessage
}

const namespaces = ['default', 'kube-system', 'payments', 'checkout', 'search', 'ingress', 'batch-jobs', 'monitoring']
const apps = ['api', 'web', 'worker', 'gateway', 'cache', 'indexer', 'scheduler', 'consumer', 'billing', 'frontend']
const sidecars = ['istio-proxy', 'log-agent', 'metrics', 'vault-agent']
const registries = ['registry.example.com/platform', 'quay.io/example', 'ghcr.io/example']
/** Share of pods that carry kubectl's last-applied configuration, and the size of its list of variables, bytes. */
const lastAppliedShare = 0.3
const lastAppliedBytes = 1300

/** The images that the node's pods use. */
export function drawImages(random: Random): ImageRecord[] {
  const names = [...apps, ...sidecars]
  return names.map((name) => {
    const repository = `${random.pick(registries)}/${name}`
    const version = `v${1 + random.below(4)}.${random.below(20)}.${random.below(10)}`
    return {
      id: `sha256:${random.hex(64)}`,
      tags: [`${repository}:${version}`],
      digests: [`${repository}@sha256:${random.hex(64)}`],
      size: 5_000_000 + random.below(200_000_000),
      pinned: false,
      user: null,
    }
  })
}

/** A pod as a Deployment makes it, with the labels and annotations that a kubelet hands to the runtime. */
export function drawPod(random: Random, images: readonly ImageRecord[], containers: number, seen: Date): PodDraft {
  const app = random.pick(apps)
  const namespace = random.pick(namespaces)
  const hash = random.suffix(10)
  const name = `${app}-${hash}-${random.suffix(5)}`
  const uid = random.uuid()
  const labels: Record<string, string> = {
    'app.kubernetes.io/name': app,
    'app.kubernetes.io/instance': `${app}-prod`,
    'pod-template-hash': hash,
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': namespace,
    'io.kubernetes.pod.uid': uid,
  }
  const annotations: Record<string, string> = {
    'kubernetes.io/config.seen': seen.toISOString().replace(/(\.\d+)?Z$/, '.000000000Z'),
    'kubernetes.io/config.source': 'api',
  }
  if (random.fraction() < lastAppliedShare) {
    annotations['kubectl.kubernetes.io/last-applied-configuration'] = lastApplied(app, namespace, name)
  }
  return {
    namespace,
    name,
    uid,
    labels,
    annotations,
    logDirectory: `/var/log/pods/${namespace}_${name}_${uid}`,
    containers: Array.from({ length: containers }, (_, i) => drawContainer(random, images, i, app, uid)),
  }
}

function drawContainer(
  random: Random,
  images: readonly ImageRecord[],
  index: number,
  app: string,
  uid: string,
): ContainerDraft {
  const name = index === 0 ? app : index <= sidecars.length ? sidecars[index - 1]! : `sidecar-${index}`
  const image = random.pick(images)
  const port = 8000 + random.below(2000)
  const memory = [128, 256, 512, 1024][random.below(4)]! * 1024 * 1024
  const kubelet = `/var/lib/kubelet/pods/${uid}`
  return {
    name,
    image,
    userImage: image.tags[0]!,
    hash: random.hex(8),
    ports: index === 0 ? `[{"name":"http","containerPort":${port},"protocol":"TCP"}]` : '',
    mounts: [
      mount('/var/run/secrets/kubernetes.io/serviceaccount', `${kubelet}/volumes/kubernetes.io~projected/token`, true),
      mount('/etc/hosts', `${kubelet}/etc-hosts`, false),
      mount('/dev/termination-log', `${kubelet}/containers/${name}/${random.hex(8)}`, false),
    ],
    resources: {
      cpu_period: '100000',
      cpu_shares: `${102 * (1 + random.below(5))}`,
      memory_limit_in_bytes: `${memory}`,
      oom_score_adj: `${900 + random.below(99)}`,
    },
  }
}

function mount(containerPath: string, hostPath: string, readonly: boolean): PlainMessage {
  return { container_path: containerPath, host_path: hostPath, readonly }
}

/** What a kubelet labels a container with (kubelet v1.37 kuberuntime/labels.go). */
export function containerLabels(pod: { name: string; namespace: string; uid: string }, name: string) {
  return {
    'io.kubernetes.container.name': name,
    'io.kubernetes.pod.name': pod.name,
    'io.kubernetes.pod.namespace': pod.namespace,
    'io.kubernetes.pod.uid': pod.uid,
  }
}

/** What a kubelet annotates a container with (kubelet v1.37 kuberuntime/labels.go). */
export function containerAnnotations(draft: ContainerDraft, attempt: number): Record<string, string> {
  return {
    'io.kubernetes.container.hash': draft.hash,
    ...(draft.ports === '' ? {} : { 'io.kubernetes.container.ports': draft.ports }),
    'io.kubernetes.container.restartCount': `${attempt}`,
    'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
    'io.kubernetes.container.terminationMessagePolicy': 'File',
    'io.kubernetes.pod.terminationGracePeriod': '30',
  }
}

/** As long as such annotations are; what it says doesn't matter to a runtime. */
const lastAppliedFiller = Array.from({ length: 60 }, (_, i) => `{"name":"OPTION_${i}","value":"${i}"}`)
  .join(',')
  .slice(0, lastAppliedBytes)

function lastApplied(app: string, namespace: string, name: string): string {
  const metadata = `{"annotations":{},"labels":{"app.kubernetes.io/name":"${app}"},"name":"${name}","namespace":"${namespace}"}`
  return `{"apiVersion":"v1","kind":"Pod","metadata":${metadata},"spec":{"containers":[{"env":[${lastAppliedFiller}`
}
