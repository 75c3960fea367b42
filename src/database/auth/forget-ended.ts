import { type Kysely, sql } from 'kysely'
import type { UserId } from '../../core/users/user-id.ts'
import type { Clocked } from '../ledger/ledger-sql.ts'
import { safeNow } from '../ledger/safe-now.ts'
import type { AccessTokenRow, Tables } from '../schema.ts'

const KEPT_ENDED = 100
const FORGOTTEN_AT_ONCE = 100

type Forgotten = Pick<AccessTokenRow, 'token_id' | 'parent_id' | 'scope'>

/**
 * Deletes up to 100 of the user's ended tokens, never one of the 100 that ended last. Call it under the user's lock
 * whenever a token is added, which keeps the rows few. A token that has made a valid token or a link is kept, so that
 * revoking it still ends these. Other tokens that a deleted one has made get its parent, so that revoking an ancestor
 * still reaches all its descendants.
 */
export async function forgetEnded({ db, now }: Clocked, userId: UserId): Promise<void> {
  const ended = sql`COALESCE(revoked_at, expires_at)`
  const safe = safeNow({ now })
  const { rows } = await sql<Forgotten>`
    DELETE FROM access_tokens WHERE sha256 IN (
      SELECT sha256 FROM (
        SELECT sha256, token_id FROM access_tokens
        WHERE user_id = ${userId} AND ${ended} <= ${safe}
        ORDER BY ${ended} DESC LIMIT ${MOST} OFFSET ${KEPT_ENDED}
      ) AS old
      WHERE token_id NOT IN (
        SELECT parent_id FROM access_tokens
        WHERE user_id = ${userId} AND parent_id IS NOT NULL AND (${ended} IS NULL OR ${ended} > ${safe})
        UNION ALL SELECT token_id FROM links WHERE user_id = ${userId}
      )
      LIMIT ${FORGOTTEN_AT_ONCE}
    )
    RETURNING token_id, parent_id, scope
  `.execute(db)
  await passToParents(db, { userId, forgotten: rows })
}

/** More rows than a user can have: SQLite takes no `OFFSET` without a `LIMIT`. */
const MOST = 2 ** 31

/** Tokens with a scope are left out: what they have made has ended with them. */
async function passToParents(
  db: Kysely<Tables>,
  { userId, forgotten }: { readonly userId: UserId; readonly forgotten: readonly Forgotten[] },
): Promise<void> {
  const parents = new Map(
    forgotten.filter(({ scope }) => scope === null).map((row) => [row.token_id, row.parent_id]),
  )
  if (parents.size === 0) return
  const ancestors = [...parents.keys()].map((id) => {
    let ancestor: string | null | undefined = id
    while (typeof ancestor === 'string' && parents.has(ancestor)) ancestor = parents.get(ancestor)
    return sql`(CAST(${id} AS TEXT), CAST(${ancestor ?? null} AS TEXT))`
  })
  await sql`
    WITH deleted (token_id, ancestor) AS (VALUES ${sql.join(ancestors)})
    UPDATE access_tokens SET parent_id = deleted.ancestor FROM deleted
    WHERE user_id = ${userId} AND parent_id = deleted.token_id
  `.execute(db)
}
