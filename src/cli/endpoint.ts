import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { messageOf, UsageError } from '../model/errors.js'

const crictlConfigPath = '/etc/crictl.yaml'
export const endpointVariable = 'CONTAINER_RUNTIME_ENDPOINT'

function fromCrictlConfig(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new UsageError(`${path}: ${messageOf(error)}`)
  }
  try {
    const endpoint = (parse(text) as Record<string, unknown> | null)?.['runtime-endpoint']
    return typeof endpoint === 'string' ? endpoint : ''
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error).split('\n')[0]}`)
  }
}

/**
 * The runtime to talk to, in crictl's order: flag, environment, /etc/crictl.yaml.
 * @throws UsageError where none of them names one.
 */
export function resolveEndpoint(
  flag: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
  crictlConfig: string = crictlConfigPath,
): string {
  const endpoint = flag || env[endpointVariable] || fromCrictlConfig(crictlConfig)
  if (endpoint) return endpoint
  throw new UsageError(
    `no runtime endpoint: give --runtime-endpoint (for example unix:///run/containerd/containerd.sock), set ${endpointVariable}, or write runtime-endpoint into ${crictlConfigPath}`,
  )
}
