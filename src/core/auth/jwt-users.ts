import { isAppError } from '../errors.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import type { UserId } from '../users/user-id.ts'
import type { AccessTokenUser, User, UserStore } from '../users/user-store.ts'

export interface JwtUsersOptions {
  readonly users: UserStore
  readonly verifier: JwtVerifier
  /** Whether a user who is unknown is made by their first valid JWT. */
  readonly createsUsers: boolean
}

export interface JwtUsers {
  /**
   * The user that a JWT stands for; `undefined` when there is none, or they are deleted. Rejects with
   * `access_token_invalid` and `unavailable` as the verifier and the database do. With `evenExpired` the JWT may be expired,
   * and makes nobody.
   */
  find(
    jwt: string,
    options?: { readonly evenExpired: boolean },
  ): Promise<AccessTokenUser | undefined>
}

/** Finds the users of an identity provider's JWTs, and makes them where the deployer allows it. */
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

/** Of several first requests at once one makes the user and all find them. */
async function createUser(users: UserStore, userId: UserId): Promise<User | undefined> {
  try {
    return (await users.createUser(userId)).user
  } catch (error) {
    if (isAppError(error, 'user_exists')) return undefined
    throw error
  }
}
