import { connectHot, connectRuntime } from '../../../../src/cri/connect.js'
import { runtimeCompliance } from '../../../support/runtimeCompliance.js'

runtimeCompliance('grpc', (endpoint, options) => connectRuntime(endpoint, { ...options, transport: 'grpc' }))
runtimeCompliance('h2', (endpoint, options) => connectHot(endpoint, { ...options, transport: 'h2' }))
