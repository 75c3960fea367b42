import { describe, inject } from 'vitest'
import { openTwoOnPostgres } from './production.ts'
import { rebuildSuite } from './suite.ts'

const minio = inject('minio')
const missing = minio === undefined || inject('postgres') === undefined

describe.skipIf(missing)('with real servers', () => {
  rebuildSuite('PostgreSQL and MinIO', () => openTwoOnPostgres(minio))
})
