import { openTransport } from '../../../../src/cri/connect.js'
import { runtimeCompliance } from '../../../support/runtimeCompliance.js'

for (const name of ['grpc', 'h2'] as const) {
  runtimeCompliance(name, (endpoint, { deadlineMs = 120_000 } = {}) => openTransport(endpoint, name, deadlineMs))
}
