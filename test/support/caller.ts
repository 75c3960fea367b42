import type { Actor, AuthorizedCaller, Caller } from '../../src/core/users/caller.ts'
import type { UserId } from '../../src/core/users/user-id.ts'
import type { UserStores } from '../../src/database/users/user-store.ts'

/** The user who has that id now; nobody's creation where there is none. */
export async function callerNamed(users: UserStores, userId: UserId): Promise<Caller> {
  const user = await users.findUser(userId)
  return { userId, userCreatedAt: user?.createdAt ?? 0 }
}

/** A caller whose access token stays good. */
export function authorized({ userId, userCreatedAt, credential }: Actor): AuthorizedCaller {
  return { userId, userCreatedAt, credential, reverify: async () => undefined }
}
