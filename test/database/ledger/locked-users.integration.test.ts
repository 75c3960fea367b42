import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { openPostgres } from '../../../src/database/postgres/postgres.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'
import { type Account, openAccount, outcomeOf } from '../../core/ledger/fixture.ts'
import { eventually } from '../../support/eventually.ts'
import type { TestDatabase } from '../../support/servers/postgres.ts'
import { createMigratedDatabase } from '../../support/service/migrated-database.ts'

const server = inject('postgres')

/** What holds their rows is the transaction of an operator, or of an instance that hangs. */
describe.skipIf(server === undefined)('users whose rows another session holds', () => {
  let own: TestDatabase
  let database: Database
  let operator: Database
  let open: () => Promise<Account>

  beforeEach(async () => {
    own = await createMigratedDatabase()
    database = await openPostgres({ url: own.url })
    operator = await openPostgres({ url: own.url, poolSize: 1 })
    const ledger = createLedger(database, { baseCapacity: 1000 })
    const users = createUserStore(database, { baseCapacity: 0 })
    open = () => openAccount({ ledger, users })
  })
  afterEach(async () => {
    await Promise.all([database.close(), operator.close()])
    await own.drop()
  })

  /** Runs `work` while the rows are held, and then awaits what `wait` has started. */
  async function whileHeld(
    held: readonly Account[],
    wait: (account: Account) => readonly Promise<unknown>[],
    work: (settled: () => number) => Promise<void>,
  ): Promise<readonly PromiseSettledResult<unknown>[]> {
    let settled = 0
    let waiting: readonly Promise<unknown>[] = []
    await operator.kysely.transaction().execute(async (tx) => {
      const ids = sql.join(held.map(({ userId }) => userId))
      await sql`SELECT 1 FROM quotas WHERE user_id IN (${ids}) FOR UPDATE`.execute(tx)
      waiting = held.flatMap(wait)
      for (const each of waiting) void each.catch(() => undefined).finally(() => (settled += 1))
      await eventually(async () => expect(await countWaits()).toBeGreaterThan(0))
      await work(() => settled)
    })
    return await Promise.allSettled(waiting)
  }

  async function countWaits(): Promise<number> {
    const { rows } = await sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = ${own.name} AND wait_event_type = 'Lock'
    `.execute(database.kysely)
    return rows.length
  }

  const changes = (account: Account) => [account.remove('none'), account.remove('none')]
  const uploads = (account: Account) => [account.begin('a', 1), account.begin('b', 1)]

  it.each([
    { users: 5, what: 'changes', wait: changes },
    { users: 20, what: 'changes', wait: changes },
    { users: 100, what: 'changes', wait: changes },
    { users: 5, what: 'uploads', wait: uploads },
    { users: 100, what: 'uploads', wait: uploads },
  ])('delay no other user, when $users have $what that wait', async ({ users, wait }) => {
    const held = await Promise.all(Array.from({ length: users }, () => open()))
    const other = await open()
    await whileHeld(held, wait, async (settled) => {
      await other.put('a', 10)
      await other.remove('a')
      // Otherwise the others would only have been refused first.
      expect(settled()).toBe(0)
    })
  })

  it('have their changes, in all paths, once the rows are free', async () => {
    const [one, two] = [await open(), await open()]
    await one.put('old', 1)
    const reserved = await two.begin('running', 1)
    const results = await whileHeld(
      [one, two],
      (account) =>
        account === one
          ? [account.begin('new', 1), account.remove('old')]
          : [account.begin('new', 1), account.commit(reserved, 1)],
      async () => undefined,
    )
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'))
    expect(await one.usage()).toMatchObject({ used: 0, fileCount: 0, reserved: 1 })
    expect(await two.usage()).toMatchObject({ used: 1, fileCount: 1, reserved: 1 })
  })

  it('are refused once they have waited for the whole timeout', async () => {
    const account = await open()
    const hasty = await openPostgres({ url: own.url, timeoutMs: 500 })
    const refused = account.through(createLedger(hasty, { baseCapacity: 1000 }))
    const results = await whileHeld(
      [account],
      () => [refused.begin('a', 1), refused.remove('none')],
      async (settled) => {
        await eventually(async () => expect(settled()).toBe(2))
      },
    )
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await outcomeOf(account.begin('a', 1))).toBe('ok')
    await hasty.close()
  })
})
