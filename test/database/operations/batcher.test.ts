import { setImmediate } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import type { BeginUpload } from '../../../src/core/uploads/upload-ledger.ts'
import { parseUserId } from '../../../src/core/users/user-id.ts'
import type { Batch } from '../../../src/database/database.ts'
import { createBatcher, inBatches } from '../../../src/database/operations/batcher.ts'

const QUEUE_TIMEOUT_MS = 10_000

interface Sent {
  /** Whose rows it locks; of one user alone where it waits for the row. */
  readonly users: readonly unknown[]
  readonly waits: boolean
  /** The statements, given whose rows it could lock. */
  readonly take: (...locked: readonly string[]) => readonly string[]
  /** Has it answered, with the number of rows of each statement. */
  readonly end: (answers: readonly number[] | undefined) => Promise<void>
  readonly fail: (error: Error) => Promise<void>
}

/** Transactions whose locks and ends the test gives; a statement is the number of bytes that its upload begins with. */
function bed() {
  const sent: Sent[] = []
  const alone: number[] = []
  const batcher = createBatcher({
    queueTimeoutMs: QUEUE_TIMEOUT_MS,
    locks: {
      one: ({ userId }) => CompiledQuery.raw('lock', [userId]),
      free: ({ userIds }) => CompiledQuery.raw('lock free', [...userIds]),
    },
    inOrder: (_user, work) => work(),
    async runBatch({ lock, waits, take }: Batch) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[] | undefined>()
      sent.push({
        users: lock.parameters,
        waits: waits === true,
        take: (...locked) => take(locked.map((id) => ({ user_id: id }))).map(({ sql }) => sql),
        end(answers) {
          resolve(answers)
          return settled()
        },
        fail(error) {
          reject(error)
          return settled()
        },
      })
      return (await promise)?.map((rows) => ({ rows: Array.from({ length: rows }, () => ({})) }))
    },
  })
  const begin = inBatches<BeginUpload, void>({
    batcher,
    queryOf: ({ bytes, precondition }) =>
      precondition === undefined ? CompiledQuery.raw(String(bytes)) : undefined,
    toResult: () => undefined,
    steps: async ({ bytes }) => void alone.push(bytes),
  })
  return {
    sent,
    /** What was done step by step. */
    alone,
    begin: (userId: string, bytes: number, more: Partial<BeginUpload> = {}) => {
      const begun = begin({ bytes, userId: parseUserId(userId), ...more } as BeginUpload)
      // One that still waits when its test ends is refused long after.
      begun.catch(() => undefined)
      return begun
    },
  }
}

/** Where the first transaction is under way, and the test tells how long the others have waited. */
async function stuckBed(
  onTestFinished: (restore: () => void) => void,
): Promise<ReturnType<typeof bed>> {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const stuck = bed()
  void stuck.begin('ann', 1)
  await settled()
  return stuck
}

