import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { MAX_OPERATIONS } from '../../../src/core/files/operation.ts'
import { callerOf } from '../../../src/core/users/caller.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { countRoundTrips } from '../operations/round-trips.ts'

describe.skipIf(inject('postgres') === undefined)('a folder of a thousand files', () => {
  it('is renamed in one transaction, in as many round trips as its statements need', async () => {
    await using opened = new AsyncDisposableStack()
    const own = await createMigratedDatabase()
    opened.defer(() => own.drop())
    const way = opened.use(await countRoundTrips(own.url))
    const database = await openPostgres({ url: way.url })
    opened.defer(() => database.close())
    const users = createUserStore(database, { baseCapacity: 0 })
    const { user } = await users.createUser(parseUserId(randomUUID()))
    const { userId } = user
    await sql`
      INSERT INTO files (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT ${userId}, 'a/' || n, n, n, 1, 'x', 0, 'private', 1, 1
      FROM generate_series(1, CAST(${MAX_OPERATIONS} AS BIGINT)) AS n
    `.execute(database.kysely)
    await sql`
      UPDATE quotas SET file_count = ${MAX_OPERATIONS}, used_bytes = ${MAX_OPERATIONS}
    `.execute(database.kysely)
    const ledger = createLedger(database, { baseCapacity: 1_000_000 })
    const prefix = parseFileNamePrefix('a/')
    const newPrefix = parseFileNamePrefix('a/b/')
    const rename = { op: 'rename-prefix', prefix, newPrefix, overwrite: false } as const
    way.count()
    const { matched } = await ledger.changeFiles({ ...callerOf(user), operations: [rename] })
    expect(matched).toEqual([MAX_OPERATIONS])
    expect(way.count()).toBeLessThanOrEqual(20)
    const { rows } = await sql<{ readonly written: number }>`
      SELECT COUNT(*) AS written FROM files WHERE name LIKE 'a/b/%' GROUP BY xmin
    `.execute(database.kysely)
    expect(rows).toEqual([{ written: MAX_OPERATIONS }])
  })
})
