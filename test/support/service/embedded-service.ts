import { join } from 'node:path'
import { createMemoryFolder } from '../servers/local-server.ts'
import { writeMigratedFile } from './migrated-file.ts'
import {
  openIn,
  openTwinsIn,
  type TestPlace,
  type TestService,
  type TestServiceOptions,
  type TwinServices,
} from './test-service.ts'

/** A service on a new database and an empty store, both in a folder that its end removes. */
export async function openEmbedded(options?: TestServiceOptions): Promise<TestService> {
  return openIn(await createPlace(), options)
}

/** Two instances on one database and one store, as the service and a second process beside it would be. */
export async function openEmbeddedTwins(options?: TestServiceOptions): Promise<TwinServices> {
  return openTwinsIn(await createPlace(), options)
}

async function createPlace(): Promise<TestPlace> {
  const folder = await createMemoryFolder('service')
  await writeMigratedFile(join(folder.path, 'database.sqlite'))
  return { environment: { DATA_DIR: folder.path }, remove: () => folder.remove() }
}
