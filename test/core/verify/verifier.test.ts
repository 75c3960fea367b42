import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import type { VerifyAdapters } from './fixture.ts'
import { verifyRaceSuite } from './race-suite.ts'
import { verifySuite } from './suite.ts'
import { verifyUploadsSuite } from './uploads-suite.ts'

async function openEmbedded(createStore: (folder: string) => ObjectStore): Promise<VerifyAdapters> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-verify-'))
  const database = await openSqlite({ file: join(folder, 'test.sqlite') })
  await migrate(database)
  const objects = createStore(join(folder, 'objects'))
  await objects.prepare(AbortSignal.timeout(5000))
  const close = async (): Promise<void> => {
    await objects.close()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { database, objects, close }
}

const inMemory = () => openEmbedded(createMemoryStore)
const onFiles = () => openEmbedded((directory) => createFilesystemStore({ directory }))

verifySuite('SQLite and memory', inMemory)
verifySuite('SQLite and files', onFiles)
verifyUploadsSuite('SQLite and memory', inMemory)
verifyUploadsSuite('SQLite and files', onFiles)
verifyRaceSuite('SQLite and memory', { open: inMemory, runs: 25 })
verifyRaceSuite('SQLite and files', { open: onFiles, runs: 5 })
