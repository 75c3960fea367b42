import { randomBytes, randomUUID } from 'node:crypto'
import { createTokenVerification } from './token-verification.ts'
import { sha256 } from './sha256.ts'
import { accessTokenInvalid, callerOf, inactiveUser } from '../users/caller.ts'
import { type AskedScope, childScope, completeScope } from './scope.ts'
import type { UserSubject } from './subject.ts'
import { isAppError } from '../errors.ts'
import { assertLife, assertTerms, lifeMs, MAX_EXPIRES_IN_SECONDS, type Terms } from './terms.ts'
import type { FailedAttemptLimiter } from './failed-attempt-limiter.ts'
import type { JwtUsers } from './jwt-users.ts'
import type { UserId } from '../users/user-id.ts'
import type {
  AccessToken,
  AccessTokenKey,
  AccessTokenPage,
  AccessTokenStore,
  AccessTokenUser,
  NewAccessToken,
  TokenMaker,
} from './access-token-store.ts'
import type { User } from '../users/user-store.ts'

export interface IssuedAccessToken extends AccessToken {
  /** `crt_` and 43 base64url characters. Returned only here, and stored nowhere. */
  readonly secret: string
}

export interface TokenTerms extends Terms {
  /** `undefined` permits everything, or as much as the parent does. */
  readonly scope?: AskedScope | undefined
}

export type AccessTokens = ReturnType<typeof createAccessTokens>

export interface AccessTokensOptions {
  readonly users: AccessTokenStore
  readonly jwtUsers?: JwtUsers | undefined
  /** If omitted, guessing is not limited. */
  readonly failedAttempts?: FailedAttemptLimiter | undefined
  /** How long a token may live at most that a user makes; without it, as long as the user says. */
  readonly maxLifeMs?: number | undefined
  /** How long `verify` caches an answer; 5000 by default, 0 to disable the cache. */
  readonly cacheMs?: number | undefined
  readonly clock?: () => number
}

/** Bounds how long other instances accept a revoked token. */
const CACHE_MS = 5_000

