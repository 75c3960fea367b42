import { join } from 'node:path'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { createFolder } from '../../support/servers/local-server.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'
import type { VerifyAdapters } from './fixture.ts'

/** A new SQLite database and a store, both in a folder that their end removes. */
export async function openEmbedded(
  createStore: (folder: string) => ObjectStore,
): Promise<VerifyAdapters> {
  const folder = await createFolder('verify')
  const database = await openMigrated({ file: join(folder.path, 'test.sqlite') })
  const objects = createStore(join(folder.path, 'objects'))
  await objects.prepare(AbortSignal.timeout(5000))
  const close = async (): Promise<void> => {
    await objects.close()
    await database.close()
    await folder.remove()
  }
  return { database, objects, close }
}
