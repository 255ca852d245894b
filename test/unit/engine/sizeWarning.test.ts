import { expect, test } from 'vitest'
import { SizeWarning } from '../../../src/engine/sizeWarning.js'
import type { RelistReport } from '../../../src/relist/lister.js'
import { RecordingLogger } from '../../support/recordingLogger.js'

const relist = (pods: number): RelistReport => ({
  generation: 1,
  stamp: 0,
  listSandboxesMs: 1,
  listContainersMs: 1,
  relistMs: 1,
  sandboxes: pods,
  containers: 2 * pods,
  containerStates: [],
  sandboxMode: 'unary',
  containerMode: 'filtered',
  bytes: pods * 2700,
  largestList: pods * 1800,
  largestMessage: 100,
  changed: 0,
  bytesCopied: 0,
  duplicates: 0,
  unidentified: 0,
})

test('warns once per crossing of three quarters, and says at how many pods the limit will be reached', () => {
  const logger = new RecordingLogger()
  const warning = new SizeWarning(1_800_000, logger)
  for (const pods of [700, 750, 751, 800, 1200, 600, 900]) warning.check(relist(pods))
  expect(logger.lines.map(({ severity, fields }) => [severity, fields['sandboxes'], fields['podsAtLimit']])).toEqual([
    ['warn', 751, 1000],
    ['warn', 900, 1000],
  ])
})
