/**
 * plegd as a library: the engine, the relister without threads, and the simulated runtime.
 *
 * @packageDocumentation
 */
export type { ConnectOptions } from './cri/connect.js'
export { connectRuntime } from './cri/connect.js'
export { CriError, EndpointError, isNotFound } from './cri/errors.js'
export type { HotRuntime, ItemSink, ListFilter, ListReport, Runtime } from './cri/runtime.js'
export type { CachedPod, Engine, EngineOptions, EngineStats, PodCache, RelistReport } from './engine/api.js'
export { createEngine } from './engine/engine.js'
export { createRelister, type Relister, type RelisterOptions } from './engine/relister.js'
export { type Clock, systemClock } from './model/clock.js'
export { PlegdError, UsageError } from './model/errors.js'
export type { PodLifecycleEvent, PodLifecycleEventType } from './model/event.js'
export type { DegradedPod, Health, InflightCall, Verdict } from './model/health.js'
export { type Logger, silentLogger } from './model/logger.js'
export type { ContainerStatus, ListedItem, PodRef, PodStatus, SandboxStatus } from './model/pod.js'
export { type EmbeddedSim, startEmbeddedSim } from './sim/embedded.js'
export { serveSimulatedRuntime } from './sim/server/serve.js'
export { SimulatedRuntime, type SimulationOptions } from './sim/simulatedRuntime.js'
export { VirtualClock } from './sim/virtualClock.js'
