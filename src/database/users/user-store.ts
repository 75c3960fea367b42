import { type Kysely, sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import type { AccessTokenStore } from '../../core/auth/access-token-store.ts'
import type { GrantStore } from '../../core/quota/grant-store.ts'
import { userNotFound } from '../../core/users/caller.ts'
import { capacityState } from '../../core/quota/capacity.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { User, UserStatus, UserStore } from '../../core/users/user-store.ts'
import { ACCESS_TOKEN_OPERATIONS } from '../auth/access-tokens.ts'
import { type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { createMethods, type Operations } from '../operations/operation.ts'
import { toUser } from '../ledger/rows.ts'
import { createSession, type LedgerOptions } from '../operations/session.ts'
import type { Database } from '../database.ts'
import { findUser, lockKnownUser } from './find-user.ts'
import { GRANT_OPERATIONS } from '../quota/grants.ts'
import { revokeOfJwts } from '../auth/revocation.ts'
import type { Tables, UserRow } from '../schema.ts'

/** The ports of what a user has besides files. Each use case takes only those that it needs. */
export interface UserStores extends UserStore, AccessTokenStore, GrantStore {}

/** Changes to a user take the same lock as that user's uploads. */
export const USER_OPERATIONS = {
  createUser: { through: 'transaction', run: createUser, effect: 'grows' },
  findUser: { through: 'query', run: ({ db }, userId) => findUser(db, userId), effect: 'reads' },
  setUserStatus: { through: 'transaction', run: setUserStatus, effect: 'frees' },
  deleteUser: { through: 'transaction', run: deleteUser, effect: 'frees' },
  ...ACCESS_TOKEN_OPERATIONS,
  ...GRANT_OPERATIONS,
} as const satisfies Operations<UserStores>

export function createUserStore(database: Database, options: LedgerOptions): UserStores {
  return createMethods<UserStores>(USER_OPERATIONS, createSession(database, options))
}

async function createUser(tx: LedgerTx, userId: UserId): ReturnType<UserStore['createUser']> {
  const { db, now, baseCapacity } = tx
  const { rows } = await sql<UserRow>`
    INSERT INTO users (id, status, created_at) VALUES (${userId}, 'active', ${now})
    ON CONFLICT (id) DO NOTHING
    RETURNING *
  `.execute(db)
  if (rows[0] === undefined) {
    // A write, so that the repetition of a call without an answer is answered only when the user is durable.
    await lockUser(tx, userId)
    return { user: await existingUser(db, userId), created: false }
  }
  const state = capacityState({ capacity: baseCapacity, used: 0, reserved: 0, fileCount: 0 })
  await sql`
    INSERT INTO quotas (user_id, used_bytes, reserved_bytes, file_count, capacity_state)
    VALUES (${userId}, 0, 0, 0, ${state})
  `.execute(db)
  return { user: toUser(rows[0]), created: true }
}

async function existingUser(db: Kysely<Tables>, userId: UserId): Promise<User> {
  const user = await findUser(db, userId)
  // `undefined` means that the user was purged just now; the next call creates a new one.
  if (user === undefined || user.status === 'deleted') {
    throw new AppError('user_exists', 'The deleted user with this id is still being purged.')
  }
  return user
}

async function setUserStatus(
  tx: LedgerTx,
  userId: UserId,
  status: 'active' | 'suspended',
): Promise<User> {
  await lockKnownUser(tx, userId)
  if (status === 'suspended') await revokeOfJwts(tx, userId)
  return await setStatus(tx.db, { userId, status })
}

async function deleteUser(tx: LedgerTx, userId: UserId): Promise<void> {
  await lockUser(tx, userId)
  await setStatus(tx.db, { userId, status: 'deleted' })
}

async function setStatus(
  db: Kysely<Tables>,
  { userId, status }: { readonly userId: UserId; readonly status: UserStatus },
): Promise<User> {
  const { rows } = await sql<UserRow>`
    UPDATE users SET status = ${status} WHERE id = ${userId} RETURNING *
  `.execute(db)
  if (rows[0] === undefined) throw userNotFound(userId)
  return toUser(rows[0])
}
