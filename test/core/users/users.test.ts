import { describe, expect, it } from 'vitest'
import { parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'
import type { UserStores } from '../../../src/database/users/user-store.ts'
import { createUsers, type Users } from '../../../src/core/users/users.ts'
import { outage } from '../../support/faults/faults.ts'
import { openTestCore, type TestCore } from '../../support/service/test-core.ts'

const alice = parseUserId('alice')

interface Watched {
  readonly users: Users
  /** The users of whom a change was told, in turn. */
  readonly told: unknown[]
}

function watch(core: TestCore, faults: Partial<UserStores> = {}): Watched {
  const told: unknown[] = []
  const onChange = (userId: string): void => {
    told.push(userId)
  }
  const users = createUsers({ ...core, users: { ...core.users, ...faults }, onChange })
  return { users, told }
}

describe('users', () => {
  it('are made with the id given or with one of their own', async () => {
    await using core = await openTestCore()
    const { users } = watch(core)
    expect(await users.create(alice)).toEqual({ userId: 'alice', created: true })
    expect(await users.create(alice)).toEqual({ userId: 'alice', created: false })
    expect(await users.find(alice)).toMatchObject({
      user: { userId: 'alice', status: 'active' },
      usage: { capacity: 1000, used: 0 },
    })
    const { userId } = await users.create(undefined)
    expect(userId).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('users whose status changes are told of, before the answer', async () => {
    await using core = await openTestCore()
    const { users, told } = watch(core)
    await users.create(alice)
    expect(told).toEqual([])
    await users.setStatus(alice, 'suspended')
    await users.remove(alice)
    expect(told).toEqual(['alice', 'alice'])
  })

  it('users of whom nobody knows whether they changed are told of too', async () => {
    await using core = await openTestCore()
    const fail = (): Promise<never> => Promise.reject(outage())
    const { users, told } = watch(core, { setUserStatus: fail, deleteUser: fail })
    await expect(users.setStatus(alice, 'suspended')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(users.remove(alice)).rejects.toMatchObject({ code: 'unavailable' })
    expect(told).toEqual(['alice', 'alice'])
  })

  it('are searched one search at a time: each takes a part of every iteration of the event loop', async () => {
    await using core = await openTestCore()
    const read: string[] = []
    const ledger: typeof core.ledger = {
      ...core.ledger,
      async searchUsers({ contains }) {
        read.push(contains)
        return { users: [], next: read.length % 2 === 1 ? { userId: alice } : undefined }
      },
    }
    const users = createUsers({ ...core, ledger })
    const page = { prefix: parseUserIdPrefix(''), after: undefined, limit: 10 }
    await Promise.all(['a', 'b', 'c'].map((contains) => users.search({ ...page, contains })))
    expect(read).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  })
})
