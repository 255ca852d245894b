import { fileURLToPath } from 'node:url'

/** CRI v1's services; the other files of proto/ are imported from it. */
export const CRI_PROTO = 'runtime/v1/service.proto'

/** How proto-loader is to read and show it: PlainMessage's rules (runtime.ts). */
export const loaderOptions = {
  includeDirs: [fileURLToPath(new URL('../../../proto', import.meta.url))],
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
  oneofs: true,
}
