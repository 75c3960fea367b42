import { randomBytes, randomUUID } from 'node:crypto'
import { createTokenVerification, sha256 } from './token-verification.ts'
import {
  accessTokenInvalid,
  type AuthorizedCaller,
  callerOf,
  inactiveUser,
} from '../users/caller.ts'
import { isAppError, invalidParameter } from '../errors.ts'
import type { FailedAttemptLimiter } from './failed-attempt-limiter.ts'
import type { JwtUsers } from './jwt-users.ts'
import type { UserId } from '../users/user-id.ts'
import type {
  AccessToken,
  AccessTokenKey,
  AccessTokenPage,
  AccessTokenUser,
  User,
  UserStore,
} from '../users/user-store.ts'

export interface IssuedAccessToken extends AccessToken {
  /** `crt_` and 43 base64url characters. Returned only here, and stored nowhere. */
  readonly secret: string
}

export interface AccessTokens {
  /** Guarantees a new token for an existing user, valid for `expiresInSeconds` if given, and until it is revoked. */
  issue(token: {
    readonly userId: UserId
    readonly label: string
    readonly expiresInSeconds: number | undefined
  }): Promise<IssuedAccessToken>

  /**
   * Returns the user of an issued token, or of a JWT if configured. The user's state is at most 5 s old and includes
   * all changes made through this object. Rejects with `access_token_invalid` (also if the token is expired or revoked,
   * or its user deleted), with `user_suspended`, with `unavailable`, or with `too_many_requests` if `ip` is blocked
   * (see `TokenVerification`).
   */
  verify(secret: string, ip?: string): Promise<User>

  /** Like `verify`, for a request that acts on behalf of its user and may take long. */
  authenticate(secret: string, ip?: string): Promise<AuthorizedCaller>

  /** Like `verify`, and also returns the current expiry from the database or the JWT. */
  inspect(secret: string, ip?: string): Promise<AccessTokenUser>

  list(userId: UserId, page?: AccessTokenPage): Promise<readonly AccessToken[]>

  /**
   * Guarantees that the token is refused: on this instance at once, on others within 5 s. Idempotent. Rejects with
   * `not_found` if the user has no such token, or its end was long ago.
   */
  revoke(token: AccessTokenKey): Promise<void>

  /** Guarantees that `verify` returns no state of the user from before this call. Called after each change. */
  forgetUser(userId: UserId): void

  /**
   * Writes `last_used_at`. Called about once a minute. If it rejects with `unavailable`, only times of last use are
   * lost.
   */
  recordUses(): Promise<void>
}

export interface AccessTokensOptions {
  readonly users: UserStore
  readonly jwtUsers?: JwtUsers | undefined
  /** If omitted, guessing is not limited. */
  readonly failedAttempts?: FailedAttemptLimiter | undefined
  /** How long `verify` caches an answer; 5000 by default, 0 to disable the cache. */
  readonly cacheMs?: number | undefined
  readonly clock?: () => number
}

/** The length is in UTF-16 code units. */
export const MAX_LABEL_LENGTH = 200

/** Bounds how long other instances accept a revoked token. */
const CACHE_MS = 5_000

/** JSON Schema pattern: no control characters, which a terminal would obey. */
export const LABEL_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const LABEL = new RegExp(LABEL_PATTERN)

/** Creates the use cases of access tokens (docs/administration.md). */
export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { users, jwtUsers, failedAttempts } = options
  const { cacheMs = CACHE_MS, clock = () => performance.now() } = options
  const uses = createLastUsed(users, clock)

  const onUse = uses.note
  const ports = { users, jwtUsers, failedAttempts }
  const lookup = createTokenVerification({ ...ports, cacheMs, onUse, clock })

  async function verify(secret: string, ip?: string): Promise<User> {
    const user = await lookup.find(secret, ip)
    if (user.status === 'suspended') throw inactiveUser(user.status)
    return user
  }

  /** The current user of a token that was valid before. A token that has only expired since then is still accepted. */
  async function findAgain(secret: string): Promise<User | undefined> {
    try {
      // No address: a revoked token is not a guess.
      return await lookup.find(secret, undefined)
    } catch (error) {
      if (!isAppError(error, 'access_token_invalid')) throw error
      return (await lookup.read(secret, { evenExpired: true }))?.user
    }
  }

  return {
    verify,

    async authenticate(secret, ip) {
      const caller = callerOf(await verify(secret, ip))
      return {
        ...caller,
        async reverify() {
          const found = await findAgain(secret)
          const isSame = found?.userId === caller.userId && found.createdAt === caller.userCreatedAt
          if (!isSame || found.status !== 'active')
            throw inactiveUser(isSame ? found.status : undefined)
        },
      }
    },

    async issue({ userId, label, expiresInSeconds }) {
      assertTerms({ label, expiresInSeconds })
      const secret = `crt_${randomBytes(32).toString('base64url')}`
      const token = await users.addAccessToken({
        userId,
        tokenId: randomUUID(),
        sha256: sha256(secret),
        label,
        expiresInMs: expiresInSeconds === undefined ? undefined : expiresInSeconds * 1000,
      })
      return { ...token, secret }
    },

    async inspect(secret, ip) {
      await verify(secret, ip)
      const found = await lookup.read(secret)
      if (found === undefined) throw accessTokenInvalid()
      if (found.user.status === 'suspended') throw inactiveUser(found.user.status)
      return found
    },

    list: (userId, page) => users.listAccessTokens({ userId, page }),

    async revoke(token) {
      try {
        await users.revokeAccessToken(token)
      } finally {
        // Also after a failure: the revocation may have happened unanswered.
        lookup.forgetUser(token.userId)
      }
    },

    forgetUser: (userId) => lookup.forgetUser(userId),
    recordUses: () => uses.record(),
  }
}

function assertTerms(terms: { label: string; expiresInSeconds: number | undefined }): void {
  const { label, expiresInSeconds } = terms
  // Unpaired surrogates are refused: not every database accepts them.
  if (label.length > MAX_LABEL_LENGTH || !LABEL.test(label) || !label.isWellFormed()) {
    throw invalidParameter(
      'label',
      `label must be at most ${MAX_LABEL_LENGTH} characters and must not contain control characters.`,
    )
  }
  const seconds = expiresInSeconds ?? 1
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > MAX_EXPIRES_IN_SECONDS) {
    throw invalidParameter(
      'expires_in',
      `expires_in must be a whole number of seconds between 1 and ${MAX_EXPIRES_IN_SECONDS}.`,
    )
  }
}

/** A hundred years: every client can still parse the expiry. */
export const MAX_EXPIRES_IN_SECONDS = 100 * 366 * 24 * 3600

export interface LastUsed {
  readonly note: (sha256: string) => void

  record(): Promise<void>
}

/** Bounds memory: further tokens are ignored until the next `record`. */
const MAX_NOTED = 50_000
const PAGE = 500

/** Collects token uses, so that `last_used_at` costs one statement for many requests and delays none. */
export function createLastUsed(users: UserStore, clock: () => number): LastUsed {
  let usedAt = new Map<string, number>()
  return {
    note(sha256) {
      if (usedAt.size < MAX_NOTED || usedAt.has(sha256)) usedAt.set(sha256, clock())
    },

    async record() {
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
