import { type Kysely, sql } from 'kysely'
import { userNotFound } from '../../core/users/caller.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { User } from '../../core/users/user-store.ts'
import { type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { toUser } from '../ledger/rows.ts'
import type { Tables, UserRow } from '../schema.ts'

export async function findUser(db: Kysely<Tables>, userId: UserId): Promise<User | undefined> {
  const { rows } = await sql<UserRow>`SELECT * FROM users WHERE id = ${userId}`.execute(db)
  return rows[0] && toUser(rows[0])
}

/** Throws `not_found` unless there is a user with the id who is not deleted. */
export async function requireUser(db: Kysely<Tables>, userId: UserId): Promise<void> {
  const user = await findUser(db, userId)
  if (user === undefined || user.status === 'deleted') throw userNotFound(userId)
}

/** As `lockUser` and `requireUser`. */
export async function lockKnownUser(tx: LedgerTx, userId: UserId): Promise<void> {
  await lockUser(tx, userId)
  await requireUser(tx.db, userId)
}
