import type { PodLifecycleEvent } from '../model/event.js'
import type { Logger } from '../model/logger.js'
import type { PodRef } from '../model/pod.js'
import type { ProbeResult, SyncHandler } from './api.js'

/** Does nothing to any pod: what an agent that acts would do is a line at V(4). Every pod of the runtime is known to it. */
export class ReportingHandler implements SyncHandler {
  private readonly logger: Logger

  constructor(logger: Logger) {
    this.logger = logger
  }

  knows(): boolean {
    return true
  }

  onAdditions(pods: readonly PodRef[], source: string): void {
    this.report('add', pods, source)
  }

  onUpdates(pods: readonly PodRef[], source: string): void {
    this.report('update', pods, source)
  }

  onRemoves(pods: readonly PodRef[], source: string): void {
    this.report('remove', pods, source)
  }

  onReconcile(pods: readonly PodRef[], source: string): void {
    this.report('reconcile', pods, source)
  }

  onSyncs(pods: readonly PodRef[]): void {
    this.report('sync', pods, 'runtime')
  }

  onContainerDied({ pod, name, id, exitCode }: PodLifecycleEvent): void {
    this.logger.v(4, 'Observed a container that ended', { pod, container: name, containerID: id, exitCode })
  }

  onProbe({ probe, pod, success }: ProbeResult): void {
    this.logger.v(4, 'Observed a probe', { pod, probe, success })
  }

  duePods(): readonly PodRef[] {
    return []
  }

  sourcesReady(): boolean {
    return true
  }

  async onHousekeeping(): Promise<void> {}

  private report(what: string, pods: readonly PodRef[], source: string): void {
    for (const pod of pods) this.logger.v(4, 'Observing only, left alone', { pod, would: what, source })
  }
}
