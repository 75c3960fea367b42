import { type Kysely, sql } from 'kysely'
import {
  completeScope,
  MAX_VALID_TOKENS,
  NOTHING,
  parseScope,
  type Scope,
} from '../../core/auth/scope.ts'
import { AppError, isAppError } from '../../core/errors.ts'
import { inactiveUser } from '../../core/users/caller.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type {
  AccessToken,
  AccessTokenFilter,
  AccessTokenStore,
  AccessTokenUse,
  AccessTokenUser,
  NewAccessToken,
} from '../../core/auth/access-token-store.ts'
import { explainReached, reachedBound } from '../../core/quota/shares.ts'
import { heldBy, heldIn, type HeldRow } from '../ledger/held.ts'
import { bigint, type Clocked, type LedgerTx } from '../ledger/ledger-sql.ts'
import type { Operations } from '../operations/operation.ts'
import { toUser } from '../ledger/rows.ts'
import type { AccessTokenRow, Tables, UserRow } from '../schema.ts'
import { lockKnownUser, requireUser } from '../users/find-user.ts'
import { hasDevice } from '../quota/grants.ts'
import { forgetEnded } from './forget-ended.ts'
import { datesOf, type Lifetime, lifetimeOf } from './lifetime.ts'
import { revokeAccessToken } from './revocation.ts'

export const ACCESS_TOKEN_OPERATIONS = {
  addAccessToken: { through: 'transaction', run: add, effect: 'grows' },
  findAccessTokenUser: { through: 'queryPrepared', run: findTokenUser, effect: 'reads' },
  recordAccessTokenUses: { through: 'query', run: recordUses, effect: 'frees' },
  listAccessTokens: { through: 'query', run: list, effect: 'reads' },
  revokeAccessToken: { through: 'transaction', run: revokeAccessToken, effect: 'frees' },
} as const satisfies Operations<AccessTokenStore>

async function add(tx: LedgerTx, token: NewAccessToken): Promise<AccessToken> {
  const { db } = tx
  const { userId, scope, parent } = token
  await lockKnownUser(tx, userId)
  await forgetEnded(tx, userId)
  await assertBelowLimit(tx, token)
  if (scope?.deviceId !== undefined) await assertDevice(tx, { userId, deviceId: scope.deviceId })
  const lifetime = await lifetimeOfToken(tx, token)
  const { rows } = await sql<AccessTokenRow>`
    INSERT INTO access_tokens (sha256, token_id, user_id, label, created_at, expires_at, scope, device_id, parent_id,
      credential)
    SELECT ${token.sha256}, ${token.tokenId}, ${userId}, ${token.label}, created_at, expires_at,
           ${scope ? scopeJson(scope) : null}, ${scope?.deviceId ?? null}, ${parent?.tokenId ?? null},
           ${parent?.credential ?? null}
    FROM ${datesOf(tx, lifetime)}
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

async function lifetimeOfToken(tx: Clocked, token: NewAccessToken): Promise<Lifetime> {
  const { userId, parent: maker, expiresInMs: askedMs, maxLifeMs } = token
  if (maker === undefined) return { lifeMs: askedMs }
  // A suspension has ended what JWTs had made; a parent with a row has ended with it.
  if (maker.isJwt) await assertActive(tx.db, userId)
  return await lifetimeOf(tx, { userId, maker, askedMs, maxLifeMs })
}

async function assertActive(db: Kysely<Tables>, userId: UserId): Promise<void> {
  const { rows } = await sql<Pick<UserRow, 'status'>>`
    SELECT status FROM users WHERE id = ${userId}
  `.execute(db)
  const status = rows[0]?.status
  if (status !== 'active') throw inactiveUser(status)
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
    parentId: row.parent_id ?? undefined,
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