/** Until all has happened that waits for nothing else. */
async function settled(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

describe('uploads', () => {
  it('share a transaction with all that come at the same time, whoever their users are', async () => {
    const { begin, sent } = bed()
    void begin('ann', 1)
    void begin('bob', 2)
    void begin('ann', 3)
    await settled()
    expect(sent).toMatchObject([{ users: ['ann', 'bob'], waits: false }])
    expect(sent[0]?.take('bob', 'ann')).toEqual(['2', '1', '3'])
  })

  it('go in two transactions at a time, and gather while both are under way', async () => {
    const { begin, sent } = bed()
    for (const user of ['ann', 'bob']) {
      void begin(user, 1)
      await settled()
    }
    void begin('cid', 1)
    void begin('dan', 1)
    await settled()
    expect(sent.map(({ users }) => users)).toEqual([['ann'], ['bob']])
    sent[1]?.take('bob')
    await sent[1]?.end([1])
    expect(sent[2]?.users).toEqual(['cid', 'dan'])
  })

  it('wait for those of the same user, which are under way', async () => {
    const { begin, sent } = bed()
    void begin('ann', 1)
    await settled()
    for (const bytes of [2, 3]) void begin('ann', bytes)
    void begin('bob', 4)
    await settled()
    expect(sent.map(({ users }) => users)).toEqual([['ann'], ['bob']])
    sent[0]?.take('ann')
    await sent[0]?.end([1])
    expect(sent[2]?.take('ann')).toEqual(['2', '3'])
  })

  it('go without those of a user whose row somebody else holds, which wait for it by themselves', async () => {
    const { begin, sent } = bed()
    const done: string[] = []
    for (const user of ['ann', 'bob']) void begin(user, 1).then(() => done.push(user))
    await settled()
    expect(sent[0]?.take('ann')).toEqual(['1'])
    await sent[0]?.end([1])
    expect(done).toEqual(['ann'])
    void begin('bob', 2)
    await settled()
    expect(sent.slice(1)).toMatchObject([{ users: ['bob'], waits: true }])
    expect(sent[1]?.take('bob')).toEqual(['1'])
    await sent[1]?.end([1])
    expect(done).toEqual(['ann', 'bob'])
    expect(sent[2]).toMatchObject({ users: ['bob'], waits: false })
  })

  it('uploads of many users whose rows are held wait by themselves, as work whose lock was found taken', async () => {
    const { begin, sent } = bed()
    const users = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay']
    for (const user of users) void begin(user, 1)
    await settled()
    sent[0]?.take()
    await sent[0]?.end(undefined)
    expect(sent.slice(1)).toMatchObject(users.map((user) => ({ users: [user], waits: true })))
  })

  it('are 64 in a transaction at most, and what is left of a user waits behind all others', async () => {
    const { begin, sent } = bed()
    for (const user of ['ann', 'bob']) {
      void begin(user, 0)
      await settled()
    }
    for (let bytes = 1; bytes <= 200; bytes += 1) void begin('cid', bytes)
    for (const user of ['dan', 'eve']) void begin(user, 0)
    sent[0]?.take('ann')
    await sent[0]?.end([1])
    expect(sent[2]?.users).toEqual(['cid'])
    expect(sent[2]?.take('cid')).toHaveLength(64)
    await sent[2]?.end(Array.from({ length: 64 }, () => 1))
    expect(sent[3]?.users).toEqual(['dan', 'eve', 'cid'])
    expect(sent[3]?.take('dan', 'eve', 'cid')).toHaveLength(64)
  })

  it('are done step by step when their statement took no effect, or there is none', async () => {
    const { alone, begin, sent } = bed()
    const precondition = { ifNoneMatch: '*' } as const
    const begun = [1, 2, 3].map((bytes) => begin('ann', bytes))
    begun.push(begin('ann', 4, { precondition }))
    expect(alone).toEqual([4])
    await settled()
    expect(sent[0]?.take('ann')).toEqual(['1', '2', '3'])
    await sent[0]?.end([1, 0, 1])
    await Promise.all(begun)
    expect(alone).toEqual([4, 2])
  })

  it('go by user when a statement failed, and step by step when it does so again', async () => {
    const { alone, begin, sent } = bed()
    const begun = [begin('ann', 1), begin('ann', 2), begin('bob', 3)]
    await settled()
    sent[0]?.take('ann', 'bob')
    await sent[0]?.end(undefined)
    expect(sent.slice(1)).toMatchObject([
      { users: ['ann'], waits: true },
      { users: ['bob'], waits: true },
    ])
    sent[1]?.take('ann')
    await sent[1]?.end(undefined)
    sent[2]?.take('bob')
    await sent[2]?.end([1])
    await Promise.all(begun)
    expect(alone).toEqual([1, 2])
  })

  it('are what the last of several attempts locked', async () => {
    const { begin, sent } = bed()
    const begun = [begin('ann', 1), begin('bob', 2)]
    await settled()
    sent[0]?.take('ann', 'bob')
    expect(sent[0]?.take('bob')).toEqual(['2'])
    await sent[0]?.end([1])
    expect(sent[1]).toMatchObject({ users: ['ann'], waits: true })
    sent[1]?.take('ann')
    await sent[1]?.end([1])
    await Promise.all(begun)
  })

  it('all fail when the database does, and the next ones gather anew', async () => {
    const { alone, begin, sent } = bed()
    const unavailable = new AppError('unavailable', 'The database does not answer.')
    const outcomes = Promise.allSettled([begin('ann', 1), begin('bob', 2)])
    await settled()
    await sent[0]?.fail(unavailable)
    const failed = { status: 'rejected', reason: unavailable }
    expect(await outcomes).toEqual([failed, failed])
    const next = Promise.allSettled([begin('ann', 3)])
    await settled()
    sent[1]?.take()
    await sent[1]?.end(undefined)
    await sent[2]?.fail(unavailable)
    expect(await next).toEqual([failed])
    void begin('ann', 4)
    await settled()
    expect(sent[3]?.take('ann')).toEqual(['4'])
    expect(alone).toEqual([])
  })

  it('are refused when they have waited for too long while something of their user is still under way', async ({
    onTestFinished,
  }) => {
    const { begin, sent } = await stuckBed(onTestFinished)
    const late = Promise.allSettled([begin('ann', 2)])
    await settled()
    vi.advanceTimersByTime(QUEUE_TIMEOUT_MS + 1)
    void begin('bob', 3)
    await settled()
    expect(sent.map(({ users }) => users)).toEqual([['ann'], ['bob']])
    expect(await late).toMatchObject([{ reason: { code: 'unavailable' } }])
  })

  it('are refused when they have waited for too long, and no others with them', async ({
    onTestFinished,
  }) => {
    const { begin, sent } = await stuckBed(onTestFinished)
    const late = Promise.allSettled([begin('ann', 2)])
    vi.advanceTimersByTime(QUEUE_TIMEOUT_MS)
    void begin('ann', 3)
    vi.advanceTimersByTime(1)
    sent[0]?.take('ann')
    await sent[0]?.end([1])
    expect(await late).toMatchObject([{ reason: { code: 'unavailable' } }])
    expect(sent[1]?.take('ann')).toEqual(['3'])
  })
})
