import { join } from 'node:path'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import { openEmbedded } from '../verify/embedded.ts'
import type { RebuildAdapters } from './fixture.ts'
import { rebuildSuite } from './suite.ts'

rebuildSuite('SQLite and files', openTwo)

async function openTwo(): Promise<RebuildAdapters> {
  const lost = await openEmbedded((directory) => createFilesystemStore({ directory }))
  const folder = await createFolder('rebuild')
  const empty = await openSqlite({ file: join(folder.path, 'empty.sqlite') })
  await migrate(empty)
  const close = async (): Promise<void> => {
    await lost.close()
    await empty.close()
    await folder.remove()
  }
  return { ...lost, empty, close }
}
