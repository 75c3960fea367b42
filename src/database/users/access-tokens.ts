import { type Kysely, sql } from 'kysely'
import { AppError } from '../../core/errors.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type {
  AccessToken,
  AccessTokenFilter,
  AccessTokenKey,
  AccessTokenUse,
  AccessTokenUser,
  NewAccessToken,
} from '../../core/users/user-store.ts'
import { bigint, type Clocked } from '../ledger/ledger-sql.ts'
import { toUser } from '../ledger/rows.ts'
import type { AccessTokenRow, Tables, UserRow } from '../schema.ts'

/** Call it under the user's lock. */
export async function add(tx: Clocked, token: NewAccessToken): Promise<AccessToken> {
  const { db, now } = tx
  await forgetEnded(tx, token.userId)
  const { rows } = await sql<AccessTokenRow>`
    INSERT INTO access_tokens (sha256, token_id, user_id, label, created_at, expires_at)
    SELECT ${token.sha256}, ${token.tokenId}, ${token.userId}, ${token.label}, instant,
           instant + ${bigint(token.expiresInMs ?? sql`NULL`)}
    FROM (SELECT ${now} AS instant) AS moment
    RETURNING *
  `.execute(db)
  if (rows[0] === undefined) throw new TypeError('INSERT ... RETURNING returned no row')
  return toAccessToken(rows[0])
}

const KEPT_ENDED = 100
const FORGOTTEN_AT_ONCE = 100

/** Whoever ends tokens adds them, so the rows stay few. */
async function forgetEnded({ db, now }: Clocked, userId: UserId): Promise<void> {
  await sql`
    DELETE FROM access_tokens WHERE sha256 IN (
      SELECT sha256 FROM access_tokens
      WHERE user_id = ${userId} AND COALESCE(revoked_at, expires_at) <= ${now}
      ORDER BY COALESCE(revoked_at, expires_at) DESC LIMIT ${FORGOTTEN_AT_ONCE} OFFSET ${KEPT_ENDED}
    )
  `.execute(db)
}

export async function findUser(
  { db, now }: Clocked,
  { sha256, evenExpired = false }: { readonly sha256: string; readonly evenExpired?: boolean },
): Promise<AccessTokenUser | undefined> {
  const { rows } = await sql<FoundRow>`
    SELECT users.id, status, users.created_at, expires_at - ${now} AS expires_in_ms
    FROM access_tokens JOIN users ON users.id = access_tokens.user_id
    WHERE access_tokens.sha256 = ${sha256}
      AND revoked_at IS NULL
      ${evenExpired ? sql`` : sql`AND (expires_at IS NULL OR expires_at > ${now})`}
      AND users.status <> 'deleted'
  `.execute(db)
  const [row] = rows
  return row && { user: toUser(row), expiresInMs: row.expires_in_ms ?? undefined }
}

type FoundRow = UserRow & { readonly expires_in_ms: number | null }

export async function recordUses(
  { db, now }: Clocked,
  uses: readonly AccessTokenUse[],
): Promise<void> {
  if (uses.length === 0) return
  const rows = uses.map(({ sha256, agoMs }) => sql`(CAST(${sha256} AS TEXT), ${bigint(agoMs)})`)
  await sql`
    WITH uses (sha256, ago) AS (VALUES ${sql.join(rows)})
    UPDATE access_tokens SET last_used_at = ${now} - uses.ago
    FROM uses
    WHERE access_tokens.sha256 = uses.sha256
      AND (last_used_at IS NULL OR last_used_at < ${now} - uses.ago)
  `.execute(db)
}

export async function list(
  db: Kysely<Tables>,
  { userId, page }: AccessTokenFilter,
): Promise<readonly AccessToken[]> {
  const { after, limit } = page ?? {}
  const further =
    after === undefined
      ? sql``
      : sql`AND (created_at, token_id) > (${after.createdAt}, ${after.tokenId})`
  const atMost = limit === undefined ? sql`` : sql`LIMIT ${limit}`
  const { rows } = await sql<AccessTokenRow>`
    SELECT * FROM access_tokens WHERE user_id = ${userId} ${further}
    ORDER BY created_at, token_id ${atMost}
  `.execute(db)
  return rows.map(toAccessToken)
}

export async function revoke(
  { db, now }: Clocked,
  { userId, tokenId }: AccessTokenKey,
): Promise<void> {
  const { numAffectedRows } = await sql`
    UPDATE access_tokens SET revoked_at = COALESCE(revoked_at, ${now})
    WHERE user_id = ${userId} AND token_id = ${tokenId}
  `.execute(db)
  if (numAffectedRows === 1n) return
  throw new AppError('not_found', 'The user has no access token with this id.')
}

function toAccessToken(row: AccessTokenRow): AccessToken {
  return {
    tokenId: row.token_id,
    userId: row.user_id,
    label: row.label,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  }
}
