import { type RawBuilder, sql } from 'kysely'
import { containsText } from '../../core/files/listing.ts'
import { DEVICE } from '../../core/quota/grants.ts'
import type { UserId } from '../../core/users/user-id.ts'
import type {
  FoundUser,
  FoundUsers,
  MatchedDevice,
  SearchPosition,
  UserSearchLedger,
} from '../../core/users/user-search.ts'
import type { LedgerTx } from '../ledger/ledger-sql.ts'
import { type AccountRow, toAccount, USAGE_COLUMNS } from '../ledger/rows.ts'
import type { Operations } from '../operations/operation.ts'
import { isBelow, isInRange, successorOf } from '../prefix-range.ts'
import { scan } from '../scan.ts'

export const USER_SEARCH_OPERATIONS = {
  searchUsers: { through: 'readInOrder', run: searchUsers, effect: 'reads' },
} as const satisfies Operations<UserSearchLedger>

type Search = Parameters<UserSearchLedger['searchUsers']>[0]

/** A user, with an empty `device_id`, or one of their devices. */
interface Searched {
  readonly user_id: UserId
  readonly device_id: string
  readonly label: string | null
}

/** The texts are compared here, as those of file names: the engines disagree on the case of letters. */
async function searchUsers(tx: LedgerTx, search: Search): Promise<FoundUsers> {
  const { after, limit, maxScanned } = search
  const hasText = containsText(search.contains)
  const found = new Map<UserId, MatchedDevice | undefined>()
  let isFull = false

  const ranOutAt = await scan<Searched, SearchPosition>({
    after,
    limit: limit + 1,
    maxScanned,
    read: (part) => readPart(tx, { ...search, ...part }),
    take({ user_id: userId, device_id: deviceId, label }) {
      const isUser = deviceId === ''
      const texts = isUser ? [userId] : [deviceId, label ?? '']
      if (found.has(userId) || !texts.some(hasText)) return true
      isFull = found.size === limit
      if (!isFull) found.set(userId, isUser ? undefined : { deviceId, label: label ?? undefined })
      return !isFull
    },
    positionAfter: ({ user_id: userId, device_id: deviceId }) =>
      found.has(userId) ? { userId } : { userId, deviceId },
  })
  const last = [...found.keys()].at(-1)
  return {
    users: found.size === 0 ? [] : await readFound(tx, found),
    next: isFull && last !== undefined ? { userId: last } : ranOutAt,
  }
}

/** By user and device. Merged here: in a sorted union, SQLite takes four times as long. */
async function readPart({ db }: LedgerTx, part: Search): Promise<readonly Searched[]> {
  const { prefix, after, limit } = part
  const { rows: users } = await sql<Searched>`
    SELECT id AS user_id, '' AS device_id, NULL AS label FROM users
    WHERE ${isInRange(sql`id`, { prefix, after: after?.userId ?? '' })}
    ORDER BY id LIMIT ${limit}
  `.execute(db)
  const { rows: devices } = await sql<Searched>`
    SELECT user_id, reference AS device_id, label FROM grants
    WHERE source = ${sql.lit(DEVICE)} AND ${isDeviceInRange(part)}
    ORDER BY user_id, reference LIMIT ${limit}
  `.execute(db)
  return [...users, ...devices].sort(byUser).slice(0, limit)
}

/** Ids are ASCII. The sort is stable, so a user comes before their devices. */
function byUser({ user_id: one }: Searched, { user_id: other }: Searched): number {
  return one === other ? 0 : one < other ? -1 : 1
}

/** As `isInRange`, after a device of the user at which the search continues. */
function isDeviceInRange({ prefix, after }: Search): RawBuilder<unknown> {
  if (after?.deviceId === undefined || isBelow(after.userId, prefix)) {
    return isInRange(sql`user_id`, { prefix, after: after?.userId ?? '' })
  }
  const end = successorOf(prefix)
  const below = end === undefined ? sql`` : sql`AND user_id < ${end}`
  return sql`(user_id, reference) > (${after.userId}, ${after.deviceId}) ${below}`
}

async function readFound(
  { db, capacity }: LedgerTx,
  found: ReadonlyMap<UserId, MatchedDevice | undefined>,
): Promise<readonly FoundUser[]> {
  const { rows } = await sql<AccountRow>`
    SELECT users.*, ${USAGE_COLUMNS}, ${capacity} AS capacity
    FROM users LEFT JOIN quotas ON quotas.user_id = users.id
    WHERE id IN (${sql.join([...found.keys()])})
    ORDER BY id
  `.execute(db)
  return rows.map((row) => ({ account: toAccount(row), device: found.get(row.id) }))
}
