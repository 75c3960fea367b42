import { isAppError } from '../errors.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import type { UserId } from '../users/user-id.ts'
import type { AccessTokenUser, User, UserStore } from '../users/user-store.ts'

export interface IdentityProvider {
  readonly verifier: JwtVerifier
  /** Whether the first request of an unknown user creates the user. */
  readonly createsUsers: boolean
}

export interface JwtUsersOptions extends IdentityProvider {
  readonly users: UserStore
}

export interface JwtUsers {
  /**
   * The JWT's user, or `undefined` if no such user exists or the user is deleted. Rejects as the verifier and the store
   * do. With `evenExpired`, never creates a user.
   */
  find(
    jwt: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined>
}

/** Maps JWTs of the identity provider to users. */
export function createJwtUsers({ users, verifier, createsUsers }: JwtUsersOptions): JwtUsers {
  return {
    async find(jwt, { evenExpired } = { evenExpired: false }) {
      const { userId, expiresInMs } = await verifier.verify(jwt, { evenExpired })
      const known = await users.findUser(userId)
      const user =
        known ?? (createsUsers && !evenExpired ? await createUser(users, userId) : undefined)
      return user === undefined || user.status === 'deleted' ? undefined : { user, expiresInMs }
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
