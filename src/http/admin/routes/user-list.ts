import type { Static } from 'typebox'
import { LABEL_PATTERN, MAX_LABEL_LENGTH } from '../../../core/auth/terms.ts'
import { invalidParameter } from '../../../core/errors.ts'
import { DEFAULT_PAGE_LIMIT } from '../../../core/pagination.ts'
import { accountJson } from '../../../core/users/account-json.ts'
import { ACCOUNT_ORDERS } from '../../../core/users/account-ledger.ts'
import {
  isUserId,
  parseUserId,
  parseUserIdPrefix,
  USER_ID_PREFIX_PATTERN,
} from '../../../core/users/user-id.ts'
import {
  type FoundUser,
  MAX_SCANNED_USERS,
  parseSearchedText,
  type SearchPosition,
} from '../../../core/users/user-search.ts'
import type { Users } from '../../../core/users/users.ts'
import { described } from '../../openapi/operation.ts'
import { Query } from '../../openapi/parameters.ts'
import { OneOf, Page } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { DEVICE_MEMBERS } from '../../routes/device-usage.ts'
import {
  formatCursor,
  type Key,
  PAGE_QUERY,
  parseCursor,
  readPage,
  textsOf,
} from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { USER_MEMBERS } from './users.ts'

export const userListRoutes: OperatorPlugin = async (app, { useCases: { users } }) => {
  app.get('/admin/users', LIST, async ({ query }) => {
    const contains = parseSearchedText(query.contains)
    return contains === undefined ? await list(users, query) : await search(users, query, contains)
  })
}

type Asked = Static<typeof ListQuery>

async function list(users: Users, query: Asked) {
  const { order = 'user_id', prefix = '' } = query
  const { entries, next_cursor } =
    order === 'user_id'
      ? await readPage(query, {
          read: (key) => textsOf(key, 1)?.find(isUserId),
          list: (page) => users.list({ prefix: parseUserIdPrefix(prefix), ...page }),
          keyOf: ({ user }) => [user.userId],
        })
      : await readPage(query, {
          read: creationIn,
          list: (page) => users.list({ order: unless(prefix !== '', 'prefix', order), ...page }),
          keyOf: ({ user }) => [user.createdAt, user.userId],
        })
  return { users: entries.map(accountJson), next_cursor }
}

async function search(users: Users, query: Asked, contains: string) {
  const { order = 'user_id', prefix = '', limit = DEFAULT_PAGE_LIMIT, cursor } = query
  unless(order !== 'user_id', 'contains', order)
  const after = cursor === undefined ? undefined : parseCursor(cursor, positionIn)
  const asked = { prefix: parseUserIdPrefix(prefix), contains, after, limit }
  const { users: found, next } = await users.search(asked)
  return {
    users: found.map(foundJson),
    next_cursor: next === undefined ? null : formatCursor(keyOf(next)),
  }
}

/** Users who are selected can be anywhere in an order by creation. */
function unless<Order>(isSelected: boolean, parameter: string, order: Order): Order {
  if (!isSelected) return order
  throw invalidParameter('order', `With ${parameter}, users are listed by id only.`)
}

function creationIn([createdAt, userId, another]: Key) {
  const isPlace = typeof createdAt === 'number' && isUserId(String(userId)) && another === undefined
  return isPlace ? { createdAt, userId: parseUserId(String(userId)) } : undefined
}

function keyOf({ userId, deviceId }: SearchPosition): Key {
  return deviceId === undefined ? [userId] : [userId, deviceId]
}

function positionIn([userId, deviceId, another]: Key): SearchPosition | undefined {
  if (typeof userId !== 'string' || !isUserId(userId) || another !== undefined) return undefined
  return typeof deviceId === 'number' ? undefined : { userId, deviceId }
}

function foundJson({ account, device }: FoundUser) {
  const matched = device && { device_id: device.deviceId, label: device.label ?? null }
  return { ...accountJson(account), ...(matched && { matched_device: matched }) }
}

const { device_id, label } = DEVICE_MEMBERS

const ListedUser = Type.Object(
  {
    ...USER_MEMBERS,
    matched_device: Type.Optional(
      Type.Object(
        { device_id, label },
        {
          description: 'With `contains`: a device that contains the text, if the user id does not.',
        },
      ),
    ),
  },
  { title: 'ListedUser', description: 'A user.' },
)

const ListQuery = Query({
  prefix: Type.Optional(
    Type.String({
      pattern: USER_ID_PREFIX_PATTERN,
      description:
        'The prefix of the user ids: at most 64 characters from `A-Z a-z 0-9 _ -`. Ids are compared byte by byte.',
      examples: ['ali'],
    }),
  ),
  contains: Type.Optional(
    Type.String({
      maxLength: MAX_LABEL_LENGTH,
      pattern: LABEL_PATTERN,
      description:
        'A part of the user id, or of the id or label of a device, in any case. Compared by Unicode lower case, in the ' +
        'form NFC.',
      examples: ['front door'],
    }),
  ),
  order: Type.Optional(
    OneOf(
      ACCOUNT_ORDERS,
      'By id, or by the time of creation, with `-` the newest first. With `prefix` or `contains`, only by id.',
    ),
  ),
  ...PAGE_QUERY.properties,
})

const LIST = described({
  operationId: 'listUsers',
  summary: 'List users',
  description:
    `With \`contains\`, a request reads at most ${MAX_SCANNED_USERS} users. A page can then have fewer entries than ` +
    '`limit`, or none, and still a `next_cursor`. Only `null` ends the listing.',
  tag: 'users',
  querystring: ListQuery,
  response: { 200: Page('UserPage', { users: Type.Array(ListedUser) }) },
  responses: { 200: 'One page of users.' },
})
