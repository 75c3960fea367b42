import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createSweeper } from '../../../src/core/sweep/sweeper.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { type Account, openAccount } from '../../core/ledger/fixture.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'

const server = inject('postgres')

/** How long a lock is waited for, in milliseconds. */
const LOCK_TIMEOUT_MS = 1_000

describe.skipIf(server === undefined)('garbage that is removed from PostgreSQL', () => {
  let own: TestDatabase
  let database: Database
  let ledger: ReturnType<typeof createLedger>

  beforeAll(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url, timeoutMs: LOCK_TIMEOUT_MS })
    ledger = createLedger(database, { baseCapacity: 1000, times: { garbageDelayMs: -1 } })
  })
  afterAll(async () => {
    await database.close()
    await own.drop()
  })

  /** Someone with an object in the garbage that is due. */
  async function litterer(): Promise<Account> {
    const account = await openAccount({
      ledger,
      users: createUserStore(database, { baseCapacity: 0 }),
    })
    await account.put('a', 1)
    await account.remove('a')
    return account
  }

  async function garbageOf({ userId }: Account): Promise<number> {
    const { rows } = await sql`SELECT 1 FROM garbage WHERE user_id = ${userId}`.execute(
      database.kysely,
    )
    return rows.length
  }

  /** Resolves when a session waits for a lock. */
  async function untilOneWaits(): Promise<void> {
    for (;;) {
      const { rows } = await sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = ${own.name} AND wait_event_type = 'Lock'
      `.execute(database.kysely)
      if (rows.length > 0) return
      await setTimeout(5)
    }
  }

  it('is locked after its user, as by a purge, so that the two never wait for each other', async () => {
    const account = await litterer()
    const { userId } = account
    const page = await ledger.listGarbage({ after: undefined, limit: 100 })
    const removed = page.filter((garbage) => garbage.userId === userId)
    expect(removed).toHaveLength(1)
    let noted: Promise<unknown> = Promise.resolve()
    await database.transaction(async (db) => {
      await sql`SELECT 1 FROM quotas WHERE user_id = ${userId} FOR UPDATE`.execute(db)
      noted = ledger.noteGarbageRemovals({ userId, removed, failed: [] })
      await untilOneWaits()
      // Rejects at once where another transaction has locked the row.
      await sql`SELECT 1 FROM garbage WHERE user_id = ${userId} FOR UPDATE NOWAIT`.execute(db)
    })
    await noted
    expect(await garbageOf(account)).toBe(0)
  })

  it('garbage of a user whose row is held stays alone, and holds up neither uploads of others nor their garbage', async () => {
    const [ada, bob, cyd] = [await litterer(), await litterer(), await litterer()]
    const sweeper = createSweeper({ ledger, objects: createMemoryStore() })
    await database.transaction(async (db) => {
      // The sweep may wait for longer than a session may be idle.
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(db)
      await sql`SELECT 1 FROM quotas WHERE user_id = ${bob.userId} FOR UPDATE`.execute(db)
      const failure = sweeper.sweep({ signal: AbortSignal.timeout(30_000) }).catch(String)
      await untilOneWaits()
      await Promise.all([ada.put('b', 1), cyd.put('b', 1)])
      expect(await failure).toContain(bob.userId)
      expect(await Promise.all([ada, bob, cyd].map(garbageOf))).toEqual([0, 1, 0])
    })
    await sweeper.sweep({ signal: AbortSignal.timeout(30_000) })
    expect(await garbageOf(bob)).toBe(0)
  })
})
