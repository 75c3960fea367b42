import { hash } from 'node:crypto'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { type AppError, isAppError } from '../core/errors.ts'
import { type AskedScope, parseScope } from '../core/auth/scope.ts'
import type { JwtVerifier } from '../core/auth/jwt-verifier.ts'
import { accessTokenInvalid } from '../core/users/caller.ts'
import { isUserId, parseUserId, type UserId } from '../core/users/user-id.ts'
import { createKeySet, type KeySetOptions } from './key-set.ts'

export interface JwtVerifierOptions extends KeySetOptions {
  readonly issuer: string
  readonly audience: string
  /** The claim that names the user; `sub` by default. */
  readonly userClaim?: string
  /** The claim with the scope. Without one, every JWT permits everything. */
  readonly scopeClaim?: string | undefined
}

/** Verifies JWTs (JWS, RFC 7515) with the keys that the identity provider publishes (JWKS, RFC 7517). */
export function createJwtVerifier(options: JwtVerifierOptions): JwtVerifier {
  const { issuer, audience, userClaim = 'sub', scopeClaim } = options
  const keys = createKeySet(options)

  async function payloadOf(jwt: string, evenExpired: boolean): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(jwt, keys.find, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      })
      return payload
    } catch (error) {
      if (isAppError(error)) throw error
      // `jose` checks signature, issuer and audience before the expiry.
      if (evenExpired && error instanceof errors.JWTExpired) return error.payload
      if (error instanceof errors.JOSEError) throw accessTokenInvalid(error)
      // The token is well-formed, so the key is unusable, such as an RSA key that is too short.
      throw keys.refuseUnusable(decodeProtectedHeader(jwt).kid, error)
    }
  }

  return {
    async verify(jwt, { evenExpired } = { evenExpired: false }) {
      const payload = await payloadOf(jwt, evenExpired)
      const { [userClaim]: subject, exp } = payload
      // `jose` requires none, nor does it check that `sub` is a string.
      // Unpaired surrogates would all have the same hash.
      const isName = typeof subject === 'string' && subject !== '' && subject.isWellFormed()
      if (!isName) throw claimInvalid(userClaim)
      if (exp === undefined) throw claimInvalid('exp')
      return {
        userId: userIdOf(subject),
        scope: scopeOf(scopeClaim === undefined ? undefined : payload[scopeClaim], scopeClaim),
        expiresInMs: (exp + CLOCK_TOLERANCE_SECONDS) * 1000 - Date.now(),
      }
    },
  }
}

/**
 * The id of the user whom an identity provider names. Subjects in another form than a user id, such as `auth0|5f7c` or an
 * e-mail address, get a fixed id of their own, and so do those that look like one of these.
 */
export function userIdOf(subject: string): UserId {
  if (isUserId(subject) && !MAPPED.test(subject)) return subject
  return parseUserId(`jwt_${hash('sha256', subject, 'base64url')}`)
}

const MAPPED = /^jwt_[A-Za-z0-9_-]{43}$/

function scopeOf(claim: unknown, name = ''): AskedScope | undefined {
  if (claim === undefined) return undefined
  try {
    return parseScope(claim)
  } catch (error) {
    if (!isAppError(error)) throw error
    throw claimInvalid(name)
  }
}

/** Without the payload, which must not reach the log. */
function claimInvalid(claim: string): AppError {
  return accessTokenInvalid(new errors.JWTClaimValidationFailed('invalid claim', {}, claim))
}

/** Only signatures by a private key: neither `none` nor a shared secret. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/** Tolerated difference between the clocks of this machine and the identity provider. */
const CLOCK_TOLERANCE_SECONDS = 5
