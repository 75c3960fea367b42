import { randomUUID } from 'node:crypto'
import { availableBytes, capacityState } from '../../core/capacity.ts'
import { AppError } from '../../core/errors.ts'
import { parseUserId, type UserId } from '../../core/user-id.ts'
import type { User } from '../../core/user-store.ts'
import { parseCount, timeOf, userIdOf, type Command, type CommandServices } from '../command.ts'
import type { Row } from '../render.ts'

export const USERS: readonly Command[] = [
  {
    words: ['users', 'create'],
    operands: ['[user_id]'],
    flags: [],
    summary: 'make a user, with a generated id when none is given',
    run: async ({ users }, { operands: [id] }) =>
      userRow((await users.createUser(parseUserId(id ?? randomUUID()))).user),
  },
  {
    words: ['users', 'list'],
    operands: [],
    flags: ['after', 'limit'],
    summary: 'list users in the order of their ids',
    run: async ({ users }, { flags: { after, limit } }) => {
      const page = { after: after === undefined ? undefined : parseUserId(after) }
      return (await users.listUsers({ ...page, limit: parseLimit(limit) })).map(userRow)
    },
  },
  {
    words: ['users', 'show'],
    operands: ['<user_id>'],
    flags: [],
    summary: 'show a user and the use of the capacity',
    run: async (services, { operands }) => showUser(services, userIdOf(operands)),
  },
  {
    words: ['users', 'suspend'],
    operands: ['<user_id>'],
    flags: [],
    summary: 'refuse everything to a user, and keep the files',
    run: async ({ users }, { operands }) =>
      userRow(await users.setUserStatus(userIdOf(operands), 'suspended')),
  },
  {
    words: ['users', 'activate'],
    operands: ['<user_id>'],
    flags: [],
    summary: 'end a suspension',
    run: async ({ users }, { operands }) =>
      userRow(await users.setUserStatus(userIdOf(operands), 'active')),
  },
  {
    words: ['users', 'delete'],
    operands: ['<user_id>'],
    flags: [],
    summary: 'delete a user; the sweeper purges the files',
    run: async ({ users }, { operands }) => {
      await users.deleteUser(userIdOf(operands))
      return undefined
    },
  },
]

async function showUser({ users, ledger }: CommandServices, userId: UserId): Promise<Row> {
  const [user, usage] = await Promise.all([users.findUser(userId), ledger.usage(userId)])
  if (user === undefined) throw new AppError('not_found', 'There is no such user.')
  if (usage === undefined) return userRow(user)
  return {
    ...userRow(user),
    capacity: usage.capacity,
    used: usage.used,
    reserved: usage.reserved,
    available: availableBytes(usage),
    file_count: usage.fileCount,
    state: capacityState(usage),
  }
}

function parseLimit(text: string | undefined): number {
  const limit = parseCount(text ?? '100')
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= 1000) return limit
  throw new AppError('invalid_parameter', 'limit is a whole number from 1 to 1000.')
}

function userRow({ userId, status, createdAt }: User): Row {
  return { user_id: userId, status, created_at: timeOf(createdAt) }
}
