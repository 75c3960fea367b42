import { join } from 'node:path'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import type { RebuildAdapters } from './fixture.ts'
import { rebuildSuite } from './suite.ts'

rebuildSuite('SQLite and memory', () => openEmbedded(() => createMemoryStore()))
rebuildSuite('SQLite and files', () =>
  openEmbedded((folder) => createFilesystemStore({ directory: folder })),
)

async function openEmbedded(
  createStore: (folder: string) => ObjectStore,
): Promise<RebuildAdapters> {
  const folder = await createFolder('rebuild')
  const objects = createStore(join(folder.path, 'objects'))
  await objects.prepare(AbortSignal.timeout(5000))
  const database = await openMigrated(join(folder.path, 'lost.sqlite'))
  const empty = await openMigrated(join(folder.path, 'empty.sqlite'))
  const close = async (): Promise<void> => {
    await objects.close()
    await database.close()
    await empty.close()
    await folder.remove()
  }
  return { database, empty, objects, close }
}

async function openMigrated(file: string): Promise<Database> {
  const database = await openSqlite({ file })
  await migrate(database)
  return database
}
