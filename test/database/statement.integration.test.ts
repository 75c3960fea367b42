import { callerOf } from '../../src/core/users/caller.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parseFileName } from '../../src/core/files/file-name.ts'
import type { FileOperation } from '../../src/core/files/operation.ts'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { createVersion, type Version } from '../../src/core/objects/object-key.ts'
import type { Database } from '../../src/database/database.ts'
import { createLedger } from '../../src/database/ledger.ts'
import { openPostgres } from '../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../src/database/users/user-store.ts'
import {
  type Account,
  accountOf,
  BASE_CAPACITY,
  digestOf,
  LONG_MS,
} from '../core/ledger/fixture.ts'
import { part, resumablesOf, tailPiece } from '../core/ledger/resumable/fixture.ts'
import type { TestDatabase } from '../support/servers/postgres.ts'
import { createMigratedDatabase } from '../support/service/migrated-database.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('prepared statements of PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  let account: Account
  let run: () => Promise<void>

  beforeAll(async () => {
    own = await createMigratedDatabase()
    // All on one connection, since each has its own.
    database = await openPostgres({ url: own.url, poolSize: 1 })
    const ledger = createLedger(database, { baseCapacity: BASE_CAPACITY })
    const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
    const userId = parseUserId('hot')
    const { user } = await users.createUser(userId)
    account = accountOf({ ledger, users, ...callerOf(user) })
    run = async () => {
      await account.put('a', 1)
      await account.put('a', 2)
      await account.extend(await account.begin('b', 1), 2)
      await account.abort(createVersion())
      await account.change('a', { visibility: 'public' })
      await account.put('c', 1)
      await account.remove('c')
      await ledger.findFile({ userId, name: parseFileName('a'), audience: 'owner' })
      await users.findAccessTokenUser(digestOf(1))
      const uploads = resumablesOf(ledger, account)
      const upload = await uploads.create('r', 9)
      const tailKey = uploads.tailKey()
      await uploads.prepare(upload, { bytes: 9 })
      const { upload: claimed } = await uploads.hold(upload, { tailKey })
      const pieces = [tailPiece(0, { size: 3, key: tailKey })]
      await uploads.record(claimed, { offset: 3, replacedFrom: 0, pieces, holderMs: 1_000 })
      await uploads.record(claimed, { offset: 8, replacedFrom: 0, pieces: [part(0)] })
      await uploads.abort(upload)
    }
    await run()
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  it('are those of an upload and of a download, each once', async () => {
    const before = await preparedOn(database)
    await run()
    expect(await preparedOn(database)).toEqual(before)
    expect(before.length).toBeGreaterThan(12)
    for (const verb of [
      /^\s*SELECT/,
      /^\s*UPDATE quotas/,
      /INSERT INTO uploads/,
      /INSERT INTO files/,
    ]) {
      expect(before.filter(({ statement }) => verb.test(statement))).not.toEqual([])
    }
  })

  it('are kept with plans that stay good when the tables have grown, and are not compiled', async () => {
    await sql`ANALYZE`.execute(database.kysely)
    const plans = await database.kysely.transaction().execute(async (tx) => {
      await sql`SET LOCAL plan_cache_mode = force_generic_plan`.execute(tx)
      const found: string[] = []
      for (const { name, parameters } of await preparedOn(database, tx)) {
        const values = Array.from({ length: parameters }, () => 'NULL').join()
        const call = parameters === 0 ? name : `${name}(${values})`
        const { rows } = await sql.raw(`EXPLAIN EXECUTE ${call}`).execute(tx)
        found.push(JSON.stringify(rows))
      }
      return found
    })
    expect(plans.length).toBeGreaterThan(12)
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan|JIT/)
    // Not every server is built with a compiler, to which whatever has no index would look costly.
    const { rows } = await sql`SHOW jit`.execute(database.kysely)
    expect(rows).toEqual([{ jit: 'off' }])
  })

  it('do not become more with the number of operations of a batch', async () => {
    const options = { baseCapacity: BASE_CAPACITY, historyLifetimeMs: LONG_MS }
    const ledger = createLedger(database, options)
    const batch = async (operations: readonly FileOperation[]) =>
      await ledger.changeFiles({ ...account, operations })
    const deleteAndRestore = async (names: readonly string[]): Promise<void> => {
      const versions: Version[] = []
      for (const name of names) versions.push((await account.put(name, 1)).file.version)
      await batch(names.map((name) => ({ op: 'delete', name: parseFileName(name) })))
      await batch(
        versions.map((version) => ({
          op: 'restore',
          version,
          name: undefined,
          overwrite: false,
        })),
      )
    }
    await deleteAndRestore(['x', 'y', 'z'])
    const before = await preparedOn(database)
    await deleteAndRestore(['k', 'l', 'm', 'n'])
    expect(await preparedOn(database)).toEqual(before)
  })

  it('outlive a migration that adds columns', async () => {
    const before = await preparedOn(database)
    const resumable = ['resumable_uploads', 'upload_pieces']
    const tables = ['users', 'access_tokens', 'quotas', 'files', 'uploads', 'garbage', ...resumable]
    for (const table of tables) {
      await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN added BIGINT`.execute(database.kysely)
    }
    await run()
    expect(await preparedOn(database)).toEqual(before)
  })
})

interface Prepared {
  readonly name: string
  readonly statement: string
  readonly parameters: number
}

/** The statements that the connection keeps. */
async function preparedOn(
  { kysely }: Database,
  connection: Database['kysely'] = kysely,
): Promise<readonly Prepared[]> {
  const { rows } = await sql<Prepared>`
    SELECT name, statement, COALESCE(array_length(parameter_types, 1), 0) AS parameters
    FROM pg_prepared_statements ORDER BY name
  `.execute(connection)
  return rows
}
