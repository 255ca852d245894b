import { connectHot } from '../cri/connect.js'
import type { HotRuntime } from '../cri/runtime.js'
import { reachableEndpoint } from './runtimeOptions.js'

interface RuntimeFlags {
  readonly runtimeEndpoint?: string | undefined
  readonly transport?: 'h2' | 'grpc' | undefined
  readonly runtimeRequestTimeout?: number | undefined
}

/** Connects, runs, and closes whatever happens. @throws UsageError, EndpointError, CriError */
export async function withRuntime<Result>(
  flags: RuntimeFlags,
  run: (runtime: HotRuntime) => Promise<Result>,
): Promise<Result> {
  const runtime = await connectHot(await reachableEndpoint(flags), {
    transport: flags.transport,
    ...(flags.runtimeRequestTimeout === undefined ? {} : { deadlineMs: flags.runtimeRequestTimeout }),
  })
  try {
    return await run(runtime)
  } finally {
    await runtime.close()
  }
}
