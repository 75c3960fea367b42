import { describe, expect, it } from 'vitest'
import {
  type FoundUser,
  MAX_SCANNED_USERS,
  type SearchPosition,
  searchUsers,
  type UserSearchLedger,
} from '../../../src/core/users/user-search.ts'
import { parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'

const WHICH = { prefix: parseUserIdPrefix(''), contains: 'x', after: undefined }

describe('a search for users', () => {
  it('ends when it has read as many as it may, and tells where it continues', async () => {
    const { ledger, parts } = open({ usersPerPart: 0 })
    const { users, next } = await searchUsers(ledger, { ...WHICH, limit: 10 })
    expect(users).toEqual([])
    expect(next).toEqual({ userId: `u${parts.length}` })
    const read = parts.reduce((sum, { maxScanned }) => sum + maxScanned, 0)
    expect(read).toBe(MAX_SCANNED_USERS)
  })

  it('ends when the page is full, and lets others run in between', async () => {
    const { ledger, parts } = open({ usersPerPart: 2 })
    let isOtherDone = false
    setImmediate(() => (isOtherDone = true))
    const { users, next } = await searchUsers(ledger, { ...WHICH, limit: 3 })
    expect(users).toHaveLength(3)
    expect(next).toEqual({ userId: 'u2' })
    expect(parts.map(({ limit }) => limit)).toEqual([3, 1])
    expect(isOtherDone).toBe(true)
  })

  it('ends with the last user', async () => {
    const { ledger } = open({ usersPerPart: 2, parts: 2 })
    const { users, next } = await searchUsers(ledger, { ...WHICH, limit: 10 })
    expect(users).toHaveLength(4)
    expect(next).toBeUndefined()
  })
})

interface Opened {
  readonly usersPerPart: number
  /** All there are. */
  readonly parts?: number
}

function open({ usersPerPart, parts: last = Infinity }: Opened) {
  const parts: Parameters<UserSearchLedger['searchUsers']>[0][] = []
  const ledger: UserSearchLedger = {
    async searchUsers(part) {
      parts.push(part)
      const users = Array.from({ length: Math.min(usersPerPart, part.limit) }, () => FOUND)
      const position: SearchPosition = { userId: parseUserId(`u${parts.length}`) }
      return { users, next: parts.length === last ? undefined : position }
    },
  }
  return { ledger, parts }
}

const FOUND: FoundUser = {
  account: {
    user: { userId: parseUserId('x'), status: 'active', createdAt: 1 },
    usage: { capacity: 1, used: 0, reserved: 0, fileCount: 0 },
  },
  device: undefined,
}
