import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/errors.ts'
import type { BeginUpload } from '../../src/core/ledger.ts'
import { parseUserId } from '../../src/core/user-id.ts'
import type { Group } from '../../src/database/together.ts'
import { createUploadGroups } from '../../src/database/upload-groups.ts'

const STATEMENT = () => CompiledQuery.raw('lock')

/** Groups whose locks and ends the test gives; a statement is the number of bytes that its upload begins with. */
function bed() {
  const groups: {
    readonly take: Group['take']
    readonly end: (answers: readonly number[] | undefined) => void
    readonly fail: (error: Error) => void
  }[] = []
  const alone: number[] = []
  const uploads = createUploadGroups({
    statements: {
      lock: STATEMENT,
      begin: ({ bytes }) => CompiledQuery.raw(String(bytes)),
      commit: STATEMENT,
    },
    steps: {
      begin: async ({ bytes }) => void alone.push(bytes),
      commit: () => Promise.reject(new Error('Nothing is committed here.')),
    },
    turns: (_user, work) => work(),
    async runTogether({ take }) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[] | undefined>()
      groups.push({ take, end: resolve, fail: reject })
      return (await promise)?.map((rows) => ({ rows: Array.from({ length: rows }, () => ({})) }))
    },
  })
  return {
    groups,
    /** What was done step by step. */
    alone,
    begin: (bytes: number, more: Partial<BeginUpload> = {}) =>
      uploads.begin({ bytes, userId: parseUserId('ann'), ...more } as BeginUpload),
    /** What the group that is locked now has in it. */
    taken: (index: number) => groups[index]?.take().map((query) => query.sql),
  }
}

describe('the uploads of a user', () => {
  it('gather until the lock is held, and then in the next group; those of others apart', () => {
    const { begin, groups, taken } = bed()
    for (const bytes of [1, 2]) void begin(bytes)
    void begin(3, { userId: parseUserId('bob') })
    expect(groups).toHaveLength(2)
    expect(taken(0)).toEqual(['1', '2'])
    for (const bytes of [4, 5]) void begin(bytes)
    expect(groups).toHaveLength(3)
    expect(taken(1)).toEqual(['3'])
    expect(taken(2)).toEqual(['4', '5'])
  })

  it('are in a group of 64 at most', () => {
    const { begin, groups, taken } = bed()
    for (let bytes = 1; bytes <= 65; bytes += 1) void begin(bytes)
    expect(groups).toHaveLength(2)
    expect(taken(0)).toHaveLength(64)
    expect(taken(1)).toEqual(['65'])
  })

  it('are done step by step when their statement took no effect, or they have a precondition', async () => {
    const { alone, begin, groups, taken } = bed()
    const precondition = { ifNoneMatch: '*' } as const
    const begun = [begin(1), begin(2), begin(3), begin(4, { precondition })]
    expect(alone).toEqual([4])
    expect(taken(0)).toEqual(['1', '2', '3'])
    groups[0]?.end([1, 0, 1])
    await Promise.all(begun)
    expect(alone).toEqual([4, 2])
  })

  it('are all done step by step when a statement failed', async () => {
    const { alone, begin, groups, taken } = bed()
    const begun = [begin(1), begin(2)]
    taken(0)
    groups[0]?.end(undefined)
    await Promise.all(begun)
    expect(alone).toEqual([1, 2])
  })

  it('all fail when the database does, also before it gave the lock, and the next ones gather anew', async () => {
    const { alone, begin, groups, taken } = bed()
    const unavailable = new AppError('unavailable', 'The database does not answer.')
    const begun = [begin(1), begin(2)]
    groups[0]?.fail(unavailable)
    for (const each of begun) await expect(each).rejects.toBe(unavailable)
    const next = begin(3)
    expect(taken(1)).toEqual(['3'])
    groups[1]?.end([1])
    await next
    expect(alone).toEqual([])
  })
})
