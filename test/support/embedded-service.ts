import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem.ts'
import { createFolder } from './local-server.ts'
import { startTestService, type TestService, type TestServiceOptions } from './test-service.ts'

/** A service on a new database and an empty store, both in a folder that its end removes. */
export async function openEmbedded(options?: TestServiceOptions): Promise<TestService> {
  const folder = await createFolder('service')
  const service = await openInstance(folder.path, options)
  return withEnd(service, () => folder.remove())
}

/** Two instances on one database and one store, as the service and a second process beside it would be. */
export async function openEmbeddedPair(): Promise<readonly TestService[]> {
  const folder = await createFolder('service')
  const first = await openInstance(folder.path)
  const second = await openInstance(folder.path)
  return [second, withEnd(first, () => folder.remove())]
}

async function openInstance(folder: string, options?: TestServiceOptions): Promise<TestService> {
  const database = await openSqlite({ file: join(folder, 'test.db') })
  await migrate(database)
  const objects = createFilesystemStore({ directory: join(folder, 'objects') })
  await objects.prepare(AbortSignal.timeout(10_000))
  const service = await startTestService({ database, objects }, options)
  return withEnd(service, async () => {
    await objects.close()
    await database.close()
  })
}

function withEnd(service: TestService, end: () => Promise<void>): TestService {
  const stop = async (): Promise<void> => {
    await service.stop()
    await end()
  }
  return { ...service, stop }
}
