import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { LedgerTx } from '../../../src/database/ledger/ledger-sql.ts'
import { createSession } from '../../../src/database/operations/session.ts'
import { createMemoryFolder } from '../../support/servers/local-server.ts'
import { openMigrated } from '../../support/service/migrated-file.ts'

it('reads nothing on SQLite that a running transaction has changed', async () => {
  const folder = await createMemoryFolder('session')
  const database = await openMigrated({ file: join(folder.path, 'test.db'), clock: Date.now })
  const session = createSession(database, { baseCapacity: 100 })
  const refused = new AppError('not_found', 'It is not there.')
  const { promise: refusal, reject: refuse } = Promise.withResolvers<never>()
  const { promise: inserted, resolve: hasInserted } = Promise.withResolvers<void>()
  const countUsers = async (tx: LedgerTx): Promise<number | undefined> => {
    const count = sql<{ users: number }>`SELECT COUNT(*) AS users FROM users`.compile(tx.db)
    return (await tx.execute(count)).rows[0]?.users
  }
  const change = session.change(parseUserId('u'), async (tx) => {
    await sql`INSERT INTO users (id, status, created_at) VALUES ('u', 'active', 1)`.execute(tx.db)
    expect(await countUsers(tx)).toBe(1)
    hasInserted()
    await refusal
  })
  await inserted
  const { query, queryPrepared, readInOrder } = session
  const reads = [query, queryPrepared, readInOrder].map((read) => read(countUsers))
  await nextTurn()
  refuse(refused)
  await expect(change).rejects.toBe(refused)
  expect(await Promise.all(reads)).toEqual([0, 0, 0])
  await database.close()
  await folder.remove()
})
