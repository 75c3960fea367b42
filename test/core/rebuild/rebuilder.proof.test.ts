import { describe, inject } from 'vitest'
import { openTwoOnPostgres } from './production.ts'
import { rebuildSuite } from './suite.ts'

const postgres = inject('postgres')
const minio = inject('minio')
const versitygw = inject('versitygw')

describe.skipIf(minio === undefined || postgres === undefined)('with MinIO', () => {
  rebuildSuite('PostgreSQL and MinIO', () => openTwoOnPostgres(minio))
})

describe.skipIf(versitygw === undefined || postgres === undefined)('with versitygw', () => {
  rebuildSuite('PostgreSQL and versitygw', () => openTwoOnPostgres(versitygw))
})
