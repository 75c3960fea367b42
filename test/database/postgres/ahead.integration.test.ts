import { callerOf } from '../../../src/core/users/caller.ts'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import { AHEAD } from '../../../src/database/postgres/ahead.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger/ledger.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import type { Tables } from '../../../src/database/schema.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { accountOf, BASE_CAPACITY, refusalOf } from '../../core/ledger/fixture.ts'
import { createDatabase } from '../../support/postgres.ts'
import { countRoundTrips } from './round-trips.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('statements sent ahead to PostgreSQL', () => {
  let own: Awaited<ReturnType<typeof createDatabase>>
  let database: Database

  beforeAll(async () => {
    own = await createDatabase(server ?? '')
    database = await openPostgres({ url: own.url, poolSize: 1 })
    await migrate(database)
  })
  beforeEach(async () => {
    await sql`DELETE FROM garbage`.execute(database.kysely)
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  const written = async (): Promise<unknown> =>
    (await sql`SELECT object_key FROM garbage`.execute(database.kysely)).rows
  const put = (db: Kysely<Tables>, key: string) =>
    sql`INSERT INTO garbage (object_key, not_before) VALUES (${key}, 1)`.execute(db)

  it('make a begin and a commit of two round trips each, and a lookup of one', async () => {
    await using way = await countRoundTrips(own.url)
    const far = await openPostgres({ url: way.url, poolSize: 1 })
    const ledger = createLedger(far, { baseCapacity: BASE_CAPACITY })
    const users = createUserStore(far)
    const userId = parseUserId('far')
    const { user } = await users.createUser(userId)
    const account = accountOf({ ledger, users, ...callerOf(user) })
    for (let uploads = 0; uploads < 3; uploads++) {
      way.count()
      const version = await account.begin('a', 1)
      expect(way.count()).toBe(2)
      await account.commit(version, 1)
      expect(way.count()).toBe(2)
      await ledger.findFile({ userId, name: parseFileName('a'), audience: 'owner' })
      expect(way.count()).toBe(1)
    }
    await far.close()
  })

  it.each(['the next statement', 'COMMIT'])('fail with %s, for their own reason', async (next) => {
    const broken = database.transaction(async (db) => {
      await put(db, 'before')
      await put(db.withPlugin(AHEAD), 'before')
      await put(db.withPlugin(AHEAD), 'behind')
      if (next !== 'COMMIT') await sql`SELECT 1`.execute(db)
    })
    await expect(broken).rejects.toMatchObject({ code: '23505' })
    expect(await written()).toEqual([])
  })

  it('undo all when the driver cannot send them', async () => {
    const circular: { self?: unknown } = {}
    circular.self = circular
    const broken = database.transaction(async (db) => {
      await put(db, 'before')
      const ahead = db.withPlugin(AHEAD)
      await sql`INSERT INTO garbage (object_key, not_before) VALUES (${circular}, 1)`.execute(ahead)
    })
    await expect(broken).rejects.toThrow(TypeError)
    expect(await written()).toEqual([])
  })

  it('are repeated with their transaction', async () => {
    let attempts = 0
    await database.transaction(async (db) => {
      attempts++
      const deadlock = sql`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$`
      if (attempts < 3) await deadlock.execute(db.withPlugin(AHEAD))
    })
    expect(attempts).toBe(3)
  })

  it('hide nothing that is thrown before anybody looks at their answers', async () => {
    const refused = database.transaction(async (db) => {
      await put(db.withPlugin(AHEAD), 'twice')
      await put(db.withPlugin(AHEAD), 'twice')
      throw new AppError('not_found', 'It is not there.')
    })
    expect((await refusalOf(refused)).code).toBe('not_found')
    expect(await written()).toEqual([])
  })

  it('stand when the transaction does', async () => {
    await database.transaction((db) => put(db.withPlugin(AHEAD), 'ahead'))
    expect(await written()).toEqual([{ object_key: 'ahead' }])
  })
})
