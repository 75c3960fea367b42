import { setImmediate } from 'node:timers/promises'
import { isLabel, MAX_LABEL_LENGTH } from '../auth/terms.ts'
import { invalidParameter } from '../errors.ts'
import type { Account } from './account-ledger.ts'
import type { UserId, UserIdPrefix } from './user-id.ts'

export interface UserSearch {
  /** Only users whose ids begin with it. */
  readonly prefix: UserIdPrefix
  /** A part of the user's id, or of the id or label of one of their devices. See `containsText`. */
  readonly contains: string
  readonly after: SearchPosition | undefined
  readonly limit: number
}

/** Right after a user, or in the middle of one: after their own id if `deviceId` is empty, else after that device. */
export interface SearchPosition {
  readonly userId: UserId
  readonly deviceId?: string | undefined
}

export interface FoundUser {
  readonly account: Account
  /** What contains the text, if the user's id does not: the first one by id. */
  readonly device: MatchedDevice | undefined
}

export interface MatchedDevice {
  readonly deviceId: string
  readonly label: string | undefined
}

/** Ordered by id. It can end before the page is full, and even without a user, if it has read as much as it may. */
export interface FoundUsers {
  readonly users: readonly FoundUser[]
  /** Where the next page continues; `undefined` on the last page. */
  readonly next: SearchPosition | undefined
}

/** PORT: a search among all users. As every part of the ledger, it keeps the contract of `UploadLedger`. */
export interface UserSearchLedger {
  /** Reads at most `maxScanned` ids of users, and as many devices. */
  searchUsers(search: UserSearch & { readonly maxScanned: number }): Promise<FoundUsers>
}

/** Searches in parts, between which other requests run: on SQLite, one takes a few milliseconds of the event loop. */
export async function searchUsers(
  ledger: UserSearchLedger,
  { limit, ...search }: UserSearch,
): Promise<FoundUsers> {
  const users: FoundUser[] = []
  let next = search.after
  for (let left = MAX_SCANNED_USERS; left > 0; left -= SCANNED_AT_ONCE) {
    const part = { ...search, after: next, limit: limit - users.length }
    const found = await ledger.searchUsers({ ...part, maxScanned: SCANNED_AT_ONCE })
    users.push(...found.users)
    next = found.next
    if (next === undefined || users.length === limit) break
    // SQLite answers without an iteration of the event loop.
    await setImmediate()
  }
  return { users, next }
}

/** The ids of users that one request reads at most. */
export const MAX_SCANNED_USERS = 20_000

const SCANNED_AT_ONCE = 2_000

/** Throws `invalid_parameter` for a text that neither an id nor a label can contain. Empty is as if it was left out. */
export function parseSearchedText(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  if (isLabel(text)) return text
  const rule = `must be at most ${MAX_LABEL_LENGTH} characters without control characters`
  throw invalidParameter('contains', `contains ${rule}.`)
}
