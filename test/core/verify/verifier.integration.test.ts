import { describe, inject } from 'vitest'
import { openOnPostgres } from '../rebuild/production.ts'
import { verifySuite } from './suite.ts'

const minio = inject('minio')
const missing = minio === undefined || inject('postgres') === undefined

describe.skipIf(missing)('with real servers', () => {
  verifySuite('PostgreSQL and MinIO', () => openOnPostgres(minio))
})
