import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { openSqlite } from '../../src/database/sqlite.ts'
import { createFilesystemStore } from '../../src/object-store/filesystem.ts'
import { createFolder } from './local-server.ts'
import { startTestService, type TestService, type TestServiceOptions } from './test-service.ts'

/** Two instances of a service, each with a connection of its own to one new database. */
export async function openEmbeddedTwins(
  options?: TestServiceOptions,
): Promise<readonly [TestService, TestService]> {
  const folder = await createFolder('service')
  const file = join(folder.path, 'test.db')
  const objects = createFilesystemStore({ directory: join(folder.path, 'objects') })
  await objects.prepare(AbortSignal.timeout(10_000))
  async function start(): Promise<TestService> {
    const database = await openSqlite({ file })
    await migrate(database)
    const service = await startTestService({ database, objects }, options)
    const stop = async (): Promise<void> => {
      await service.stop()
      await database.close()
    }
    return { ...service, stop }
  }
  const [first, second] = [await start(), await start()]
  const stop = async (): Promise<void> => {
    await second.stop()
    await objects.close()
    await folder.remove()
  }
  return [first, { ...second, stop }]
}

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
