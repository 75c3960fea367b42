import { sql } from 'kysely'
import type { AccessTokenKey } from '../../core/auth/access-token-store.ts'
import { isJwtId } from '../../core/auth/jwt-users.ts'
import { AppError } from '../../core/errors.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type { Clocked, LedgerTx } from '../ledger/ledger-sql.ts'
import type { AccessTokenRow } from '../schema.ts'
import { lockKnownUser } from '../users/find-user.ts'

/** Under the user's lock, like adding one: otherwise a token could be made with one that is being revoked. */
export async function revokeAccessToken(
  tx: LedgerTx,
  { userId, tokenId, parentId }: AccessTokenKey,
): Promise<void> {
  const { db, now } = tx
  await lockKnownUser(tx, userId)
  const { rows } = await sql<Descent>`
    SELECT token_id, parent_id FROM access_tokens WHERE user_id = ${userId}
  `.execute(db)
  const own = rows.find((row) => row.token_id === tokenId)
  if (own === undefined || (parentId !== undefined && own.parent_id !== parentId)) {
    throw new AppError('not_found', 'The user has no access token with this id.')
  }
  await end({ db, now }, { userId, tokenIds: descendantsOf(tokenId, rows) })
}

/** Ends the tokens, and the links that they have made. */
async function end(
  { db, now }: Clocked,
  { userId, tokenIds }: { readonly userId: UserId; readonly tokenIds: ReadonlySet<string> },
): Promise<void> {
  const ended = sql`user_id = ${userId} AND token_id IN (${sql.join([...tokenIds])})`
  await sql`
    UPDATE access_tokens SET revoked_at = COALESCE(revoked_at, ${now}) WHERE ${ended}
  `.execute(db)
  await sql`DELETE FROM links WHERE ${ended}`.execute(db)
}

type Descent = Pick<AccessTokenRow, 'token_id' | 'parent_id'>

/** Call it under the user's lock: ends the tokens and links that JWTs have made, and what was made with those tokens. */
export async function revokeOfJwts({ db, now }: Clocked, userId: UserId): Promise<void> {
  const { rows } = await sql<Descent>`
    SELECT token_id, parent_id FROM access_tokens WHERE user_id = ${userId}
  `.execute(db)
  const ended = new Set<string>()
  for (const { parent_id: parentId } of rows) {
    if (parentId === null || !isJwtId(parentId)) continue
    for (const id of descendantsOf(parentId, rows)) ended.add(id)
  }
  const { rows: makers } = await sql<{ readonly token_id: string }>`
    SELECT DISTINCT token_id FROM links WHERE user_id = ${userId}
  `.execute(db)
  for (const { token_id: id } of makers) if (isJwtId(id)) ended.add(id)
  if (ended.size > 0) await end({ db, now }, { userId, tokenIds: ended })
}

/** The token, what was made with it, with those, and so on. */
function descendantsOf(tokenId: string, rows: readonly Descent[]): ReadonlySet<string> {
  const children = Map.groupBy(rows, (row) => row.parent_id)
  const found = new Set([tokenId])
  // A set also iterates over what is added meanwhile.
  for (const parentId of found) {
    for (const child of children.get(parentId) ?? []) found.add(child.token_id)
  }
  return found
}

/** Call it under the user's lock. */
export async function revokeOfDevice(
  { db, now }: Clocked,
  { userId, deviceId }: { readonly userId: UserId; readonly deviceId: string },
): Promise<void> {
  await sql`
    UPDATE access_tokens SET revoked_at = ${now}
    WHERE user_id = ${userId} AND device_id = ${deviceId} AND revoked_at IS NULL
  `.execute(db)
  await sql`DELETE FROM links WHERE user_id = ${userId} AND device_id = ${deviceId}`.execute(db)
}
