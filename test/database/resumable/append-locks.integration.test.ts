import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { type Account, openAccount } from '../../core/ledger/fixture.ts'
import {
  part,
  type Resumables,
  resumablesOf,
  tailPiece,
} from '../../core/ledger/resumable/fixture.ts'
import { eventually } from '../../support/eventually.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'

const server = inject('postgres')

describe.skipIf(server === undefined)('the locks of an append on PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  let account: Account
  let uploads: Resumables

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })
  beforeEach(async () => {
    const ledger = createLedger(database, { baseCapacity: 1000 })
    account = await openAccount({ ledger, users: createUserStore(database, { baseCapacity: 0 }) })
    uploads = resumablesOf(ledger, account)
  })

  async function isWaiting(): Promise<boolean> {
    const { rows } = await sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = ${own.name} AND wait_event_type = 'Lock'
    `.execute(database.kysely)
    return rows.length > 0
  }

  it('do not include that of its user, so that it goes on while that one is held', async () => {
    const upload = await uploads.create('a', 40)
    await database.transaction(async (db) => {
      await sql`SELECT 1 FROM quotas WHERE user_id = ${account.userId} FOR UPDATE`.execute(db)
      const tailKey = uploads.tailKey()
      const { upload: claimed } = await uploads.hold(upload, { tailKey })
      const parts = { offset: 8, replacedFrom: 0, pieces: [part(0)], holderMs: 60_000 }
      expect(await uploads.record(claimed, parts)).toBe(true)
      const pieces = [tailPiece(8, { size: 3, key: tailKey })]
      expect(await uploads.record(claimed, { offset: 11, replacedFrom: 8, pieces })).toBe(true)
    })
  })

  it('are waited for by a record of which an earlier attempt commits late', async () => {
    const upload = await uploads.create('a', 8)
    const { upload: claimed } = await uploads.hold(upload, {})
    let recorded: Promise<boolean> = Promise.resolve(false)
    await database.transaction(async (db) => {
      const { version } = upload
      await sql`SELECT 1 FROM uploads WHERE version = ${version} FOR UPDATE`.execute(db)
      await sql`UPDATE resumable_uploads SET received_bytes = 8 WHERE version = ${version}`.execute(
        db,
      )
      for (const [at, size] of [
        [0, 5],
        [5, 3],
      ]) {
        await sql`
          INSERT INTO upload_pieces (version, first_byte, size, receipt)
          VALUES (${version}, ${at}, ${size}, 'early')
        `.execute(db)
      }
      // No single statement does this, and the steps read the upload before they lock it.
      const sealed = { digest: undefined }
      const release = { offset: 8, replacedFrom: 0, pieces: [part(0)], sealed, holderMs: undefined }
      recorded = uploads.record(claimed, release)
      recorded.catch(() => undefined)
      // Sooner than the record gives up the wait, after which it would read again.
      while (!(await isWaiting()));
    })
    expect(await recorded).toBe(true)
    const { rows } = await sql`
      SELECT first_byte, receipt FROM upload_pieces WHERE version = ${upload.version}
    `.execute(database.kysely)
    expect(rows).toEqual([{ first_byte: 0, receipt: part(0).receipt }])
  })

  it('begin with that of its user where a tail becomes garbage, as those of an abort do', async () => {
    const upload = await uploads.create('a', 40)
    const tailKey = uploads.tailKey()
    const { upload: one } = await uploads.hold(upload, { tailKey })
    const pieces = [tailPiece(0, { size: 3, key: tailKey })]
    await uploads.record(one, { offset: 3, replacedFrom: 0, pieces })
    const { upload: two } = await uploads.hold(upload, { offset: 3 })
    let recorded: Promise<boolean> = Promise.resolve(false)
    await database.transaction(async (db) => {
      await sql`SELECT 1 FROM quotas WHERE user_id = ${account.userId} FOR UPDATE`.execute(db)
      recorded = uploads.record(two, { offset: 8, replacedFrom: 0, pieces: [part(0)] })
      await eventually(async () => expect(await isWaiting()).toBe(true))
      // Rejects at once where another transaction has locked the row.
      for (const table of ['uploads', 'resumable_uploads']) {
        await sql`SELECT 1 FROM ${sql.table(table)} WHERE version = ${upload.version} FOR UPDATE NOWAIT`.execute(
          db,
        )
      }
      await sql`SELECT 1 FROM garbage WHERE object_key = ${tailKey} FOR UPDATE NOWAIT`.execute(db)
    })
    expect(await recorded).toBe(true)
  })
})