/** Creates the use cases of access tokens (docs/administration.md). */
export function createAccessTokens(options: AccessTokensOptions) {
  const { users, jwtUsers, failedAttempts, maxLifeMs } = options
  const { cacheMs = CACHE_MS, clock = () => performance.now() } = options
  const uses = createLastUsed(users, clock)

  const onUse = (sha256: string): void => uses.note(sha256)
  const verification = { users, jwtUsers, failedAttempts, cacheMs, onUse, clock }
  const lookup = createTokenVerification(verification)

  async function find(secret: string, ip?: string): Promise<AccessTokenUser> {
    return notSuspended(await lookup.find(secret, ip))
  }

  async function inspect(secret: string): Promise<AccessTokenUser> {
    const found = await lookup.read(secret)
    if (found === undefined) throw accessTokenInvalid()
    return notSuspended(found)
  }

  /** The current user of a token that was valid before. A token that has only expired since then is still accepted. */
  async function findAgain(secret: string): Promise<User | undefined> {
    try {
      // No address: a revoked token is not a guess.
      return (await lookup.find(secret, undefined)).user
    } catch (error) {
      if (!isAppError(error, 'access_token_invalid')) throw error
      return (await lookup.read(secret, { evenExpired: true }))?.user
    }
  }

  async function add(
    { label, expiresInSeconds }: TokenTerms,
    token: Pick<NewAccessToken, 'userId' | 'scope' | 'parent' | 'expiresInMs' | 'maxLifeMs'>,
  ): Promise<IssuedAccessToken> {
    assertTerms({ label, expiresInSeconds })
    const secret = `crt_${randomBytes(32).toString('base64url')}`
    const stored = { ...token, tokenId: randomUUID(), sha256: sha256(secret), label }
    return { ...(await users.addAccessToken(stored)), secret }
  }

  return {
    /** How long a token may live at most that a user makes; `undefined` for as long as the user says. */
    maxLifeMs,

    /**
     * Returns the user of an issued token, or of a JWT if configured. The user's state is at most 5 s old and includes
     * all changes made through this object. Rejects with `access_token_invalid` (also if the token is expired or
     * revoked, or its user deleted), with `user_suspended`, with `unavailable`, or with `too_many_requests` if `ip` is
     * blocked (see `createTokenVerification`).
     */
    verify: async (secret: string, ip?: string) => (await find(secret, ip)).user,

    /** Like `verify`, for a request that acts on behalf of its user and may take long. */
    async authenticate(secret: string, ip?: string): Promise<UserSubject> {
      const { user, tokenId, scope, credential } = await find(secret, ip)
      const { userId, userCreatedAt } = callerOf(user)
      return {
        kind: 'user',
        userId,
        userCreatedAt,
        tokenId,
        scope,
        credential,
        deviceId: scope?.deviceId,
        inspect: () => inspect(secret),
        async reverify() {
          const found = await findAgain(secret)
          const isSame = found?.userId === userId && found.createdAt === userCreatedAt
          if (!isSame || found.status !== 'active')
            throw inactiveUser(isSame ? found.status : undefined)
        },
      }
    },

    /**
     * Guarantees a new token for an existing user, valid for `expiresInSeconds` if given, and until it is revoked.
     * Operators issue it, so `maxLifeMs` does not bound it.
     * Rejects with `not_found` also for a device that the user has not, and with `access_token_limit_exceeded`.
     */
    async issue(token: TokenTerms & { readonly userId: UserId }): Promise<IssuedAccessToken> {
      const { userId } = token
      const scope = token.scope && completeScope(token.scope)
      return await add(token, { userId, scope, parent: undefined, expiresInMs: lifeMs(token) })
    },

    /**
     * As `issue`, with the subject's token as the parent: the new token permits no more, is revoked with it, and if it
     * has a scope, expires with it at the latest. Rejects with `scope_insufficient` if more is asked, and with
     * `invalid_parameter` for a longer life than `maxLifeMs`.
     */
    async issueChild(
      token: TokenTerms & { readonly subject: UserSubject },
    ): Promise<IssuedAccessToken> {
      const { userId, inspect } = token.subject
      assertLife(token, maxLifeMs)
      const parent = await inspect()
      const scope = childScope(parent, token.scope)
      const expiresInMs = lifeMs(token)
      return await add(token, { userId, scope, parent: makerOf(parent), expiresInMs, maxLifeMs })
    },

    /** Like `verify`, and also returns the current expiry from the database or the JWT. */
    async inspect(secret: string, ip?: string): Promise<AccessTokenUser> {
      await find(secret, ip)
      return await inspect(secret)
    },

    /** A user's tokens, oldest first; with `parentId`, only those that this token has made. */
    list: (userId: UserId, page?: AccessTokenPage, parentId?: string) =>
      users.listAccessTokens({ userId, parentId, page }),

    /**
     * Guarantees that the token, and those made with it, are refused: on this instance at once, on others within 5 s.
     * Idempotent. Rejects with `not_found` if the user has no such token, or its end was long ago.
     */
    async revoke(token: AccessTokenKey): Promise<void> {
      try {
        await users.revokeAccessToken(token)
      } finally {
        // Also after a failure: the revocation may have happened unanswered.
        lookup.forgetUser(token.userId)
      }
    },

    /** Guarantees that `verify` returns no state of the user from before this call. Called after each change. */
    forgetUser: (userId: UserId) => lookup.forgetUser(userId),
    /**
     * Writes `last_used_at`. Called about once a minute. If it rejects with `unavailable`, only times of last use are
     * lost.
     */
    recordUses: () => uses.record(),
  }
}

function notSuspended(found: AccessTokenUser): AccessTokenUser {
  const { status } = found.user
  if (status === 'suspended') throw inactiveUser(status)
  return found
}

/** Of a JWT's life: the tolerance of its verification, and the time until the new token is written. */
const WRITE_MARGIN_MS = 10_000

/** The token as one that makes another, or a link. */
export function makerOf(token: AccessTokenUser): TokenMaker {
  const { tokenId, isJwt, scope, credential } = token
  const leftMs = isJwt ? leftOfJwt(token) : undefined
  return { tokenId, isJwt, isScoped: scope !== undefined, leftMs, credential }
}

function leftOfJwt(jwt: Pick<AccessTokenUser, 'expiresInMs'>): number {
  const leftMs = Math.floor((jwt.expiresInMs ?? 0) - WRITE_MARGIN_MS)
  return Math.min(leftMs, MAX_EXPIRES_IN_SECONDS * 1000)
}

/** Bounds memory: further tokens are ignored until the next `record`. */
const MAX_NOTED = 50_000
const PAGE = 500

/** Collects token uses, so that `last_used_at` costs one statement for many requests and delays none. */
export function createLastUsed(users: AccessTokenStore, clock: () => number) {
  let usedAt = new Map<string, number>()
  return {
    note(sha256: string): void {
      if (usedAt.size < MAX_NOTED || usedAt.has(sha256)) usedAt.set(sha256, clock())
    },

    async record(): Promise<void> {
      const noted = [...usedAt]
      usedAt = new Map()
      for (let from = 0; from < noted.length; from += PAGE) {
        const now = clock()
        const page = noted.slice(from, from + PAGE)
        await users.recordAccessTokenUses(
          page.map(([sha256, at]) => ({ sha256, agoMs: Math.max(0, Math.round(now - at)) })),
        )
      }
    },
  }
}
