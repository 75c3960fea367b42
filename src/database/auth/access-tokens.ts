import { type Kysely, sql } from 'kysely'
import {
  completeScope,
  expiresTooLate,
  MAX_VALID_TOKENS,
  NOTHING,
  parseScope,
  type Scope,
} from '../../core/auth/scope.ts'
import { AppError, isAppError } from '../../core/errors.ts'
import { accessTokenInvalid, inactiveUser } from '../../core/users/caller.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type {
  AccessToken,
  AccessTokenFilter,
  AccessTokenKey,
  AccessTokenStore,
  AccessTokenUse,
  AccessTokenUser,
  NewAccessToken,
} from '../../core/auth/access-token-store.ts'
import { safeNow } from '../ledger/safe-now.ts'
import { explainReached, reachedBound } from '../../core/quota/shares.ts'
import { heldBy, heldIn, type HeldRow } from '../ledger/held.ts'
import { bigint, type Clocked, type LedgerTx } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import { toUser } from '../ledger/rows.ts'
import type { AccessTokenRow, Tables, UserRow } from '../schema.ts'
import { lockKnownUser, requireUser } from '../users/find-user.ts'
import { hasDevice } from '../quota/grants.ts'
import { revokeAccessToken } from './revocation.ts'

export const ACCESS_TOKEN_OPERATIONS = {
  addAccessToken: { through: 'transaction', run: add, effect: 'grows' },
  findAccessTokenUser: { through: 'queryPrepared', run: findTokenUser, effect: 'reads' },
  recordAccessTokenUses: { through: 'query', run: recordUses, effect: 'frees' },
  listAccessTokens: { through: 'query', run: list, effect: 'reads' },
  revokeAccessToken: { through: 'transaction', run: revokeAccessToken, effect: 'frees' },
} as const satisfies Operations<AccessTokenStore>

async function add(tx: LedgerTx, token: NewAccessToken): Promise<AccessToken> {
  const { db, now } = tx
  const { userId, scope, parent } = token
  await lockKnownUser(tx, userId)
  await forgetEnded(tx, userId)
  await assertBelowLimit(tx, token)
  if (scope?.deviceId !== undefined) await assertDevice(tx, { userId, deviceId: scope.deviceId })
  const ends = await findEnd(tx, token)
  const { rows } = await sql<AccessTokenRow>`
    INSERT INTO access_tokens (sha256, token_id, user_id, label, created_at, expires_at, scope, device_id, parent_id,
      credential)
    SELECT ${token.sha256}, ${token.tokenId}, ${userId}, ${token.label}, instant,
           COALESCE(instant + ${bigint(token.expiresInMs ?? sql`NULL`)}, ${bigint(ends ?? sql`NULL`)}),
           ${scope ? scopeJson(scope) : null}, ${scope?.deviceId ?? null}, ${parent?.tokenId ?? null},
           ${parent?.credential ?? null}
    FROM (SELECT ${now} AS instant) AS moment
    RETURNING *
  `.execute(db)
  if (rows[0] === undefined) throw new TypeError('INSERT ... RETURNING returned no row')
  return toAccessToken(rows[0])
}

async function assertBelowLimit(
  { db, now }: Clocked,
  { userId, parent }: NewAccessToken,
): Promise<void> {
  const { rows } = await sql<HeldRow>`
    SELECT COUNT(*) AS held, ${heldBy(parent?.credential)} AS own FROM access_tokens
    WHERE user_id = ${userId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})
  `.execute(db)
  const reached = reachedBound(MAX_VALID_TOKENS, heldIn(rows[0], parent?.credential))
  if (reached === undefined) return
  const detail = explainReached(reached, 'valid access tokens')
  throw new AppError('access_token_limit_exceeded', detail, {
    facts: { max_access_tokens: reached.bound },
  })
}

async function assertDevice(
  tx: LedgerTx,
  device: { readonly userId: UserId; readonly deviceId: string },
): Promise<void> {
  if (await hasDevice(tx, device)) return
  throw new AppError('not_found', 'The user has no device with this id.')
}

/** When the parent expires; `null` if it never does, or is a JWT. */
async function findEnd(
  tx: Clocked,
  { userId, parent, expiresInMs = 0 }: NewAccessToken,
): Promise<number | null> {
  if (parent === undefined) return null
  if (parent.isJwt) {
    // A suspension has ended what JWTs had made; a parent with a row has ended with it.
    await assertActive(tx.db, userId)
    return null
  }
  const { end, left } = await requireValidToken(tx, { userId, tokenId: parent.tokenId })
  if (left !== null && expiresInMs > left) throw expiresTooLate()
  return end
}

async function assertActive(db: Kysely<Tables>, userId: UserId): Promise<void> {
  const { rows } = await sql<Pick<UserRow, 'status'>>`
    SELECT status FROM users WHERE id = ${userId}
  `.execute(db)
  const status = rows[0]?.status
  if (status !== 'active') throw inactiveUser(status)
}

