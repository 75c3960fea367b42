import { randomBytes, randomUUID } from 'node:crypto'
import { createTokenVerification, sha256 } from './token-verification.ts'
import {
  accessTokenInvalid,
  type AuthorizedCaller,
  callerOf,
  inactiveUser,
} from '../users/caller.ts'
import { AppError, isAppError } from '../errors.ts'
import type { FailedAttemptLimiter } from './failed-attempt-limiter.ts'
import type { JwtUsers } from './jwt-users.ts'
import type { UserId } from '../users/user-id.ts'
import type {
  AccessToken,
  AccessTokenKey,
  AccessTokenUser,
  User,
  UserStore,
} from '../users/user-store.ts'

export interface IssuedAccessToken extends AccessToken {
  /** The secret: `crt_` and 43 base64url characters. It is stored nowhere, so this is the only time it is known. */
  readonly secret: string
}

export interface AccessTokens {
  /** Guarantees a new token for an existing user, valid for `expiresInSeconds`, or until it is revoked. */
  issue(token: {
    readonly userId: UserId
    readonly label: string
    readonly expiresInSeconds: number | undefined
  }): Promise<IssuedAccessToken>

  /**
   * Returns the user that `secret` stands for: an issued token, or a JWT where the service takes them. Rejects with
   * `access_token_invalid` when it is malformed, unknown, expired, revoked or its user is deleted, with
   * `user_suspended` when its user is suspended, and with `unavailable` when that can't be found out. What it answers
   * was true at most 5 s ago, and takes in all that was changed through this object.
   *
   * Where it is said from which IP address the token came, wrong ones are counted, and those of an address that is blocked
   * for them are refused with `too_many_requests`; see `TokenVerification`.
   */
  verify(secret: string, ip?: string): Promise<User>

  /** As `verify`, for a request that acts as its user and may take its time. */
  admit(secret: string, ip?: string): Promise<AuthorizedCaller>

  /** As `verify`, and says how long the token will be good, as the database or the JWT has it now. */
  inspect(secret: string, ip?: string): Promise<AccessTokenUser>

  /** See `UserStore.listAccessTokens`. */
  list(userId: UserId): Promise<readonly AccessToken[]>

  /**
   * Guarantees that the token is refused: here at once, on other instances within 5 s. `not_found` for a token the
   * user never had; idempotent.
   */
  revoke(token: AccessTokenKey): Promise<void>

  /** Guarantees that what `verify` answers from now on is no older than this call. For whoever changes a user. */
  forgetUser(userId: UserId): void

  /**
   * Writes `last_used_at` of the tokens that were used since the last call. To be called about once a minute. Rejects
   * with `unavailable`, which loses the time stamps and nothing else.
   */
  recordUses(): Promise<void>
}

export interface AccessTokensOptions {
  readonly users: UserStore
  /** Without it a JWT is an invalid token. */
  readonly jwtUsers?: JwtUsers | undefined
  /** Without it tokens may be guessed at will. */
  readonly failedAttempts?: FailedAttemptLimiter | undefined
  /** How long an answer of `verify` may be repeated, in milliseconds: 5000 when left out, 0 for never. */
  readonly cacheMs?: number
  /** Milliseconds from any beginning, never going back. */
  readonly clock?: () => number
}

/** In UTF-16 code units. */
export const MAX_LABEL_LENGTH = 200

/** With it a revocation is in force on every instance. */
const CACHE_MS = 5_000

/** A label, as JSON Schema takes it: without controls, which a terminal obeys. */
export const LABEL_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const LABEL = new RegExp(LABEL_PATTERN)

/** Makes the use cases of access tokens (docs/administration.md). */
export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { users, jwtUsers, failedAttempts } = options
  const { cacheMs = CACHE_MS, clock = () => performance.now() } = options
  const uses = createLastUsed({ users, clock })

  const onUse = uses.note
  const ports = { users, jwtUsers, failedAttempts }
  const lookup = createTokenVerification({ ...ports, cacheMs, onUse, clock })

  async function verify(secret: string, ip?: string): Promise<User> {
    const user = await lookup.find(secret, ip)
    if (user.status === 'suspended') throw inactiveUser(user.status)
    return user
  }

  /** Whom a token that was good before stands for now; its expiry ends nothing that has begun. */
  async function findAgain(secret: string): Promise<User | undefined> {
    try {
      // Without an address: a token that was taken back is no guess.
      return await lookup.find(secret, undefined)
    } catch (error) {
      if (!isAppError(error, 'access_token_invalid')) throw error
      return (await lookup.read(secret, { evenExpired: true }))?.user
    }
  }

  return {
    verify,

    async admit(secret, ip) {
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
      // It has ended since.
      if (found === undefined) throw accessTokenInvalid()
      if (found.user.status === 'suspended') throw inactiveUser(found.user.status)
      return found
    },

    list: (userId) => users.listAccessTokens(userId),

    async revoke(token) {
      try {
        await users.revokeAccessToken(token)
      } finally {
        // Also when it failed, since what fails unanswered may have happened.
        lookup.forgetUser(token.userId)
      }
    },

    forgetUser: (userId) => lookup.forgetUser(userId),
    recordUses: () => uses.record(),
  }
}

function assertTerms(terms: { label: string; expiresInSeconds: number | undefined }): void {
  const { label, expiresInSeconds } = terms
  // Nor halves of surrogate pairs, which not every database takes.
  if (label.length > MAX_LABEL_LENGTH || !LABEL.test(label) || !label.isWellFormed()) {
    throw new AppError(
      'invalid_parameter',
      `A label has at most ${MAX_LABEL_LENGTH} characters, none of them a control.`,
      { facts: { parameter: 'label' } },
    )
  }
  const seconds = expiresInSeconds ?? 1
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > MAX_EXPIRES_IN_SECONDS) {
    throw new AppError(
      'invalid_parameter',
      `expires_in is a whole number of seconds from 1 to ${MAX_EXPIRES_IN_SECONDS}.`,
      { facts: { parameter: 'expires_in' } },
    )
  }
}

/** A hundred years, so that an expiry stays a date that every client can read. */
export const MAX_EXPIRES_IN_SECONDS = 100 * 366 * 24 * 3600

export interface LastUsed {
  /** Notes that the token was used now. Costs no input or output. */
  readonly note: (sha256: string) => void

  /**
   * Writes the last use of every token that was noted since the last call. Rejects with `unavailable` when the database
   * fails; what was not written then is forgotten, which costs a time stamp and nothing else.
   */
  record(): Promise<void>
}

/** Tokens beyond it are not noted until the next `record`, so that memory is bounded. */
const MAX_NOTED = 50_000
const PAGE = 500

/** Collects when tokens were used, so that `last_used_at` costs one statement for many requests and delays none. */
export function createLastUsed({
  users,
  clock,
}: Required<Pick<AccessTokensOptions, 'users' | 'clock'>>): LastUsed {
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
