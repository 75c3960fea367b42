import { callerOf } from '../../../src/core/users/caller.ts'
import { createServer, type Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Database } from '../../../src/database/database.ts'
import { MAX_REPEATS } from '../../../src/database/repeats.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import type { Tables } from '../../../src/database/schema.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { accountOf, BASE_CAPACITY, outcomeOf, refusalOf } from '../../core/ledger/fixture.ts'
import { createDatabase, type TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { runSql } from '../../support/run-sql.ts'
import { serverUrl } from './harness.ts'
import { explainHotReads } from './hot-reads.ts'
import {
  explainListings,
  explainRollUps,
  fillWithFiles,
  mostRowsRead,
  openFolder,
} from '../files/list-plans.ts'
import {
  explainTokens,
  explainOverview,
  explainUserLists,
  explainUserSearch,
  fillWithDevices,
  fillWithTokens,
  fillWithUsers,
} from '../users/user-plans.ts'
import { explainAppend } from '../resumable/append-plans.ts'
import {
  explainChanges,
  explainCharged,
  explainSweeps,
  fillWithLeftovers,
} from '../sweep/sweep-plans.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('PostgreSQL', () => {
  let own: TestDatabase
  let database: Database

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  it('reads few of the files of a user to commit, before any statistics of them', async () => {
    const young = await createMigratedDatabase()
    const opened = await openPostgres({ url: young.url })
    const inSteps = await openPostgres({ url: young.url })
    const users = createUserStore(opened, { baseCapacity: BASE_CAPACITY })
    const { user } = await users.createUser(parseUserId('u'))
    // So few that the planner expects two of them, and finds an index of the user as good as one of user and name.
    await sql`
      INSERT INTO files (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT 'u', 'f' || n, 'v' || n, 'k' || n, 0, '', 0, 'private', 0, 0 FROM generate_series(1, 300) AS n
    `.execute(opened.kysely)
    for (const database of [opened, { ...inSteps, runBatch: undefined }]) {
      const ledger = createLedger(database, { baseCapacity: BASE_CAPACITY })
      const account = accountOf({ ledger, users, ...callerOf(user) })
      // The server plans a statement for good in its sixth run.
      for (let at = 0; at < 8; at += 1) await account.put(`f${at}`, 1)
    }
    // A connection tells what it has read when it ends.
    await Promise.all([opened.close(), inSteps.close()])
    const [files] = await runSql<{ readonly read: string }>(
      young.url,
      `SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'files'`,
    )
    await young.drop()
    expect(Number(files?.read)).toBeLessThan(300)
  })

  it.each(['40001', '40P01'])('F05 repeats a transaction that failed with %s', async (state) => {
    let attempts = 0
    const answer = await database.transaction(async (db) => {
      attempts++
      await sql`INSERT INTO garbage (object_key, not_before) VALUES (${state}, 1)`.execute(db)
      if (attempts < 3) await raise(db, state)
      return attempts
    })
    expect(answer).toBe(3)
    const { rows } = await sql`SELECT 1 FROM garbage WHERE object_key = ${state}`.execute(
      database.kysely,
    )
    expect(rows).toHaveLength(1)
  })

  it('F05 gives up after the last repeat', async () => {
    let attempts = 0
    const refusal = await refusalOf(
      database.transaction(async (db) => {
        attempts++
        await raise(db, '40001')
      }),
    )
    expect(attempts).toBe(1 + MAX_REPEATS)
    expect(refusal).toMatchObject({ code: 'unavailable', cause: { code: '40001' } })
  })

  it('F05 survives a real deadlock', async () => {
    await sql`INSERT INTO garbage (object_key, not_before) VALUES ('d1', 1), ('d2', 1)`.execute(
      database.kysely,
    )
    const move = (first: string, second: string): Promise<void> =>
      database.transaction(async (db) => {
        for (const key of [first, second]) {
          await sql`UPDATE garbage SET not_before = not_before + 1 WHERE object_key = ${key}`.execute(
            db,
          )
          await setTimeout(100)
        }
      })
    await Promise.all([move('d1', 'd2'), move('d2', 'd1')])
    const { rows } = await sql`
      SELECT not_before FROM garbage WHERE object_key IN ('d1', 'd2')
    `.execute(database.kysely)
    expect(rows).toEqual([{ not_before: 3 }, { not_before: 3 }])
  })

  it.each([
    ['off', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('F07 commits with synchronous_commit = %s as with %s', async (set, used) => {
    const fresh = await createDatabase(serverUrl())
    await runSql(fresh.url, `ALTER DATABASE ${fresh.name} SET synchronous_commit = ${set}`)
    const opened = await openPostgres({ url: fresh.url })
    const show = () =>
      opened.transaction(async (db) => {
        const shown = sql<{ synchronous_commit: string }>`SHOW synchronous_commit`
        return (await shown.execute(db)).rows[0]?.synchronous_commit
      })
    expect(await Promise.all(Array.from({ length: 5 }, show))).toEqual(Array(5).fill(used))
    await opened.close()
    await fresh.drop()
  })

  it('lets others run while a user pauses after a long transaction', async () => {
    // With one lane for transactions.
    const small = await openPostgres({ url: own.url, poolSize: 3 })
    const order: string[] = []
    const run = (user: string, seconds: number) =>
      small.transaction(async (tx) => {
        order.push(user)
        await sql`SELECT pg_sleep(${seconds})`.execute(tx)
      }, user)
    await run('bob', 0)
    await run('ann', 0.2)
    await Promise.all([run('ann', 0), run('bob', 0)])
    expect(order).toEqual(['bob', 'ann', 'bob', 'ann'])
    await small.close()
  })

  it('does not call a violated constraint an outage', async () => {
    const insert = database.query((db) =>
      sql`INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count)
          VALUES ('nobody', 0, -1, 0)`.execute(db),
    )
    await expect(insert).rejects.toMatchObject({ code: '23514' })
  })

  it('reads BIGINT as a number, and leaves other pools alone', async () => {
    const { rows } = await sql`SELECT CAST(9007199254740991 AS BIGINT) AS n`.execute(
      database.kysely,
    )
    expect(rows).toEqual([{ n: Number.MAX_SAFE_INTEGER }])
    const client = new Client({ connectionString: own.url })
    await client.connect()
    const other = await client.query('SELECT CAST(7 AS BIGINT) AS n')
    await client.end()
    expect(other.rows).toEqual([{ n: '7' }])
  })

  it('F02 answers unavailable while connections are cut, and works again after', async () => {
    const cut = await outcomeOf(
      database.transaction(async (db) => {
        await sql`SELECT 1`.execute(db)
        await killConnections(own.name)
        await sql`SELECT 1`.execute(db)
      }),
    )
    expect(cut).toBe('unavailable')
    await database.kysely.connection().execute(() => killConnections(own.name))
    expect(
      await createUserStore(database, { baseCapacity: BASE_CAPACITY }).findUser(parseUserId('a')),
    ).toBeUndefined()
  })

  it('F02 answers unavailable without a server, without the database, and without an answer', async () => {
    const silent = await listenSilently()
    const gone = new URL(serverUrl())
    gone.pathname = '/no_such_database'
    for (const url of ['postgres://postgres@127.0.0.1:1/x', gone.href, silent.url]) {
      const database = await openPostgres({ url, timeoutMs: 500 })
      const started = performance.now()
      expect(
        await outcomeOf(
          createUserStore(database, { baseCapacity: BASE_CAPACITY }).findUser(parseUserId('a')),
        ),
      ).toBe('unavailable')
      expect(performance.now() - started).toBeLessThan(2_000)
      expect(await outcomeOf(migrate(database))).toBe('unavailable')
      await database.close()
    }
    silent.server.close()
  })

  it.each(['25006', '57P01', '57P03', '53300', '0A000'])(
    'F06 answers unavailable to %s, repeats nothing and leaves the connection',
    async (state) => {
      const single = await openPostgres({ url: own.url, poolSize: 1 })
      const before = await sessionOf(single)
      let attempts = 0
      const refusal = await refusalOf(
        single.transaction(async (db) => {
          attempts++
          await raise(db, state)
        }),
      )
      expect(refusal).toMatchObject({ code: 'unavailable', cause: { code: state } })
      expect(attempts).toBe(1)
      expect(await sessionOf(single)).not.toBe(before)
      await single.close()
    },
  )

  it('keeps the connection of a transaction that was refused or is repeated', async () => {
    const single = await openPostgres({ url: own.url, poolSize: 1 })
    const before = await sessionOf(single)
    await outcomeOf(single.transaction((db) => raise(db, '40001')))
    expect(await sessionOf(single)).toBe(before)
    await single.close()
  })

  it('F06 serves nothing, not even reads, on a session that is read-only', async () => {
    await runSql(own.url, `ALTER DATABASE ${own.name} SET default_transaction_read_only = on`)
    const other = await openPostgres({ url: own.url })
    expect(
      await outcomeOf(
        createUserStore(other, { baseCapacity: BASE_CAPACITY }).findUser(parseUserId('a')),
      ),
    ).toBe('unavailable')
    await runSql(serverUrl(), `ALTER DATABASE ${own.name} RESET default_transaction_read_only`)
    expect(
      await createUserStore(other, { baseCapacity: BASE_CAPACITY }).findUser(parseUserId('a')),
    ).toBeUndefined()
    await other.close()
  })

  it('waits neither for a lock nor for a statement for ever, and keeps no hung connection', async () => {
    const impatient = await openPostgres({ url: own.url, poolSize: 1, timeoutMs: 2_000 })
    const users = createUserStore(impatient, { baseCapacity: BASE_CAPACITY })
    const userId = parseUserId('locked')
    const { user } = await users.createUser(userId)
    const ledger = createLedger(impatient, { baseCapacity: BASE_CAPACITY })
    const account = accountOf({ ledger, users, ...callerOf(user) })
    await database.transaction(async (db) => {
      await sql`SELECT 1 FROM quotas WHERE user_id = ${userId} FOR UPDATE`.execute(db)
      expect(await outcomeOf(account.begin('a', 1))).toBe('unavailable')
    })
    await account.put('a', 1)
    const slow = impatient.query((db) => sql`SELECT pg_sleep(60)`.execute(db))
    expect(await outcomeOf(slow)).toBe('unavailable')
    expect(await account.size('a')).toBe(1)
    await impatient.close()
  })

  it('makes a change of grants wait for the commit under way, and a commit for the change', async () => {
    const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
    const userId = parseUserId('granted')
    await users.createUser(userId)
    const order: string[] = []
    let put: Promise<unknown> = Promise.resolve()
    await database.transaction(async (db) => {
      await sql`SELECT 1 FROM quotas WHERE user_id = ${userId} FOR UPDATE`.execute(db)
      const grant = { userId, source: 'promotion', reference: 'r', bytes: 1, model: undefined }
      put = users
        .putGrant({ ...grant, startsAt: undefined, endsAt: undefined })
        .then(() => order.push('grant'))
      await setTimeout(100)
      order.push('commit')
    })
    await put
    expect(order).toEqual(['commit', 'grant'])
  })

  it('lets no user hold up the others, however many changes of one wait for its row', async () => {
    const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
    const ledger = createLedger(database, { baseCapacity: BASE_CAPACITY })
    const making = ['turns-crowd', 'turns-ann'].map((id) => users.createUser(parseUserId(id)))
    const [crowd, ann] = (await Promise.all(making)).map(({ user }) =>
      accountOf({ ledger, users, ...callerOf(user) }),
    )
    let begun: readonly unknown[] = []
    await database.transaction(async (db) => {
      await sql`SELECT 1 FROM quotas WHERE user_id = 'turns-crowd' FOR UPDATE`.execute(db)
      begun = Array.from({ length: 30 }, (_, at) => crowd?.begin(`${at}`, 1))
      await setTimeout(100)
      // Rejects when it takes longer than a lock may.
      await ann?.begin('a', 1)
    })
    expect(await Promise.all(begun)).toHaveLength(30)
  })

  it('migrates once, whoever comes first', async () => {
    const fresh = await createDatabase(serverUrl())
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => openPostgres({ url: fresh.url })),
    )
    const ran = await Promise.all(opened.map(migrate))
    expect(ran.filter((names) => names.length > 0)).toHaveLength(1)
    expect(await Promise.all(opened.map(migrate))).toEqual([[], [], [], [], []])
    await Promise.all(opened.map((each) => each.close()))
    await fresh.drop()
  })

  it('reads what every request reads through an index', async () => {
    // A table of few rows is read whole unless the planner is told otherwise.
    await runSql(own.url, `ALTER DATABASE ${own.name} SET enable_seqscan = off`)
    const planned = await openPostgres({ url: own.url })
    const plans = await explainHotReads(planned, 'EXPLAIN')
    await planned.close()
    expect(plans.length).toBeGreaterThan(5)
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan/)
  })

  it('compiles no statement of a request, and leaves the planner as it was after a listing', async () => {
    const plans = await explainHotReads(database, 'EXPLAIN')
    for (const plan of plans) expect(plan).not.toMatch(/JIT/)
    const listing = { audience: 'owner', prefix: parseFileNamePrefix(''), order: 'name' } as const
    const userId = parseUserId('hot')
    const page = { ...listing, userId, after: undefined, limit: 10, maxScanned: 2000 }
    const { files } = await createLedger(database, { baseCapacity: 0 }).listFiles(page)
    expect(files).toEqual([])
    const settings = Array.from({ length: 10 }, () =>
      sql<{ enable_sort: string }>`SHOW enable_sort`.execute(database.kysely),
    )
    for (const { rows } of await Promise.all(settings))
      expect(rows).toEqual([{ enable_sort: 'on' }])
  })

  it('has the server notice within a minute that the machine of a session is gone', async () => {
    const settings = sql<{ readonly name: string; readonly setting: string }>`
      SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp\\_%' ORDER BY name
    `
    const seconds = async (kysely: Database['kysely']): Promise<readonly string[]> =>
      (await settings.execute(kysely)).rows.map(({ name, setting }) => `${name} ${setting}`)
    const expected = [
      'tcp_keepalives_count 3',
      'tcp_keepalives_idle 30',
      'tcp_keepalives_interval 10',
      'tcp_user_timeout 60000',
    ]
    expect(await seconds(database.kysely)).toEqual(expected)
    expect(await database.migrateAlone?.(seconds)).toEqual(expected)
  })

  it('reads each listing from the index of its order, and sorts nothing, whatever the statistics say', async () => {
    const fresh = await createMigratedDatabase()
    const listed = await openPostgres({ url: fresh.url })
    const expectIndexes = async (): Promise<void> => {
      for (const { listing, index, plan } of await explainListings(listed, 'EXPLAIN')) {
        expect(`${listing}: ${plan}`).toMatch(index)
        expect(`${listing}: ${plan}`).not.toMatch(/Sort|Seq Scan on files|Bitmap/)
      }
    }
    await sql`ALTER TABLE files SET (autovacuum_enabled = off)`.execute(listed.kysely)
    await sql`ANALYZE`.execute(listed.kysely)
    await fillWithFiles(listed)
    await expectIndexes()
    await sql`ANALYZE`.execute(listed.kysely)
    await expectIndexes()
    for (const { listing, index, plan } of await explainRollUps(listed, 'EXPLAIN')) {
      expect(`${listing}: ${plan}`).toMatch(index)
      expect(`${listing}: ${plan}`).not.toMatch(/Seq Scan on files/)
    }
    // 10,000 in all, of which 200 are public.
    expect(await mostRowsRead(listed, 100)).toBe(100)
    const prefixes = Array.from({ length: 7 }, (_, at) => `x/${at}/`)
    // One search for each, and one that finds no more.
    expect(await openFolder(listed, 'x/')).toEqual({ prefixes, rows: 8 })
    expect(await openFolder(listed, '')).toEqual({ prefixes: ['x/'], rows: 1 })
    const counted = await openFolder(listed, 'x/', { countsFolders: true })
    expect(counted).toEqual({ prefixes, rows: 8 + 7 * 1_001 })
    // Eleven files and the next one, each with its row.
    expect(await openFolder(listed, 'x/6/')).toEqual({ prefixes: [], rows: 24 })
    await listed.close()
    await fresh.drop()
  })

  it('finds a file by its name and reads no other file of the user, whatever the statistics say', async () => {
    const fresh = await createMigratedDatabase()
    const filled = await openPostgres({ url: fresh.url })
    await sql`ALTER TABLE files SET (autovacuum_enabled = off)`.execute(filled.kysely)
    const expectOneFile = async (): Promise<void> => {
      for (const plan of await explainHotReads(filled, 'EXPLAIN')) {
        expect(plan).not.toMatch(/(on|using) files_listed_/)
      }
    }
    await expectOneFile()
    // Every user seems to have one file, so any index that begins with the user seems to find as few.
    await sql`
      INSERT INTO users (id, status, created_at)
      SELECT 'user-' || n, 'active', 1 FROM generate_series(1, 1000) AS n
    `.execute(filled.kysely)
    await sql`
      INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count)
      SELECT id, 1, 0, 1 FROM users WHERE id LIKE 'user-%'
    `.execute(filled.kysely)
    await sql`
      INSERT INTO files
        (user_id, name, version, object_key, size, sha256, crc32, visibility, created_at, updated_at)
      SELECT id, 'a', id, id, 1, 'sha256', 0, 'private', 1, 1 FROM users WHERE id LIKE 'user-%'
    `.execute(filled.kysely)
    await sql`ANALYZE`.execute(filled.kysely)
    await expectOneFile()
    await filled.close()
    await fresh.drop()
  })

  it('reads a page of users from the index of their ids and no more, whatever the statistics say', async () => {
    const fresh = await createMigratedDatabase()
    const listed = await openPostgres({ url: fresh.url })
    const expectIndexes = async (): Promise<void> => {
      for (const { listing, entry, plan } of await explainUserLists(listed, 'EXPLAIN')) {
        expect(`${listing}: ${plan}`).toMatch(entry)
        expect(`${listing}: ${plan}`).toMatch(/quotas_pkey[^]*?Cond: \(user_id = page.id\)/)
        expect(`${listing}: ${plan}`).not.toMatch(/Seq Scan on (users|quotas)|Bitmap/)
      }
      const measured = await explainOverview(listed, 'EXPLAIN')
      expect(measured).toHaveLength(4)
      for (const plan of measured) expect(plan).not.toMatch(/Seq Scan on (users|quotas)/)
    }
    for (const table of [sql`users`, sql`quotas`]) {
      await sql`ALTER TABLE ${table} SET (autovacuum_enabled = off)`.execute(listed.kysely)
    }
    await sql`ANALYZE`.execute(listed.kysely)
    await fillWithUsers(listed)
    await expectIndexes()
    await sql`ANALYZE`.execute(listed.kysely)
    await expectIndexes()
    await fillWithTokens(listed)
    await sql`ANALYZE`.execute(listed.kysely)
    await fillWithDevices(listed)
    for (const isAnalyzed of [false, true]) {
      if (isAnalyzed) await sql`ANALYZE`.execute(listed.kysely)
      for (const plan of await explainUserSearch(listed, 'EXPLAIN')) {
        expect(plan).toMatch(/(users_pkey|grants_of_devices)[^]*?Cond:/)
        expect(plan).not.toMatch(/Seq Scan|Bitmap|Sort/)
      }
    }
    const [page, ended] = await explainTokens(listed, 'EXPLAIN')
    expect(page).toMatch(/access_tokens_by_creation/)
    expect(ended).toMatch(/access_tokens_by_end/)
    for (const plan of [page, ended]) expect(plan).not.toMatch(/Seq Scan|Sort/)
    await listed.close()
    await fresh.drop()
  })

  it('records an append at the same cost however many parts there are', async () => {
    const [few, many] = [
      await explainAppend(database, { parts: 3, explain: 'EXPLAIN' }),
      await explainAppend(database, { parts: 3_000, explain: 'EXPLAIN' }),
    ]
    expect(many.statements).toBe(few.statements)
    expect(many.plans.length).toBeGreaterThan(4)
    for (const plan of many.plans) {
      expect(plan).not.toMatch(/Seq Scan|Bitmap/)
      // Of the pieces the tail alone, or those from a byte on.
      expect(plan).not.toMatch(/upload_pieces_pkey[^]*?Index Cond: \(\(?version = [^)]*\)(?! AND)/)
    }
  })

  it('reads what is due from the index of its order, and sorts nothing', async () => {
    const fresh = await createMigratedDatabase()
    const swept = await openPostgres({ url: fresh.url })
    await fillWithLeftovers(swept)
    await sql`ANALYZE`.execute(swept.kysely)
    for (const { index, plan } of await explainSweeps(swept, 'EXPLAIN')) {
      expect(plan).toMatch(index)
      expect(plan).not.toMatch(/Sort|Seq Scan on (uploads|garbage|changes)|Bitmap/)
    }
    const page = /Limit[^\n]*\n[^\n]*Index Scan using changes_pkey/
    expect(await explainChanges(swept, 'EXPLAIN')).toMatch(page)
    const charged = await explainCharged(swept, 'EXPLAIN')
    expect(charged).toMatch(/history_charged_by_end[^]*history_by_charged/)
    expect(charged).not.toMatch(/Sort|Seq Scan|Bitmap/)
    await swept.close()
    await fresh.drop()
  })
})

async function raise(db: Kysely<Tables>, state: string): Promise<void> {
  const block = `DO $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '${state}'; END $$`
  await sql.raw(block).execute(db)
}

/** The server's process for the only connection of a pool. */
async function sessionOf({ kysely }: Database): Promise<number | undefined> {
  const { rows } = await sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`.execute(
    kysely,
  )
  return rows[0]?.pid
}

async function killConnections(name: string): Promise<void> {
  const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`
  await runSql(serverUrl(), kill)
  await setTimeout(50)
}

/** Takes connections and says nothing. */
async function listenSilently(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((socket) => socket.unref().on('error', () => {}))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `postgres://postgres@127.0.0.1:${port}/x`, server }
}