interface ValidToken {
  readonly end: number | null
  /** Milliseconds until the end. */
  readonly left: number | null
  readonly isChild: boolean
}

/** Under the user's lock, so that the token is not being revoked. Throws `access_token_invalid`. */
export async function requireValidToken(
  { db, now }: Clocked,
  { userId, tokenId }: Pick<AccessTokenKey, 'userId' | 'tokenId'>,
): Promise<ValidToken> {
  const { rows } = await sql<Omit<ValidToken, 'isChild'> & Pick<AccessTokenRow, 'parent_id'>>`
    SELECT expires_at AS "end", expires_at - ${now} AS "left", parent_id FROM access_tokens
    WHERE user_id = ${userId} AND token_id = ${tokenId} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${now})
  `.execute(db)
  if (rows[0] === undefined) throw accessTokenInvalid()
  const { end, left, parent_id: parentId } = rows[0]
  return { end, left, isChild: parentId !== null }
}

const KEPT_ENDED = 100
const FORGOTTEN_AT_ONCE = 100

/** Whoever ends tokens adds them, so the rows stay few. */
async function forgetEnded({ db, now }: Clocked, userId: UserId): Promise<void> {
  await sql`
    DELETE FROM access_tokens WHERE sha256 IN (
      SELECT sha256 FROM access_tokens
      WHERE user_id = ${userId} AND COALESCE(revoked_at, expires_at) <= ${safeNow({ now })}
      ORDER BY COALESCE(revoked_at, expires_at) DESC LIMIT ${FORGOTTEN_AT_ONCE} OFFSET ${KEPT_ENDED}
    )
  `.execute(db)
}

async function findTokenUser(
  { db, now }: Clocked,
  sha256: string,
  { evenExpired }: { readonly evenExpired: boolean } = { evenExpired: false },
): Promise<AccessTokenUser | undefined> {
  const { rows } = await sql<FoundRow>`
    SELECT users.id, status, users.created_at, expires_at - ${now} AS expires_in_ms, token_id, scope, device_id,
      credential
    FROM access_tokens JOIN users ON users.id = access_tokens.user_id
    WHERE access_tokens.sha256 = ${sha256}
      AND revoked_at IS NULL
      ${evenExpired ? sql`` : sql`AND (expires_at IS NULL OR expires_at > ${now})`}
      AND users.status <> 'deleted'
  `.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  return {
    user: toUser(row),
    tokenId: row.token_id,
    scope: toScope(row),
    credential: row.scope === null ? undefined : (row.credential ?? row.token_id),
    isJwt: false,
    expiresInMs: row.expires_in_ms ?? undefined,
  }
}

type FoundRow = UserRow &
  Pick<AccessTokenRow, 'token_id' | 'scope' | 'device_id' | 'credential'> & {
    readonly expires_in_ms: number | null
  }

async function recordUses({ db, now }: Clocked, uses: readonly AccessTokenUse[]): Promise<void> {
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

async function list(
  { db }: Clocked,
  { userId, parentId, page }: AccessTokenFilter,
): Promise<readonly AccessToken[]> {
  await requireUser(db, userId)
  const { after, limit } = page ?? {}
  const further =
    after === undefined
      ? sql``
      : sql`AND (created_at, token_id) > (${after.createdAt}, ${after.tokenId})`
  const atMost = limit === undefined ? sql`` : sql`LIMIT ${limit}`
  const { rows } = await sql<AccessTokenRow>`
    SELECT * FROM access_tokens WHERE user_id = ${userId} ${madeBy(parentId)} ${further}
    ORDER BY created_at, token_id ${atMost}
  `.execute(db)
  return rows.map(toAccessToken)
}

function madeBy(parentId: string | undefined) {
  return parentId === undefined ? sql`` : sql`AND parent_id = ${parentId}`
}

function toAccessToken(row: AccessTokenRow): AccessToken {
  return {
    tokenId: row.token_id,
    userId: row.user_id,
    label: row.label,
    scope: toScope(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  }
}

function toScope({
  scope,
  device_id: deviceId,
}: Pick<AccessTokenRow, 'scope' | 'device_id'>): Scope | undefined {
  if (scope === null) return undefined
  try {
    return completeScope({ ...parseScope(JSON.parse(scope)), deviceId: deviceId ?? undefined })
  } catch (error) {
    if (!isAppError(error)) throw error
    // A later version wrote a scope that this one does not understand.
    return NOTHING
  }
}

/** What the column `scope` has; the device has a column of its own. */
export function scopeJson({ actions, prefix, whenFull }: Scope): string {
  return JSON.stringify({ actions, prefix, when_full: whenFull })
}
