import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem/store.ts'
import { createMemoryFolder } from './local-server.ts'
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
  type TwinServices,
  withEnd,
} from './test-service.ts'

/** A service on a new database and an empty store, both in a folder that its end removes. */
export async function openEmbedded(options?: TestServiceOptions): Promise<TestService> {
  const folder = await createMemoryFolder('service')
  return withEnd(await startInstance(folder.path, options), () => folder.remove())
}

/** Two instances on one database and one store, as the service and a second process beside it would be. */
export async function openEmbeddedTwins(options?: TestServiceOptions): Promise<TwinServices> {
  const folder = await createMemoryFolder('service')
  const first = await startInstance(folder.path, options)
  const second = await startInstance(folder.path, options)
  return [second, withEnd(first, () => folder.remove())]
}

async function startInstance(folder: string, options?: TestServiceOptions): Promise<TestService> {
  const file = join(folder, 'test.db')
  const database = await openSqlite({ file })
  await migrate(database)
  const objects = createFilesystemStore({ directory: join(folder, 'objects') })
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects, writerFile: file }, options)
  return withEnd(service, async () => {
    await objects.close()
    await database.close()
  })
}
