import type {
  AdminClient,
  Grant,
  Link,
  UnfinishedUpload,
  UserDetails,
} from '../../../packages/js/src/admin.ts'
import { isProblem } from '../../../packages/js/src/errors.ts'
import { compareNames } from '../../shared/format.ts'
import type { AccessToken } from '../../shared/model.ts'
import { createWatched, type Watched } from '../watched.ts'

/** What the view of a user shows at once. */
export interface UserRecord {
  readonly account: UserDetails
  /** Without the grants of devices. */
  readonly grants: readonly Grant[]
  readonly tokens: readonly AccessToken[]
  readonly uploads: readonly UnfinishedUpload[]
  /** None of a suspended user, whose links do not work. */
  readonly links: readonly Link[]
}

/** The value is `null` if the user does not exist. */
export function createUserRecord(client: AdminClient, userId: string): Watched<UserRecord | null> {
  const user = client.user(userId)

  async function ask(): Promise<UserRecord | null> {
    try {
      const [account, grants, tokens, uploads, links] = await Promise.all([
        client.users.get(userId),
        Array.fromAsync(user.grants.list(ALL)),
        Array.fromAsync(user.tokens.list(ALL)),
        Array.fromAsync(user.uploads.list(ALL)),
        readLinks(),
      ])
      const others = grants
        .filter(({ source }) => source !== 'device')
        .toSorted((a, b) => compareNames(a.reference, b.reference))
      return { account, grants: others, tokens, uploads, links }
    } catch (error) {
      if (!isProblem(error, 'not_found')) throw error
      return null
    }
  }

  async function readLinks(): Promise<readonly Link[]> {
    try {
      return await Array.fromAsync(user.links.list(ALL))
    } catch (error) {
      if (!isProblem(error, 'user_suspended')) throw error
      return []
    }
  }

  return createWatched(ask)
}

/** In pages of the greatest size. */
const ALL = { limit: 1000 }
