import { isAppError } from '../errors.ts'
import { completeScope } from './scope.ts'
import { sha256 } from './sha256.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import type { GrantStore } from '../quota/grant-store.ts'
import type { UserId } from '../users/user-id.ts'
import type { AccessTokenUser } from './access-token-store.ts'
import type { User, UserStore } from '../users/user-store.ts'

export interface IdentityProvider {
  readonly verifier: JwtVerifier
  /** Whether the first request of an unknown user creates the user. */
  readonly createsUsers: boolean
}

export interface JwtUsersOptions extends IdentityProvider {
  readonly users: UserStore & Pick<GrantStore, 'hasDevice'>
}

export type JwtUsers = ReturnType<typeof createJwtUsers>

/** Whether a `tokenId` is a JWT's, a SHA-256, and not the UUID of an issued token. */
export function isJwtId(tokenId: string): boolean {
  return tokenId.length === SHA256_HEX_LENGTH
}

const SHA256_HEX_LENGTH = 64

/** Maps JWTs of the identity provider to users. */
export function createJwtUsers({ users, verifier, createsUsers }: JwtUsersOptions) {
  return {
    /**
     * The JWT's user, or `undefined` if no such user exists, the user is deleted, or has not the device of the scope.
     * Rejects as the verifier and the store do. With `evenExpired`, never creates a user.
     */
    async find(
      jwt: string,
      { evenExpired }: { readonly evenExpired: boolean } = { evenExpired: false },
    ): Promise<AccessTokenUser | undefined> {
      const { userId, expiresInMs, scope } = await verifier.verify(jwt, { evenExpired })
      // A new user has no device.
      const deviceId = scope?.deviceId
      if (deviceId !== undefined && !(await users.hasDevice({ userId, deviceId }))) return undefined
      const known = await users.findUser(userId)
      const user =
        known ?? (createsUsers && !evenExpired ? await createUser(users, userId) : undefined)
      if (user === undefined || user.status === 'deleted') return undefined
      const asked = scope && completeScope(scope)
      const credential = asked && sha256(JSON.stringify(asked))
      return { user, tokenId: sha256(jwt), scope: asked, expiresInMs, isJwt: true, credential }
    },
  }
}

/** Concurrent first requests create one user, and all find it. */
async function createUser(users: UserStore, userId: UserId): Promise<User | undefined> {
  try {
    return (await users.createUser(userId)).user
  } catch (error) {
    if (isAppError(error, 'user_exists')) return undefined
    throw error
  }
}
