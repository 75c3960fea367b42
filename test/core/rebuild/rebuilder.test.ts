import { join } from 'node:path'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'
import { openEmbedded } from '../verify/embedded.ts'
import type { RebuildAdapters } from './fixture.ts'
import { rebuildSuite } from './suite.ts'

rebuildSuite('SQLite and files', openTwo)

async function openTwo(): Promise<RebuildAdapters> {
  const lost = await openEmbedded((directory) => createFilesystemStore({ directory }))
  const folder = await createFolder('rebuild')
  const empty = await openMigrated({ file: join(folder.path, 'empty.sqlite') })
  const close = async (): Promise<void> => {
    await lost.close()
    await empty.close()
    await folder.remove()
  }
  return { ...lost, empty, close }
}
