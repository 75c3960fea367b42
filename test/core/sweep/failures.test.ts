import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { createSweeper } from '../../../src/core/sweep/sweeper.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import { outage } from '../../support/faults/faults.ts'
import {
  LEASE_MS,
  openTestCore,
  sweepOnce,
  type TestCore,
} from '../../support/service/test-core.ts'
import { callerNamed } from '../../support/caller.ts'
import { createTestUser, openTestRepository } from '../../support/service/test-repository.ts'
import { openAccount } from '../ledger/fixture.ts'
import { countGarbage, litter } from './fixture.ts'
import { readUsage } from '../../support/read-usage.ts'

async function abandonedUpload(core: TestCore, user: string): Promise<UserId> {
  const [userId, version] = [await createTestUser(core, user), createVersion()]
  await core.ledger.begin({
    ...(await callerNamed(core.users, userId)),
    version,
    name: parseFileName('abandoned'),
    objectKey: objectKey(userId, version),
    bytes: 5,
  })
  return userId
}

/** What `verify` calls a drifted quota: less than the rows of the user add up to. */
async function drift({ database }: TestCore, userId: UserId): Promise<void> {
  await sql`
    UPDATE quotas SET used_bytes = 0, reserved_bytes = 0, file_count = 0 WHERE user_id = ${userId}
  `.execute(database.kysely)
}

async function reserved({ ledger }: TestCore, userId: UserId): Promise<number | undefined> {
  return (await readUsage(ledger, userId))?.reserved
}

describe('a user whose uploads can not be aborted', () => {
  it('keeps neither the uploads of others nor the garbage from the sweep, which ends with the cause', async () => {
    await using core = await openTestCore()
    const ada = await abandonedUpload(core, 'ada')
    core.clock.now += 1
    const bob = await abandonedUpload(core, 'bob')
    await litter(core, 3)
    await drift(core, ada)
    core.clock.now += LEASE_MS
    await expect(sweepOnce(core)).rejects.toMatchObject({
      message: expect.stringContaining('ada') as string,
      cause: { message: expect.stringContaining('CHECK') as string },
    })
    expect(await reserved(core, bob)).toBe(0)
    expect(await countGarbage(core)).toBe(0)
  })

  it('does not keep the expiry from those of others, also behind a page of them', async () => {
    await using core = await openTestCore()
    let ada: UserId | undefined
    for (let uploads = 0; uploads < 101; uploads++) ada = await abandonedUpload(core, 'ada')
    core.clock.now += 1
    const bob = await abandonedUpload(core, 'bob')
    if (ada !== undefined) await drift(core, ada)
    core.clock.now += LEASE_MS
    let attempts = 0
    const abort: Ledger['abort'] = async (upload) => {
      if (upload.userId === ada) attempts += 1
      return await core.ledger.abort(upload)
    }
    const ledger = { ...core.ledger, abort }
    const sweeper = createSweeper({ ...core, ledger })
    await expect(sweeper.expire(AbortSignal.timeout(10_000))).rejects.toThrow('ada')
    expect(await reserved(core, bob)).toBe(0)
    // Every attempt can take as long as a lock is waited for.
    expect(attempts).toBe(1)
  })

  it('ends the expiry at once when it is the database that fails', async () => {
    await using core = await openTestCore()
    for (const user of ['ada', 'bob', 'cyd']) await abandonedUpload(core, user)
    core.clock.now += LEASE_MS
    let attempts = 0
    const abort = async (): Promise<never> => {
      attempts += 1
      throw outage()
    }
    const check = async (): Promise<never> => {
      throw outage()
    }
    const ledger: Ledger = { ...core.ledger, abort, check }
    await expect(sweepOnce({ ...core, ledger })).rejects.toMatchObject({ code: 'unavailable' })
    expect(attempts).toBe(1)
  })
})

describe('a deleted user who can not be purged', () => {
  it('keeps neither other deleted users nor the garbage from the sweep, which ends with the cause', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    const alice = await createTestUser(core)
    await upload('a', 'hello')
    const bob = await createTestUser(core, 'bob')
    await litter(core, 3)
    for (const userId of [alice, bob]) await core.users.deleteUser(userId)
    await drift(core, alice)
    await expect(sweepOnce(core)).rejects.toMatchObject({
      message: expect.stringContaining('alice') as string,
      cause: { message: expect.stringContaining('CHECK') as string },
    })
    expect(await core.users.findUser(bob)).toBeUndefined()
    expect(await core.users.findUser(alice)).toMatchObject({ status: 'deleted' })
    expect(await countGarbage(core)).toBe(0)
  })
})

describe('a user whose garbage can not be forgotten', () => {
  it('keeps the garbage of nobody else, and is tried once in a sweep, and again in the next', async () => {
    await using core = await openTestCore({ times: { garbageDelayMs: 0 } })
    const [ada, bob] = [await openAccount(core), await openAccount(core)]
    for (const account of [ada, bob]) {
      // More than a page each.
      for (let files = 0; files < 65; files++) {
        await account.put('a', 1)
        await account.remove('a')
      }
    }
    await litter(core, 3)
    let attempts = 0
    const noteGarbageRemovals: Ledger['noteGarbageRemovals'] = async (removals) => {
      if (removals.userId !== ada.userId) return await core.ledger.noteGarbageRemovals(removals)
      attempts += 1
      throw outage()
    }
    const ledger: Ledger = { ...core.ledger, noteGarbageRemovals }
    await expect(sweepOnce({ ...core, ledger })).rejects.toThrow(ada.userId)
    expect(await countGarbage(core)).toBe(65)
    // Every attempt can take as long as a lock is waited for.
    expect(attempts).toBe(1)
    await sweepOnce(core)
    expect(await countGarbage(core)).toBe(0)
  })
})

describe('a step that fails', () => {
  it('does not keep those after it from running', async () => {
    await using core = await openTestCore()
    await litter(core, 3)
    const fail = async (): Promise<never> => {
      throw outage()
    }
    const ledger: Ledger = {
      ...core.ledger,
      listExpiredUploads: fail,
      findUserToPurge: fail,
      forgetUploads: fail,
      listAbortedUploads: fail,
    }
    await expect(sweepOnce({ ...core, ledger })).rejects.toMatchObject({ code: 'unavailable' })
    expect(await countGarbage(core)).toBe(0)
  })
})

it('a disk without room to end files that have expired is no failure, and the rest is swept', async () => {
  await using core = await openTestCore()
  await litter(core, 3)
  const userId = await createTestUser(core)
  let asked = 0
  const ledger: Ledger = {
    ...core.ledger,
    listUsersWithExpired: async () => [userId, userId],
    expireFiles: async () => {
      asked += 1
      throw new AppError('insufficient_storage', 'The disk is nearly full.')
    },
  }
  expect(await sweepOnce({ ...core, ledger })).toMatchObject({ end: 'complete' })
  expect(await countGarbage(core)).toBe(0)
  expect(asked).toBe(1)
})
