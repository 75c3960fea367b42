import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import type {
  ClaimAppend,
  RecordAppend,
  ResumableUpload,
} from '../../../src/core/resumable/resumable-ledger.ts'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger/ledger.ts'
import {
  type AppendStatements,
  appendStatements,
} from '../../../src/database/postgres/append-statements.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { type Account, LONG_MS, openAccount } from '../../core/ledger/fixture.ts'
import {
  DAY_MS,
  part,
  type Resumables,
  resumablesOf,
  TAIL_RETENTION_MS,
  tailPiece,
} from '../../core/ledger/resumable/fixture.ts'
import { eventually } from '../../support/eventually.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'
import { countRoundTrips } from './round-trips.ts'

const server = inject('postgres')

/** A change that another request makes, as SQL for the tables and what it sets. */
type Interference = readonly [table: 'uploads' | 'resumable_uploads', set: RawBuilder<unknown>]

describe.skipIf(server === undefined)('an append on PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  let statements: AppendStatements
  let account: Account
  let uploads: Resumables
  let upload: ResumableUpload

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
    statements = appendStatements(database.kysely, database)
  })
  beforeEach(async () => {
    const ledger = createLedger(database, { baseCapacity: 1000 })
    account = await openAccount({ ledger, users: createUserStore(database, { baseCapacity: 0 }) })
    uploads = resumablesOf(ledger, account)
    upload = await uploads.create('a', 40)
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  const change = async ([table, set]: Interference, db: Pick<Database, 'kysely'> = database) =>
    void (await sql`
      UPDATE ${sql.table(table)} SET ${set} WHERE version = ${upload.version}
    `.execute(db.kysely))

  /** All that the statements write. */
  const rows = async () => {
    const { version } = upload
    const of = async (table: string) =>
      (
        await sql`SELECT * FROM ${sql.table(table)} WHERE version = ${version}`.execute(
          database.kysely,
        )
      ).rows
    const garbage = await sql`
      SELECT * FROM garbage WHERE object_key LIKE ${`users/${account.userId}/%`} ORDER BY object_key
    `.execute(database.kysely)
    const tables = ['uploads', 'resumable_uploads', 'upload_pieces']
    return [...(await Promise.all(tables.map(of))), garbage.rows]
  }

  /** The number of rows that a statement returns which waits for that change. */
  /** Once, however long it waits for a row. */
  const execute = (query: CompiledQuery) =>
    database.kysely.transaction().execute(async (db) => {
      await sql`SET LOCAL lock_timeout = 0`.execute(db)
      return (await db.executeQuery(query)).rows.length
    })

  const whileChanged = async (interference: Interference, statement: () => Promise<number>) => {
    let returned: Promise<number> = Promise.resolve(0)
    await database.transaction(async (kysely) => {
      await change(interference, { kysely })
      returned = statement()
      await eventually(async () => {
        const { rows: waiting } = await sql`
          SELECT 1 FROM pg_stat_activity WHERE datname = ${own.name} AND wait_event_type = 'Lock'
        `.execute(database.kysely)
        expect(waiting).toHaveLength(1)
      })
    })
    return await returned
  }

  const now = sql`CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)`
  const ended: Interference = ['uploads', sql`state = 'aborted', settled_at = 1, remove_at = 1`]
  const fenced: Interference = ['resumable_uploads', sql`epoch = epoch + 1`]

  describe('is claimed in one statement', () => {
    const claim = async (options: Partial<ClaimAppend> = {}): Promise<number> => {
      const asked = { userId: account.userId, userCreatedAt: account.userCreatedAt, offset: 0 }
      const { version, epoch } = upload
      const holding = { holder: 'here', holderMs: 15_000, tailKey: uploads.tailKey() }
      const query = statements.claim({ ...asked, version, epoch, ...holding, ...options })
      return query === undefined ? 0 : await execute(query)
    }

    it('where nothing interferes, and the claim is as it is step by step', async () => {
      expect(await claim()).toBe(1)
      expect(await uploads.find(upload)).toMatchObject({ epoch: 1, isHeld: true, holder: 'here' })
      expect((await rows())[3]).toHaveLength(1)
      await change(['resumable_uploads', sql`holder = NULL, tail_key = NULL`])
      upload = await uploads.find(upload)
      expect(await claim({ tailKey: undefined })).toBe(1)
      expect((await rows())[3]).toHaveLength(1)
    })

    it.each<readonly [string, Interference]>([
      ['has been aborted', ended],
      ['has expired', ['uploads', sql`lease_until = ${now}`]],
      ['would need a longer lease', ['uploads', sql`lease_until = ${now} + 75000`]],
      ['has been fenced', fenced],
      ['is held', ['resumable_uploads', sql`holder = 'there', holder_until = ${now} + 10000`]],
      ['was held', ['resumable_uploads', sql`holder = 'there', holder_until = ${now}`]],
      ['has received more', ['resumable_uploads', sql`received_bytes = 8`]],
      ['is sealed', ['resumable_uploads', sql`length_bytes = 0, sealed_at = ${now}`]],
      ['has a tail key left', ['resumable_uploads', sql`tail_key = 'users/a/b'`]],
    ])('but not if it %s, before the statement or while it waits', async (_name, interference) => {
      expect(await whileChanged(interference, claim)).toBe(0)
      const before = await rows()
      expect(await claim()).toBe(0)
      expect(await rows()).toEqual(before)
    })

    it('but not with another epoch or none, at another offset, by another user, or by a suspended one', async () => {
      const before = await rows()
      expect(await claim({ epoch: 1 })).toBe(0)
      expect(await claim({ offset: 1 })).toBe(0)
      expect(await claim({ epoch: undefined })).toBe(0)
      const users = createUserStore(database, { baseCapacity: 0 })
      const ledger = createLedger(database, { baseCapacity: 1000 })
      const { userId, userCreatedAt } = await openAccount({ ledger, users })
      expect(await claim({ userId, userCreatedAt })).toBe(0)
      expect(await claim({ userCreatedAt: account.userCreatedAt + 1 })).toBe(0)
      await users.setUserStatus(account.userId, 'suspended')
      expect(await claim()).toBe(0)
      expect(await rows()).toEqual(before)
    })

    it('with the tail as it is when the record before has committed', async () => {
      const { upload: claimed } = await uploads.hold(upload)
      const key = uploads.tailKey()
      const pieces = [part(0), tailPiece(8, { size: 3, key })]
      await uploads.record(claimed, { offset: 11, replacedFrom: 0, pieces })
      upload = await uploads.find(upload)
      const { epoch } = upload
      const next = await uploads.hold(upload, { epoch, offset: 11, holderMs: 15_000 })
      expect(next).toMatchObject({ tail: [pieces[1]] })
      expect(next.upload).toEqual(await uploads.find(upload))
    })
  })

  describe('is recorded in one statement', () => {
    let claimed: ResumableUpload
    let tailKey: ObjectKey
    beforeEach(async () => {
      tailKey = uploads.tailKey()
      claimed = (await uploads.hold(upload, { tailKey })).upload
      await uploads.record(claimed, { offset: 8, replacedFrom: 0, pieces: [part(0)], holderMs: 9 })
    })

    const record = async (options: Partial<RecordAppend> = {}): Promise<number> => {
      const { userId, version, epoch, storeState } = claimed
      const to = { offset: 16, replacedFrom: 8, pieces: [part(1)], lifetimeMs: LONG_MS }
      const asked = { userId, version, epoch, storeState, ...to, holderMs: undefined, ...options }
      const query = statements.record(asked)
      return query === undefined ? 0 : await execute(query)
    }

    it('where it only adds bytes, with or without its release, and where it seals', async () => {
      expect(await record({ holderMs: 10_000 })).toBe(1)
      const rest = { offset: 40, replacedFrom: 16, pieces: [part(2), part(3), part(4)] }
      expect(await record({ ...rest, holderMs: 1, sealed: { sha256: undefined } })).toBe(1)
      expect(await uploads.find(upload)).toMatchObject({ state: 'sealed', offset: 40 })
      expect((await rows())[2]).toHaveLength(5)
    })

    it('and postpones the removal of all tails, its own and earlier ones', async () => {
      const next = uploads.tailKey()
      const first = { offset: 10, pieces: [tailPiece(8, { size: 2, key: tailKey })] }
      expect(await record({ ...first, holderMs: 9_000, lifetimeMs: LONG_MS })).toBe(1)
      await sql`INSERT INTO garbage (object_key, not_before) VALUES (${next}, 1)`.execute(
        database.kysely,
      )
      const pieces = [tailPiece(10, { size: 1, key: next })]
      expect(await record({ offset: 11, replacedFrom: 10, pieces, lifetimeMs: 3 * DAY_MS })).toBe(1)
      const { expiresAt } = await uploads.find(upload)
      const left = (await rows())[3] as readonly { readonly not_before: number }[]
      expect(left).toHaveLength(2)
      for (const { not_before: until } of left) {
        expect(until).toBeGreaterThanOrEqual(expiresAt + TAIL_RETENTION_MS)
      }
    })

    it.each<readonly [string, Interference]>([
      ['has been aborted', ended],
      ['has expired', ['uploads', sql`lease_until = ${now}`]],
      ['has been fenced', fenced],
      ['has received more', ['resumable_uploads', sql`received_bytes = 17`]],
      ['would have pieces replaced', ['resumable_uploads', sql`received_bytes = 9`]],
    ])('but not if it %s, before the statement or while it waits', async (_name, interference) => {
      expect(await whileChanged(interference, record)).toBe(0)
      const before = await rows()
      expect(await record()).toBe(0)
      expect(await rows()).toEqual(before)
    })

    it.each<readonly [string, Interference]>([
      ['an earlier record', ['resumable_uploads', sql`received_bytes = 7`]],
      ['a release', ['resumable_uploads', sql`tail_key = NULL`]],
    ])('but not if %s of the same append commits while it waits', async (_name, interference) => {
      expect(await whileChanged(interference, record)).toBe(0)
      expect(await record()).toBe(1)
    })

    it('but not if it discards a tail, seals without a holder, or is of another user', async () => {
      const before = await rows()
      expect(await record({ pieces: [], sentTailBytes: 1 })).toBe(0)
      expect(await record({ offset: 40, sealed: { sha256: undefined } })).toBe(0)
      expect(
        await record({
          userId: (
            await openAccount({
              ledger: createLedger(database, { baseCapacity: 1 }),
              users: createUserStore(database, { baseCapacity: 0 }),
            })
          ).userId,
        }),
      ).toBe(0)
      expect(await rows()).toEqual(before)
    })
  })

  it('waits for the server once for each step, and twice for a creation', async () => {
    await using way = await countRoundTrips(own.url)
    const far = await openPostgres({ url: way.url, poolSize: 1 })
    const ledger = createLedger(far, { baseCapacity: 1000 })
    account = await openAccount({ ledger, users: createUserStore(far, { baseCapacity: 1000 }) })
    uploads = resumablesOf(ledger, account)
    const holding = { holderMs: 15_000, tailKey: uploads.tailKey() }
    const trips = async <T>(step: () => Promise<T>, expected: number): Promise<T> => {
      way.count()
      const result = await step()
      expect(way.count()).toBe(expected)
      return result
    }
    upload = await trips(() => uploads.create('a', 8), 2)
    await trips(() => uploads.prepare(upload, { bytes: 8 }), 1)
    const { upload: claimed } = await trips(() => uploads.hold(upload, { epoch: 0, ...holding }), 1)
    const seal = { offset: 8, replacedFrom: 0, pieces: [part(0)], sealed: { sha256: undefined } }
    await trips(() => uploads.record(claimed, { ...seal, holderMs: 15_000 }), 1)
    await trips(() => account.commit(upload.version, 8), 2)
    await far.close()
  })
})
