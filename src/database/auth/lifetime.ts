import { sql } from 'kysely'
import type { AccessTokenKey, TokenMaker } from '../../core/auth/access-token-store.ts'
import { lifeWithin } from '../../core/auth/scope.ts'
import { accessTokenInvalid } from '../../core/users/caller.ts'
import type { UserId } from '../../core/users/user-id.ts'
import { bigint, type Clock, type Clocked } from '../ledger/ledger-sql.ts'

interface AskedLifetime {
  readonly userId: UserId
  readonly maker: TokenMaker
  readonly askedMs: number | undefined
  readonly maxLifeMs: number | undefined
}

/** How long a new token or link lives. */
export interface Lifetime {
  /** `undefined` if it does not expire. */
  readonly lifeMs: number | undefined
  /** When the token that makes it expires, by the row of that token; `undefined` if it may outlive that token. */
  readonly end?: number | undefined
  /** The same, in milliseconds from now. A JWT, which has no row, has this alone. */
  readonly makerMs?: number | undefined
}

/**
 * The lifetime of a token or link that a token makes. Call it under the user's lock. A token without a scope speaks for
 * the user, so what it makes may outlive it. Throws `access_token_invalid` if the maker is no longer valid, and as
 * `lifeWithin` does.
 */
export async function lifetimeOf(
  tx: Clocked,
  { userId, maker, askedMs, maxLifeMs: maxMs }: AskedLifetime,
): Promise<Lifetime> {
  const { tokenId, isJwt, isScoped } = maker
  const { end, left } = isJwt
    ? { left: maker.leftMs }
    : await requireValidToken(tx, { userId, tokenId })
  if (!isScoped) return { lifeMs: lifeWithin({ askedMs, makerMs: undefined, maxMs }) }
  const makerMs = left ?? undefined
  return { lifeMs: lifeWithin({ askedMs, makerMs, maxMs }), end: end ?? undefined, makerMs }
}

interface ValidToken {
  readonly end: number | null
  /** Milliseconds until the end. */
  readonly left: number | null
}

/** Under the user's lock, so that the token is not being revoked. */
async function requireValidToken(
  { db, now }: Clocked,
  { userId, tokenId }: Pick<AccessTokenKey, 'userId' | 'tokenId'>,
): Promise<ValidToken> {
  const { rows } = await sql<ValidToken>`
    SELECT expires_at AS "end", expires_at - ${now} AS "left" FROM access_tokens
    WHERE user_id = ${userId} AND token_id = ${tokenId} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${now})
  `.execute(db)
  if (rows[0] === undefined) throw accessTokenInvalid()
  return rows[0]
}

/** SQL for a table of one row: `created_at`, which is now, `expires_at`, and `maker_ends_at`, which it must not outlive. */
export function datesOf({ now }: Clock, { lifeMs, end, makerMs }: Lifetime) {
  return sql`(
    SELECT created_at, maker_ends_at,
      CASE WHEN maker_ends_at < expiry THEN maker_ends_at ELSE expiry END AS expires_at
    FROM (
      SELECT created_at, created_at + ${bigint(lifeMs ?? sql`NULL`)} AS expiry,
        COALESCE(${bigint(end ?? sql`NULL`)}, created_at + ${bigint(makerMs ?? sql`NULL`)}) AS maker_ends_at
      FROM (SELECT ${now} AS created_at) AS moment
    ) AS ends
  ) AS dates`
}
