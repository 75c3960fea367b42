import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { createFolder, firstOf } from '../../support/servers/local-server.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { type PostgresPair, startPostgresPair } from '../../support/servers/postgres-pair.ts'
import { findEmbedded, findInstalled } from '../../support/servers/postgres-program.ts'
import {
  startTestService,
  type TestAdapters,
  type TestService,
} from '../../support/service/test-service.ts'

const programs = await firstOf([findInstalled, findEmbedded])

export const skipped = isSkipped('reasons' in programs ? programs.reasons : undefined)

/** The settings of a session whose commits wait for no standby, as those of a recovery after a crash. */
export const PRIMARY_ALONE = '?options=-c%20synchronous_commit%3Dlocal'

export interface Instance extends AsyncDisposable {
  readonly adapters: TestAdapters
  readonly service: TestService
}

/** A primary with a synchronous standby, on which instances with the same local files can be started. */
export interface PairedInstances {
  readonly pair: PostgresPair
  /** It ends with `opened` if not before. */
  start(settings?: string): Promise<Instance>
}

export async function openPair(
  opened: AsyncDisposableStack,
  options: { readonly timeoutMs: number; readonly leaseMs?: number },
): Promise<PairedInstances> {
  if ('reasons' in programs) throw new Error(programs.reasons)
  const { timeoutMs, leaseMs } = options
  const pair = opened.adopt(await startPostgresPair(programs), (it) => it.stop())
  const folder = opened.adopt(await createFolder('objects'), (it) => it.remove())
  return {
    pair,
    async start(settings = '') {
      const parts = opened.use(new AsyncDisposableStack())
      const opening = openPostgres({ url: `${pair.url}${settings}`, timeoutMs })
      const database = parts.adopt(await opening, (it) => it.close())
      await migrate(database)
      const adapters = { database, objects: createFilesystemStore({ directory: folder.path }) }
      const starting = startTestService(adapters, leaseMs === undefined ? {} : { leaseMs })
      const service = parts.adopt(await starting, (it) => it.stop())
      return { adapters, service, [Symbol.asyncDispose]: () => parts.disposeAsync() }
    },
  }
}
