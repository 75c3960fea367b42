import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem.ts'
import { createFolder } from './local-server.ts'
import { startTestService, type TestService, type TestServiceOptions } from './test-service.ts'

/** A service on a new database and an empty store, both in a folder that its end removes. */
export async function openEmbedded(options?: TestServiceOptions): Promise<TestService> {
  const folder = await createFolder('service')
  const database = await openSqlite({ file: join(folder.path, 'test.db') })
  await migrate(database)
  const objects = createFilesystemStore({ directory: join(folder.path, 'objects') })
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  return {
    ...service,
    stop: async () => {
      await service.stop()
      await objects.close()
      await database.close()
      await folder.remove()
    },
  }
}
