import { callerOf } from '../../../src/core/users/caller.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger, type Ledger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { type Account, accountOf, BASE_CAPACITY, outcomeOf } from '../../core/ledger/fixture.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { countRoundTrips } from './round-trips.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('uploads that go to PostgreSQL together', () => {
  let own: TestDatabase
  let database: Database
  let ledger: Ledger
  let account: Account

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
  })
  beforeEach(async () => {
    ledger = createLedger(database, { baseCapacity: BASE_CAPACITY })
    account = await newAccount()
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  const newAccount = async (): Promise<Account> => {
    const users = createUserStore(database, { baseCapacity: BASE_CAPACITY })
    const userId = parseUserId(crypto.randomUUID())
    const { user } = await users.createUser(userId)
    return accountOf({ ledger, users, ...callerOf(user) })
  }

  /** Has somebody else hold the user's row while that is done. */
  const whileHeld = <T>({ userId }: Account, work: (end: () => Promise<void>) => Promise<T>) =>
    database.kysely.connection().execute(async (held) => {
      await sql`BEGIN`.execute(held)
      await sql`SELECT 1 FROM quotas WHERE user_id = ${userId} FOR UPDATE`.execute(held)
      const end = async (): Promise<void> => void (await sql`ROLLBACK`.execute(held))
      return await work(end)
    })

  /** The transactions that wrote the user's rows of a table, with how many each wrote. */
  const transactions = async (table: 'files' | 'uploads' | 'history'): Promise<number[]> => {
    const { rows } = await sql<{ readonly written: number }>`
      SELECT COUNT(*) AS written FROM ${sql.table(table)}
      WHERE user_id = ${account.userId} GROUP BY xmin ORDER BY written
    `.execute(database.kysely)
    return rows.map(({ written }) => written)
  }
  const names = Array.from({ length: 20 }, (_, index) => `file-${index}`)

  it('share a transaction with all that ask at the same time', async () => {
    const versions = await Promise.all(names.map((name) => account.begin(name, 1)))
    expect(await transactions('uploads')).toEqual([20])
    await Promise.all(versions.map((version) => account.commit(version, 1)))
    expect(await transactions('files')).toEqual([20])
    expect(await account.usage()).toMatchObject({ used: 20, reserved: 0, fileCount: 20 })
  })

  it('see what those before them did, and are refused alone', async () => {
    const outcomes = await Promise.all(names.map((name) => outcomeOf(account.begin(name, 30))))
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(3)
    expect(outcomes.filter((outcome) => outcome === 'capacity_exceeded')).toHaveLength(17)
    expect(await account.usage()).toMatchObject({ used: 0, reserved: 90 })
    expect(await transactions('uploads')).toEqual([3])
  })

  it('replace one another under one name, each the one before it', async () => {
    const versions = await Promise.all(names.map(() => account.begin('a', 1)))
    const commits = await Promise.all(versions.map((version) => account.commit(version, 1)))
    expect(commits.map(({ replaced }) => replaced)).toEqual(names.map((_, index) => index > 0))
    expect(commits.map(({ usage }) => usage.reserved)).toEqual(names.map((_, index) => 19 - index))
    expect(await account.usage()).toMatchObject({ used: 1, reserved: 0, fileCount: 1 })
    const { rows } = await sql`
      SELECT object_key FROM garbage WHERE object_key LIKE ${`users/${account.userId}/%`}
    `.execute(database.kysely)
    expect(rows).toHaveLength(19)
  })

  it('keep what they replace in the same transaction, where there is a history', async () => {
    const history = { historyLifetimeMs: 60_000, historyShare: 50 }
    ledger = createLedger(database, { baseCapacity: BASE_CAPACITY, ...history })
    account = await newAccount()
    const versions = await Promise.all(names.map(() => account.begin('a', 1)))
    const commits = await Promise.all(versions.map((version, at) => account.commit(version, at)))
    expect(await transactions('history')).toEqual([19])
    const replaced = commits.slice(0, -1).map(({ file: { version } }) => ({ version }))
    expect((await account.past()).toSorted((a, b) => a.size - b.size)).toMatchObject(replaced)
    const excess = 19 * 4096 + 171 - BASE_CAPACITY / 2
    const { rows } = await sql`
      SELECT history_bytes, history_count, history_excess FROM quotas
      WHERE user_id = ${account.userId}
    `.execute(database.kysely)
    const figures = { history_bytes: 19 * 4096 + 171, history_count: 19, history_excess: excess }
    expect(rows).toEqual([figures])
  })

  it('go on one by one when a statement of one of them fails', async () => {
    const version = createVersion()
    const results = await Promise.allSettled(
      names.map((name, index) =>
        account.begin(name, 1, index === 7 || index === 9 ? { version } : {}),
      ),
    )
    const failed = results.filter(({ status }) => status === 'rejected')
    expect(failed).toMatchObject([{ reason: { code: '23505' } }])
    expect(await account.usage()).toMatchObject({ reserved: 19 })
    expect(await transactions('uploads')).toEqual(names.slice(1).map(() => 1))
  })

  it.each(['54000', '40001', 'P0001'])(
    'go on one by one when one of them fails with %s',
    async (state) => {
      const { userId } = account
      await sql
        .raw(
          `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION USING ERRCODE = '${state}'; END $$;
          CREATE TRIGGER refuse BEFORE INSERT ON uploads FOR EACH ROW
            WHEN (NEW.name = 'file-7' AND NEW.user_id = '${userId}') EXECUTE FUNCTION refuse()`,
        )
        .execute(database.kysely)
      try {
        const outcomes = await Promise.all(names.map((name) => outcomeOf(account.begin(name, 1))))
        expect(outcomes).toEqual(names.map((name) => (name === 'file-7' ? 'unavailable' : 'ok')))
      } finally {
        await sql.raw('DROP FUNCTION refuse CASCADE').execute(database.kysely)
      }
    },
  )

  it('are not sent where there is no row to lock', async () => {
    const put = sql`INSERT INTO garbage (object_key, not_before) VALUES ('unlocked', 1)`
    const lock = sql`SELECT user_id FROM quotas WHERE user_id = 'nobody' FOR UPDATE`
    const answers = await database.runBatch?.({
      lock: lock.compile(database.kysely),
      take: () => [put.compile(database.kysely)],
    })
    expect(answers).toBeUndefined()
    const { rows } = await sql`SELECT 1 FROM garbage WHERE object_key = 'unlocked'`.execute(
      database.kysely,
    )
    expect(rows).toEqual([])
  })

  it('are not sent, none of them, when the driver could not send one', async () => {
    const put = (key: unknown) =>
      sql`INSERT INTO garbage (object_key, not_before) VALUES (${key}, 1)`.compile(database.kysely)
    const lock = sql`SELECT user_id FROM quotas WHERE user_id = ${account.userId} FOR UPDATE`
    const take = () => [put('sendable'), put({})]
    await expect(
      database.runBatch?.({ lock: lock.compile(database.kysely), take }),
    ).rejects.toThrow(TypeError)
    const { rows } = await sql`SELECT 1 FROM garbage WHERE object_key = 'sendable'`.execute(
      database.kysely,
    )
    expect(rows).toEqual([])
  })

  it('keep the connection on which they were undone', async () => {
    const single = await openPostgres({ url: own.url, poolSize: 1 })
    const { kysely } = single
    const pid = async () => (await sql`SELECT pg_backend_pid() AS pid`.execute(kysely)).rows
    const before = await pid()
    const lock = sql`SELECT user_id FROM quotas WHERE user_id = ${account.userId} FOR UPDATE`
    const put = sql`INSERT INTO garbage (object_key, not_before) VALUES ('twice', 1)`
    const take = () => [put.compile(kysely), put.compile(kysely)]
    expect(await single.runBatch?.({ lock: lock.compile(kysely), take })).toBeUndefined()
    expect(await pid()).toEqual(before)
    await single.close()
  })

  it('commit what a repetition finds again', async () => {
    const version = await account.begin('a', 5)
    const first = await account.commit(version, 5, { visibility: 'users' })
    expect(await account.commit(version, 5)).toEqual(first)
    const next = await account.put('a', 7)
    expect(next.file).toMatchObject({ visibility: 'users', createdAt: first.file.createdAt })
    expect(await account.commit(version, 5)).toEqual({ ...first, usage: next.usage })
  })

  it('share it with those of other users, each within its own capacity', async () => {
    const other = await newAccount()
    const begun = await Promise.all([
      outcomeOf(account.begin('a', 100)),
      outcomeOf(other.begin('a', 60)),
      outcomeOf(account.begin('b', 1)),
      outcomeOf(other.begin('b', 40)),
    ])
    expect(begun).toEqual(['ok', 'ok', 'capacity_exceeded', 'ok'])
    expect(await account.usage()).toMatchObject({ reserved: 100 })
    expect(await other.usage()).toMatchObject({ reserved: 100 })
    const { rows } = await sql`
      SELECT DISTINCT xmin FROM uploads WHERE user_id IN (${account.userId}, ${other.userId})
    `.execute(database.kysely)
    expect(rows).toHaveLength(1)
  })

  it('share it when they demand that there is no file, or one version, and are refused alone', async () => {
    const none = { precondition: { ifNoneMatch: '*' } } as const
    const versions = await Promise.all(names.map((name) => account.begin(name, 1, none)))
    const commits = await Promise.all(versions.map((each) => account.commit(each, 1, none)))
    expect(await transactions('uploads')).toEqual([20])
    expect(await transactions('files')).toEqual([20])
    const same = (index: number) => {
      const { version = '' } = commits[index]?.file ?? {}
      return { precondition: { ifMatch: [version] } }
    }
    const outcomes = names.map((name, index) =>
      outcomeOf(account.begin(name, 1, index % 2 === 0 ? same(index) : same(0))),
    )
    expect(await Promise.all(outcomes)).toEqual(
      names.map((_, index) => (index % 2 === 0 ? 'ok' : 'precondition_failed')),
    )
    expect(await transactions('uploads')).toEqual([10, 20])
    const late = await account.begin('file-0', 1)
    expect(await outcomeOf(account.commit(late, 1, none))).toBe('precondition_failed')
    await account.commit(late, 1, same(0))
  })

  it('are refused when the tag that they demand is empty, and there is no file', async () => {
    const precondition = { ifMatch: [''] }
    expect(await outcomeOf(account.begin('a', 1, { precondition }))).toBe('precondition_failed')
    const version = await account.begin('a', 1)
    expect(await outcomeOf(account.commit(version, 1, { precondition }))).toBe(
      'precondition_failed',
    )
  })

  it('go on without the user whose row somebody else holds', async () => {
    const other = await newAccount()
    await whileHeld(account, async (end) => {
      let isDone = false
      const waiting = account.begin('a', 1).finally(() => {
        isDone = true
      })
      for (const name of names) await other.begin(name, 1)
      expect(isDone).toBe(false)
      await end()
      await waiting
    })
    expect(await account.usage()).toMatchObject({ reserved: 1 })
    expect(await other.usage()).toMatchObject({ reserved: 20 })
  })

  it('all fail when their connection breaks, and leave nothing behind that COMMIT had not reached', async () => {
    const failed = await whileHeld(account, async (end) => {
      const outcomes = names.map((name) => outcomeOf(account.begin(name, 1)))
      await expect
        .poll(async () => {
          const { rows } = await sql`
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database()
          `.execute(database.kysely)
          return rows.length
        })
        .toBe(1)
      const outcome = await Promise.all(outcomes)
      await end()
      return outcome
    })
    expect(new Set(failed)).toEqual(new Set(['unavailable']))
    expect(await account.usage()).toMatchObject({ reserved: 0 })
    expect(await outcomeOf(account.begin('a', 1))).toBe('ok')
  })

  it('wait for the server twice for a begin and a commit each, and a lookup once', async () => {
    await using way = await countRoundTrips(own.url)
    const far = await openPostgres({ url: way.url, poolSize: 1 })
    ledger = createLedger(far, { baseCapacity: BASE_CAPACITY })
    account = await newAccount()
    const file = { userId: account.userId, name: parseFileName('a'), audience: 'owner' } as const
    // Connects.
    await ledger.findFile(file)
    for (let uploads = 0; uploads < 3; uploads++) {
      way.count()
      const version = await account.begin('a', 1)
      expect(way.count()).toBe(2)
      await account.commit(version, 1)
      expect(way.count()).toBe(2)
      await ledger.findFile(file)
      expect(way.count()).toBe(1)
    }
    await far.close()
  })
})
