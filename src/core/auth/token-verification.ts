import { AppError, formatError, isAppError } from '../errors.ts'
import { accessTokenInvalid } from '../users/caller.ts'
import type { UserId } from '../users/user-id.ts'
import { parseClientAddress } from './client-address.ts'
import { type FailedAttemptLimiter, tooManyFailedAttempts } from './failed-attempt-limiter.ts'
import type { JwtUsers } from './jwt-users.ts'
import { sha256 } from './sha256.ts'
import { createTokenCache } from './token-cache.ts'
import type { AccessTokenUser, UserStore } from '../users/user-store.ts'

export interface TokenVerificationOptions {
  readonly users: UserStore
  readonly jwtUsers: JwtUsers | undefined
  readonly cacheMs: number
  /** Called each time an active user's access token is used, but not for JWTs. No I/O. */
  readonly onUse: (sha256: string) => void
  /** If `undefined`, guessing is not limited. */
  readonly failedAttempts: FailedAttemptLimiter | undefined
  readonly clock: () => number
}

export interface TokenVerification {
  /**
   * Returns what `secret` stands for, whatever its user's status. Rejects with `access_token_invalid`, or instead with
   * `too_many_requests` if the address is blocked or too many unknown tokens come from blocked addresses; also as
   * `users` and `jwtUsers` do. Accepts cached or formerly valid tokens from blocked addresses, because other users may
   * share such an address.
   */
  find(secret: string, ip: string | undefined): Promise<AccessTokenUser>

  /**
   * Reads the user again, for a secret that `find` has accepted. Counts no failed attempt. With `evenExpired`, accepts
   * an expired secret.
   */
  read(
    secret: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined>

  forgetUser(userId: UserId): void
}

const SECRET = /^crt_[A-Za-z0-9_-]{43}$/
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const MAX_JWT_LENGTH = 8192
const MAX_CACHED = 10_000

/** Tokens of each kind that may be valid, for all blocked addresses together: they cost at most a tenth of a core. */
const PROBATION = { issued: 100, jwt: 10 } as const
const PROBATION_MS = 100

// Causes, for the log.
const UNKNOWN_FORM = formatError(
  `Neither an access token nor a JWT of up to ${MAX_JWT_LENGTH} bytes.`,
)
const UNKNOWN_USER = new AppError(
  'not_found',
  'The user of the JWT, or the device in its scope, does not exist.',
)

interface ShownToken {
  readonly secret: string
  readonly kind: 'issued' | 'jwt' | undefined
  readonly hash: string
  readonly ip: string | undefined
}

export function createTokenVerification(options: TokenVerificationOptions): TokenVerification {
  const { users, jwtUsers, onUse, failedAttempts, clock } = options
  const cache = createTokenCache({ maxAgeMs: options.cacheMs, maxEntries: MAX_CACHED, clock })
  const probation = {
    issued: createBudget({ max: PROBATION.issued, everyMs: PROBATION_MS, clock }),
    jwt: createBudget({ max: PROBATION.jwt, everyMs: PROBATION_MS, clock }),
  }

  function kindOf(secret: string): ShownToken['kind'] {
    if (SECRET.test(secret)) return 'issued'
    return jwtUsers && secret.length <= MAX_JWT_LENGTH && JWT.test(secret) ? 'jwt' : undefined
  }

  async function findAnew({ secret, kind, hash, ip }: ShownToken): Promise<AccessTokenUser> {
    const address = ip === undefined ? undefined : parseClientAddress(ip)
    const blockedMs = address === undefined ? 0 : (failedAttempts?.blockedMs(address) ?? 0)
    try {
      if (kind === undefined) throw accessTokenInvalid(UNKNOWN_FORM)
      const found = await cache.find(hash, async () => {
        const isSuspect = blockedMs > 0 && !cache.wasValid(hash)
        if (isSuspect && !probation[kind].take()) throw tooManyFailedAttempts(PROBATION_MS)
        return await read(secret)
      })
      if (found !== undefined) return found
      if (kind === 'issued') throw accessTokenInvalid()
    } catch (error) {
      if (!isAppError(error, 'access_token_invalid')) throw error
      if (blockedMs > 0) throw tooManyFailedAttempts(blockedMs)
      if (address !== undefined) failedAttempts?.note(address)
      throw error
    }
    // The signature holds, so this is no guess: the user is unknown or being purged.
    throw accessTokenInvalid(UNKNOWN_USER)
  }

  async function read(
    secret: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined> {
    if (SECRET.test(secret)) return await users.findAccessTokenUser(sha256(secret), options)
    return await jwtUsers?.find(secret, options)
  }

  return {
    read,

    async find(secret, ip) {
      const kind = kindOf(secret)
      const hash = sha256(secret)
      const found = cache.get(hash) ?? (await findAnew({ secret, kind, hash, ip }))
      if (kind === 'issued' && found.user.status === 'active') onUse(hash)
      return found
    },

    forgetUser: (userId) => cache.forgetUser(userId),
  }
}

interface BudgetOptions {
  readonly max: number
  readonly everyMs: number
  readonly clock: () => number
}

/** Allows `max` calls of `take` per `everyMs`. */
function createBudget({ max, everyMs, clock }: BudgetOptions) {
  let endsAt = Number.NEGATIVE_INFINITY
  let left = 0
  return {
    take(): boolean {
      const now = clock()
      if (now >= endsAt) [endsAt, left] = [now + everyMs, max]
      left -= 1
      return left >= 0
    },
  }
}
