import { capacityFigures } from '../../core/quota/capacity.ts'
import { cutPage, parsePageLimit } from '../../core/pagination.ts'
import type { Account, Usage } from '../../core/users/account-ledger.ts'
import { formatTimestamp } from '../../core/timestamp.ts'
import { parseUserId, parseUserIdPrefix } from '../../core/users/user-id.ts'
import { type Command, type CommandCall, type CommandServices, userIdOf } from '../command.ts'
import { Bytes, type Row } from '../render.ts'

export const USERS: readonly Command[] = [
  {
    words: ['users', 'create'],
    operands: ['[user_id]'],
    summary: 'create a user; the id is generated if none is given',
    run: async ({ users }, { operands: [id] }) => {
      const wanted = id === undefined ? undefined : parseUserId(id)
      const { userId } = await users.create(wanted)
      return accountRow(await users.find(userId))
    },
  },
  {
    words: ['users', 'list'],
    flags: ['prefix', 'after', 'limit'],
    summary: 'list users and their usage, ordered by id; --prefix filters by the start of the id',
    run: async ({ users }, { flags, printError }) => {
      const after = flags['after'] === undefined ? undefined : parseUserId(flags['after'])
      const prefix = parseUserIdPrefix(flags['prefix'] ?? '')
      const limit = parsePageLimit(flags['limit'])
      const { page, last } = cutPage(await users.list({ prefix, after, limit: limit + 1 }), limit)
      if (last !== undefined) {
        printError(`There are more users. To continue, use --after ${last.user.userId}`)
      }
      return page.map(accountRow)
    },
  },
  {
    words: ['users', 'show'],
    operands: ['<user_id>'],
    summary: 'show the status and usage of a user; for a deleted user, the data still to be purged',
    run: async ({ users, uploadAdministration }, { operands }) => {
      const account = await users.find(userIdOf(operands))
      const { count, bytes } = await uploadAdministration.measure(account.user.userId)
      return {
        ...accountRow(account),
        unfinished_uploads: count,
        unfinished_bytes: new Bytes(bytes),
      }
    },
  },
  {
    words: ['users', 'suspend'],
    operands: ['<user_id>'],
    summary: 'refuse all requests from a user, but keep the files',
    run: (services, call) => setStatus(services, call, 'suspended'),
  },
  {
    words: ['users', 'activate'],
    operands: ['<user_id>'],
    summary: 'end the suspension of a user',
    run: (services, call) => setStatus(services, call, 'active'),
  },
  {
    words: ['users', 'delete'],
    operands: ['<user_id>'],
    summary: 'delete a user; the sweeper purges the files',
    run: async ({ users }, { operands }) => {
      await users.remove(userIdOf(operands))
      return undefined
    },
  },
]

async function setStatus(
  { users }: CommandServices,
  { operands }: CommandCall,
  status: 'active' | 'suspended',
): Promise<Row> {
  const userId = userIdOf(operands)
  await users.setStatus(userId, status)
  return accountRow(await users.find(userId))
}

function accountRow({ user, usage }: Account): Row {
  return {
    user_id: user.userId,
    status: user.status,
    created_at: formatTimestamp(user.createdAt),
    ...figuresOf(usage),
  }
}

function figuresOf(usage: Usage): Row {
  const { capacity, used, reserved, available, ...others } = capacityFigures(usage)
  return {
    capacity: new Bytes(capacity),
    used: new Bytes(used),
    reserved: new Bytes(reserved),
    available: new Bytes(available),
    ...others,
  }
}
