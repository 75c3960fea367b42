import { plantedSuite } from './planted-suite.ts'
import { PLANTED_BATCH_BUGS } from './plan/planted-batches.ts'
import { PLANTED_FEED_BUGS } from './plan/planted-changes.ts'
import { PLANTED_HISTORY_BUGS } from './plan/planted-history.ts'
import { PLANTED_RETENTION_BUGS } from './plan/planted-retention.ts'

plantedSuite({
  ...PLANTED_FEED_BUGS,
  ...PLANTED_HISTORY_BUGS,
  ...PLANTED_RETENTION_BUGS,
  ...PLANTED_BATCH_BUGS,
})
