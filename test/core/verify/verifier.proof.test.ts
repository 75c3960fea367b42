import { describe, inject } from 'vitest'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { openOnPostgres } from '../rebuild/production.ts'
import { openEmbedded } from './embedded.ts'
import { verifyRaceSuite } from './race-suite.ts'
import { verifyUploadsSuite } from './uploads-suite.ts'

const minio = inject('minio')
const missing = minio === undefined || inject('postgres') === undefined

verifyRaceSuite('SQLite and files', {
  open: () => openEmbedded((directory) => createFilesystemStore({ directory })),
  runs: 5,
})

describe.skipIf(missing)('with real servers', () => {
  verifyRaceSuite('PostgreSQL and MinIO', { open: () => openOnPostgres(minio), runs: 3 })
  verifyUploadsSuite('PostgreSQL and MinIO', () => openOnPostgres(minio))
})
