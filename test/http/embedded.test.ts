import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem.ts'
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../support/test-service.ts'
import { accessSuite } from './access-suite.ts'
import { brokenUploadsSuite } from './broken-uploads-suite.ts'
import { fileNamesSuite } from './file-names-suite.ts'
import { parserErrorsSuite } from './parser-errors-suite.ts'
import { quotaSuite } from './quota-suite.ts'
import { racesSuite } from './races-suite.ts'
import { uploadsSuite } from './uploads-suite.ts'

describe('the service on SQLite and local files', () => {
  uploadsSuite(openEmbedded)
  brokenUploadsSuite(openEmbedded)
  fileNamesSuite(openEmbedded)
  accessSuite(openEmbedded)
  parserErrorsSuite(openEmbedded)
  quotaSuite(openEmbedded)
  racesSuite(async () => [await openEmbedded()])
})

/** A service on a new database and an empty store, both in a folder that its end removes. */
async function openEmbedded(options?: TestServiceOptions): Promise<TestService> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-service-'))
  const database = await openSqlite({ file: join(folder, 'test.db') })
  await migrate(database)
  const objects = createFilesystemStore({ directory: join(folder, 'objects') })
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  return {
    ...service,
    stop: async () => {
      await service.stop()
      await objects.close()
      await database.close()
      await rm(folder, { recursive: true })
    },
  }
}
