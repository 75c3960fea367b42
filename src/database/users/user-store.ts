import { type Kysely, sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import { DEVICE } from '../../core/quota/grants.ts'
import { userNotFound } from '../../core/users/caller.ts'
import { capacityState } from '../../core/quota/capacity.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { User, UserStatus, UserStore } from '../../core/users/user-store.ts'
import { changingCapacity } from '../changes/record.ts'
import * as accessTokens from './access-tokens.ts'
import { type LedgerTx, lockUser } from '../ledger/ledger-sql.ts'
import { toUser } from '../ledger/rows.ts'
import { createSession, type LedgerOptions } from '../ledger/session.ts'
import type { Database } from '../database.ts'
import { PREPARED } from '../statement.ts'
import * as grants from './grants.ts'
import type { Tables, UserRow } from '../schema.ts'

/** Changes to a user take the same lock as that user's uploads. */
export function createUserStore(database: Database, options: LedgerOptions): UserStore {
  const { now } = database
  const { transaction } = createSession(database, options)
  const locked = <T>(userId: UserId, work: (tx: LedgerTx) => Promise<T>): Promise<T> =>
    transaction(async (tx) => {
      await lockUser(tx, userId)
      await requireUser(tx.db, userId)
      return await work(tx)
    })
  const ofGrants = <T>(userId: UserId, change: (tx: LedgerTx) => Promise<T>): Promise<T> =>
    locked(userId, (tx) => changingCapacity(tx, { userId, change: () => change(tx) }))
  const checked = <T>(userId: UserId, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
    database.query(async (db) => {
      await requireUser(db, userId)
      return await work(db)
    })

  return {
    createUser: (userId) => transaction((tx) => createUser(tx, userId)),
    findUser: (userId) => database.query((db) => findUser(db, userId)),
    setUserStatus: (userId, status) =>
      locked(userId, async (tx) => {
        if (status === 'suspended') await accessTokens.revokeOfJwts(tx, userId)
        return await setStatus(tx.db, { userId, status })
      }),
    deleteUser: (userId) =>
      transaction(async (tx) => {
        await lockUser(tx, userId)
        await setStatus(tx.db, { userId, status: 'deleted' })
      }),
    addAccessToken: (token) => locked(token.userId, (tx) => accessTokens.add(tx, token)),
    findAccessTokenUser: (sha256, options) =>
      database.query((db) =>
        accessTokens.findUser({ db: db.withPlugin(PREPARED), now }, { sha256, ...options }),
      ),
    recordAccessTokenUses: (uses) =>
      database.query((db) => accessTokens.recordUses({ db, now }, uses)),
    listAccessTokens: (filter) => checked(filter.userId, (db) => accessTokens.list(db, filter)),
    revokeAccessToken: (token) => locked(token.userId, (tx) => accessTokens.revoke(tx, token)),
    putGrant: (grant) => ofGrants(grant.userId, (tx) => grants.put(tx, grant)),
    revokeGrant: (grant) =>
      ofGrants(grant.userId, async (tx) => {
        await grants.revoke(tx.db, grant)
        if (grant.source !== DEVICE) return
        await accessTokens.revokeOfDevice(tx, { userId: grant.userId, deviceId: grant.reference })
      }),
    hasDevice: (device) => database.query((db) => grants.hasDevice(db, device)),
    listGrants: (filter) => checked(filter.userId, (db) => grants.list(db, filter)),
  }
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

async function findUser(db: Kysely<Tables>, userId: UserId): Promise<User | undefined> {
  const { rows } = await sql<UserRow>`SELECT * FROM users WHERE id = ${userId}`.execute(db)
  return rows[0] && toUser(rows[0])
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

async function requireUser(db: Kysely<Tables>, userId: UserId): Promise<void> {
  const user = await findUser(db, userId)
  if (user === undefined || user.status === 'deleted') throw userNotFound(userId)
}
