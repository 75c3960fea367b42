import type { UserSubject } from '../../src/core/auth/subject.ts'
import type { Actor, Caller } from '../../src/core/users/caller.ts'
import type { UserId } from '../../src/core/users/user-id.ts'
import type { UserStores } from '../../src/database/users/user-store.ts'

/** The user who has that id now; nobody's creation where there is none. */
export async function callerNamed(users: UserStores, userId: UserId): Promise<Caller> {
  const user = await users.findUser(userId)
  return { userId, userCreatedAt: user?.createdAt ?? 0 }
}

/** A user whose access token permits everything, and stays good. */
export function authorized({ userId, userCreatedAt, credential, deviceId }: Actor): UserSubject {
  return {
    kind: 'user',
    userId,
    userCreatedAt,
    credential,
    deviceId,
    scope: undefined,
    tokenId: 'token',
    inspect: () => Promise.reject(new TypeError('There is no token')),
    reverify: async () => undefined,
  }
}
