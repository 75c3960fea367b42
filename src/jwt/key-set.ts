import { createLocalJWKSet, type CryptoKey, errors, type JWTHeaderParameters } from 'jose'
import { timeoutSignal } from '../core/async/deadline.ts'
import { AppError } from '../core/errors.ts'
import { accessTokenInvalid } from '../core/users/caller.ts'
import { fetchJwks } from './fetch-jwks.ts'

export interface KeySetOptions {
  readonly jwksUrl: string
  /** Per request; 3000 by default. */
  readonly timeoutMs?: number
  readonly clock?: () => number
  /** Called once for each attempt that fails, and once for each unusable key of a fetched set. */
  readonly warn?: ((err: unknown, message: string) => void) | undefined
}

/**
 * Fetches the keys on first use, when they are old, and for an unknown key, but waits `COOLDOWN_MS` after every
 * attempt. (The remote key set of `jose` counts only successes, and drops old keys while the URL is unreachable.)
 */
export function createKeySet(options: KeySetOptions) {
  const { jwksUrl, timeoutMs = TIMEOUT_MS, clock = () => performance.now(), warn } = options
  const unusable = new Set<string>()
  let keys: LocalKeys | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  let attemptEndedAt = Number.NEGATIVE_INFINITY
  let failure: unknown
  let attempt: Promise<void> | undefined

  async function fetchKeys(): Promise<void> {
    const startedAt = clock()
    try {
      keys = createLocalJWKSet(await fetchJwks(jwksUrl, timeoutSignal(timeoutMs)))
      fetchedAt = startedAt
      failure = undefined
      unusable.clear()
    } catch (error) {
      failure = error ?? new Error('The keys could not be fetched.')
      warn?.(failure, 'fetching the keys of the identity provider failed; retrying for later JWTs')
    } finally {
      attempt = undefined
      attemptEndedAt = clock()
    }
  }

  async function refresh(): Promise<void> {
    if (attempt === undefined && clock() - attemptEndedAt >= COOLDOWN_MS) {
      attempt = fetchKeys()
    }
    await attempt
  }

  async function refreshWhenOld(): Promise<void> {
    if (clock() - fetchedAt < MAX_AGE_MS) return
    const wasReachable = failure === undefined
    const refreshed = refresh()
    // While the URL is unreachable, cached keys are used without a wait.
    if (keys === undefined || wasReachable) await refreshed
  }

  async function findKnown(header: JWTHeaderParameters): Promise<CryptoKey | undefined> {
    try {
      return await keys?.(header)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined
      throw refuseUnusable(header.kid, error)
    }
  }

  /**
   * The refusal of a JWT whose key was found but does not work, such as an RSA key that is too short. Only keys of the
   * provider get here, so their number is bounded.
   */
  function refuseUnusable(kid = '', cause: unknown): AppError {
    if (!unusable.has(kid)) warn?.(cause, 'a key of the identity provider cannot be used')
    unusable.add(kid)
    const message = 'The key cannot be used'
    return accessTokenInvalid(new errors.JWKInvalid(message, { cause }))
  }

  /** Garbage can name any key, so a log entry for each refused JWT would let anyone fill the log. */
  function unavailable(cause: unknown): AppError {
    const detail = 'The keys of the identity provider are unavailable.'
    return new AppError('unavailable', detail, { cause, isLogged: warn !== undefined })
  }

  return {
    /** Rejects with `access_token_invalid` if there is no such key, and with `unavailable` if that is unknown. */
    find: async (header: JWTHeaderParameters): Promise<CryptoKey> => {
      if (typeof header.kid !== 'string') throw accessTokenInvalid(new errors.JWSInvalid())
      await refreshWhenOld()
      const known = await findKnown(header)
      if (known !== undefined) return known
      await refresh()
      const fresh = await findKnown(header)
      if (fresh !== undefined) return fresh
      throw failure === undefined
        ? accessTokenInvalid(new errors.JWKSNoMatchingKey())
        : unavailable(failure)
    },
    refuseUnusable,
  }
}

/** From the end of an attempt to the next; bounds how long a new key is unknown. */
const COOLDOWN_MS = 5_000

/** A withdrawn key is refused within this time. */
const MAX_AGE_MS = 5 * 60_000
const TIMEOUT_MS = 3_000

type LocalKeys = ReturnType<typeof createLocalJWKSet>
