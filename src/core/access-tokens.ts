import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { AppError } from './errors.ts'
import type { UserId } from './user-id.ts'
import type { AccessToken, User, UserStore } from './user-store.ts'

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
   * Returns the user that `secret` stands for. Rejects with `access_token_invalid` when it is malformed, unknown,
   * expired, revoked or its user is deleted, and with `user_suspended` when its user is suspended.
   */
  verify(secret: string): Promise<User>
}

const SECRET = /^crt_[A-Za-z0-9_-]{43}$/
const MAX_LABEL_LENGTH = 200

/** Controls and halves of surrogate pairs: not every database takes them, and a terminal obeys them. */
const UNPRINTABLE = /\p{Cc}|\p{Cs}/u

/** Makes the use cases of opaque access tokens (README, "Users, tokens, devices"). */
export function createAccessTokens({ users }: { readonly users: UserStore }): AccessTokens {
  return {
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

    async verify(secret) {
      const user = SECRET.test(secret) ? await users.findAccessTokenUser(sha256(secret)) : undefined
      if (user === undefined) {
        throw new AppError('access_token_invalid', 'The access token is not valid.')
      }
      if (user.status === 'suspended') {
        throw new AppError('user_suspended', 'The user of this access token is suspended.')
      }
      return user
    },
  }
}

// The secret is 256 random bits, so a plain hash can't be guessed back and needs no salt.
function sha256(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function assertTerms(terms: { label: string; expiresInSeconds: number | undefined }): void {
  const { label, expiresInSeconds } = terms
  if (label.length > MAX_LABEL_LENGTH || UNPRINTABLE.test(label)) {
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
const MAX_EXPIRES_IN_SECONDS = 100 * 366 * 24 * 3600
