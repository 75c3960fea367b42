import { callerNamed } from '../../support/caller.ts'
import { describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import {
  objectKey,
  type ObjectKey,
  createVersion,
  type Version,
} from '../../../src/core/objects/object-key.ts'
import type { ObjectStore } from '../../../src/core/objects/object-store.ts'
import { createSweeper } from '../../../src/core/sweep/sweeper.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import { failingPut, faultyStore, outage, truncatingPut } from '../../support/faults/faults.ts'
import { contentOf, incomingFile, stalledContent } from '../../support/http/incoming-file.ts'
import {
  GARBAGE_DELAY_MS,
  LEASE_MS,
  leftovers,
  NOTHING_LEFT,
  openTestCore,
  RETENTION_MS,
  settle,
  sweepOnce,
  type TestCore,
} from '../../support/service/test-core.ts'
import { litter } from './fixture.ts'
import { createTestUser, openTestRepository } from '../../support/service/test-repository.ts'
import { readUsage } from '../../support/read-usage.ts'

const NOTHING_DONE = {
  expiredUploads: 0,
  removedObjects: 0,
  failedRemovals: 0,
  firstFailure: undefined,
  forgottenUploads: 0,
  purgedRows: 0,
  end: 'complete',
}

/** From one sweep of an instance to the next; what failed is due again by then. */
const SWEEP_INTERVAL_MS = 20_000

const signal = (): AbortSignal => AbortSignal.timeout(5000)

/** Leaves behind what a process does that dies in the middle of an upload. */
async function crashedUpload(
  core: TestCore,
  options: { name?: string; bytes?: number } = {},
): Promise<{ userId: UserId; version: Version; key: ObjectKey }> {
  const { name = 'crashed', bytes = 5 } = options
  const [userId, version] = [await createTestUser(core), createVersion()]
  const key = objectKey(userId, version)
  const caller = await callerNamed(core.users, userId)
  const names = { ...caller, version, name: parseFileName(name), objectKey: key }
  await core.ledger.begin({ ...names, bytes })
  await putObject(core, key)
  return { userId, version, key }
}

async function putObject({ objects }: TestCore, key: ObjectKey): Promise<void> {
  await objects.put({ key, body: contentOf([Buffer.from('bytes')]), signal: signal() })
}

async function has({ objects }: TestCore, key: ObjectKey): Promise<boolean> {
  return (await objects.head({ key, signal: signal() })) !== undefined
}

async function journalled({ database }: TestCore): Promise<string[]> {
  const rows = await database.kysely.selectFrom('uploads').select('state').execute()
  return rows.map(({ state }) => state)
}

/** The store, but for some keys that can not be removed. */
function stubborn(core: TestCore, keys: readonly ObjectKey[]): ObjectStore {
  return faultyStore(core.objects, {
    remove: async (object) => {
      if (keys.includes(object.key)) throw outage()
      await core.objects.remove(object)
    },
  })
}

describe('sweep', () => {
  it('does nothing where nothing is left', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    await upload('a', 'hello')
    expect(await sweepOnce(core)).toEqual(NOTHING_DONE)
  })

  it('ends an upload whose lease is over: its reservation and its object', async () => {
    await using core = await openTestCore()
    const { userId, key } = await crashedUpload(core)
    core.clock.now += LEASE_MS
    expect(await sweepOnce(core)).toEqual({ ...NOTHING_DONE, expiredUploads: 1, removedObjects: 1 })
    expect(await has(core, key)).toBe(false)
    expect(await readUsage(core.ledger, userId)).toMatchObject({ used: 0, reserved: 0 })
  })

  describe('while aborted uploads become due faster than they are removed', () => {
    /** Always lists a page of aborted uploads; `pages` counts them. */
    function endless(core: TestCore, userId: UserId) {
      const counted = { pages: 0 }
      const ledger: Ledger = {
        ...core.ledger,
        listAbortedUploads: async ({ limit }) => {
          counted.pages += 1
          return Array.from({ length: limit }, () => {
            const version = createVersion()
            const key = objectKey(userId, version)
            return { userId, version, objectKey: key, removeAt: core.clock.now, isLast: false }
          })
        },
        noteAbortedRemovals: async () => 0,
      }
      return { ledger, counted }
    }

    it('removes garbage, and ends', async () => {
      await using core = await openTestCore()
      const { ledger, counted } = endless(core, await createTestUser(core))
      const [garbage] = await litter(core, 1)
      let pagesBefore: number | undefined
      const objects = faultyStore(core.objects, {
        remove: async ({ key }) => {
          if (key === garbage) pagesBefore = counted.pages
        },
      })
      const sweeper = createSweeper({ ledger, objects })
      const report = await sweeper.sweep({ signal: signal(), maxMs: 100 })
      expect(report.end).toBe('complete')
      expect(pagesBefore).toBe(1)
    })

    it('tries no second page of garbage when all of the first has failed', async () => {
      await using core = await openTestCore()
      const { ledger } = endless(core, await createTestUser(core))
      const garbage = new Set(await litter(core, 130))
      const tried: ObjectKey[] = []
      const objects = faultyStore(core.objects, {
        remove: async ({ key }) => {
          if (!garbage.has(key)) return
          tried.push(key)
          throw outage()
        },
      })
      const sweeper = createSweeper({ ledger, objects })
      const report = await sweeper.sweep({ signal: signal(), maxMs: 300 })
      expect(report.end).toBe('gave_up')
      expect(tried).toHaveLength(64)
    })
  })

  it('E14 removes again what an aborted upload writes late', async () => {
    await using core = await openTestCore()
    const { key } = await crashedUpload(core)
    core.clock.now += LEASE_MS
    await sweepOnce(core)
    await putObject(core, key)
    core.clock.now += RETENTION_MS
    expect(await sweepOnce(core)).toMatchObject({ expiredUploads: 0, removedObjects: 1 })
    expect(await has(core, key)).toBe(false)
  })

  it('never touches the object of a committed upload, however old (I1)', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core)
    await upload('a', 'hello')
    await settle(core)
    expect(await journalled(core)).toEqual([])
    expect(await read('a')).toBe('hello')
  })

  it('settles more than fits into a page', async () => {
    await using core = await openTestCore()
    for (let uploads = 0; uploads < 101; uploads++) await crashedUpload(core)
    core.clock.now += LEASE_MS
    const done = { ...NOTHING_DONE, expiredUploads: 101, removedObjects: 101 }
    expect(await sweepOnce(core)).toEqual(done)
    core.clock.now += RETENTION_MS + 1
    expect(await sweepOnce(core)).toMatchObject({ forgottenUploads: 101 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('an object that can not be removed', () => {
  it('an object of an aborted upload keeps its row, also after the retention, until it is gone', async () => {
    await using core = await openTestCore()
    const { key } = await crashedUpload(core)
    core.clock.now += LEASE_MS
    const faulty = { ...core, objects: stubborn(core, [key]) }
    expect(await sweepOnce(faulty)).toMatchObject({ expiredUploads: 1, failedRemovals: 1 })
    core.clock.now += RETENTION_MS + 1
    expect(await sweepOnce(faulty)).toMatchObject({
      failedRemovals: 1,
      firstFailure: expect.any(Error) as Error,
      forgottenUploads: 0,
    })
    expect(await journalled(core)).toEqual(['aborted'])
    core.clock.now += SWEEP_INTERVAL_MS
    expect(await sweepOnce(core)).toMatchObject({ removedObjects: 1, forgottenUploads: 1 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('a garbage object keeps its row until it is gone', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    const { file } = await upload('a', 'old')
    await upload('a', 'new')
    core.clock.now += GARBAGE_DELAY_MS
    const faulty = { ...core, objects: stubborn(core, [file.objectKey]) }
    expect(await sweepOnce(faulty)).toMatchObject({ removedObjects: 0, failedRemovals: 1 })
    expect(await has(core, file.objectKey)).toBe(true)
    core.clock.now += SWEEP_INTERVAL_MS
    expect(await sweepOnce(core)).toMatchObject({ removedObjects: 1, failedRemovals: 0 })
    expect(await sweepOnce(core)).toMatchObject({ removedObjects: 0, failedRemovals: 0 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('holds up no other', async () => {
    await using core = await openTestCore()
    const crashed = []
    for (let uploads = 0; uploads < 12; uploads++) crashed.push(await crashedUpload(core))
    core.clock.now += LEASE_MS
    const keys = crashed.map(({ key }) => key)
    const faulty = { ...core, objects: stubborn(core, keys.slice(3, 5)) }
    expect(await sweepOnce(faulty)).toMatchObject({ removedObjects: 10, failedRemovals: 2 })
    expect((await leftovers(core)).orphans.toSorted()).toEqual(keys.slice(3, 5).toSorted())
  })
})

describe('garbage', () => {
  it('stays until its time', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    const { file } = await upload('a', 'old')
    await upload('a', 'new')
    core.clock.now += GARBAGE_DELAY_MS - 1
    expect(await sweepOnce(core)).toEqual(NOTHING_DONE)
    expect(await has(core, file.objectKey)).toBe(true)
  })
})

describe('a sweep beside others', () => {
  it('does not touch uploads that run', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core)
    await crashedUpload(core)
    core.clock.now += LEASE_MS
    const streams = ['a', 'b', 'c'].map((name) => ({ name, file: stalledContent('ne', 'w') }))
    const uploads = streams.map(({ name, file: { content } }) =>
      upload(name, incomingFile('', { content, size: { min: 3, announced: 3 } })),
    )
    await Promise.all(streams.map(({ file }) => file.stalled))
    expect(await sweepOnce(core)).toMatchObject({ expiredUploads: 1, removedObjects: 1 })
    for (const { file } of streams) file.go()
    await Promise.all(uploads)
    await settle(core)
    for (const { name } of streams) expect(await read(name)).toBe('new')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('G06 does not touch an upload older than its lease that is renewed', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core, { leaseMs: 60 })
    const { content, stalled, go } = stalledContent('ne', 'w')
    const uploading = upload('a', incomingFile('', { content, size: { min: 3, announced: 3 } }))
    await stalled
    core.clock.now += LEASE_MS
    await expect.poll(() => core.ledger.listExpiredUploads({ limit: 1 })).toEqual([])
    expect(await sweepOnce(core)).toEqual(NOTHING_DONE)
    go()
    await uploading
    expect(await read('a')).toBe('new')
  })

  it('does not touch an upload that is renewed after it was listed (I7)', async () => {
    await using core = await openTestCore()
    const { userId, version, key } = await crashedUpload(core)
    core.clock.now += LEASE_MS
    const listExpiredUploads: Ledger['listExpiredUploads'] = async (options) => {
      const expired = await core.ledger.listExpiredUploads(options)
      await core.ledger.renew({ version })
      return expired
    }
    const ledger = { ...core.ledger, listExpiredUploads }
    expect(await sweepOnce({ ...core, ledger })).toEqual(NOTHING_DONE)
    expect(await has(core, key)).toBe(true)
    expect(await readUsage(core.ledger, userId)).toMatchObject({ reserved: 5 })
  })

  it('G06 releases each reservation exactly once, however many sweepers run', async () => {
    await using core = await openTestCore()
    for (let uploads = 0; uploads < 20; uploads++) await crashedUpload(core)
    core.clock.now += LEASE_MS
    const { userId } = await crashedUpload(core, { bytes: 7 })
    await Promise.all(Array.from({ length: 4 }, () => sweepOnce(core)))
    expect(await readUsage(core.ledger, userId)).toMatchObject({ reserved: 7 })
    expect((await journalled(core)).filter((state) => state === 'aborted')).toHaveLength(20)
  })

  it('leaves nothing of a storm of failed uploads (I8)', async () => {
    await using core = await openTestCore()
    const cut = truncatingPut(core.objects)
    const remove = async (): Promise<never> => {
      throw outage()
    }
    const options = { objects: { put: cut, remove } }
    const { upload } = await openTestRepository(core, options)
    const failing = await openTestRepository(core, { objects: { put: failingPut } })
    const sound = await openTestRepository(core)
    const uploads = [upload('a', '1'), failing.upload('a', '2'), sound.upload('a', '3')]
    const outcomes = await Promise.allSettled([...uploads, sweepOnce(core)])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
    expect(await sound.read('a')).toBe('3')
  })
})

describe('a deleted user', () => {
  it('is purged completely, with files and running uploads', async () => {
    await using core = await openTestCore()
    const { upload, userId } = await openTestRepository(core)
    await upload('a', 'hello')
    await upload('b', 'world')
    const { key } = await crashedUpload(core)
    await core.users.deleteUser(userId)
    expect(await sweepOnce(core)).toMatchObject({ removedObjects: 1, failedRemovals: 0 })
    expect(await has(core, key)).toBe(false)
    core.clock.now += RETENTION_MS + 1
    await sweepOnce(core)
    await sweepOnce(core)
    expect(await core.users.findUser(userId)).toBeUndefined()
    for (const table of ['users', 'quotas', 'files', 'uploads', 'garbage'] as const) {
      expect(await core.database.kysely.selectFrom(table).selectAll().execute()).toEqual([])
    }
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('keeps its objects in the garbage for as long as a write of them can still land', async () => {
    await using core = await openTestCore()
    const { upload, userId } = await openTestRepository(core)
    const { file } = await upload('a', 'hello')
    await core.users.deleteUser(userId)
    core.clock.now += RETENTION_MS
    await sweepOnce(core)
    core.clock.now += RETENTION_MS - 1
    await sweepOnce(core)
    expect(await has(core, file.objectKey)).toBe(true)
    core.clock.now += 1
    await sweepOnce(core)
    expect(await has(core, file.objectKey)).toBe(false)
  })

  it('is not forgotten while one of the objects can not be removed', async () => {
    await using core = await openTestCore()
    const { key, userId } = await crashedUpload(core)
    await core.users.deleteUser(userId)
    const faulty = { ...core, objects: stubborn(core, [key]) }
    for (let sweeps = 0; sweeps < 3; sweeps++) {
      expect(await sweepOnce(faulty)).toMatchObject({ failedRemovals: 1 })
      core.clock.now += RETENTION_MS + 1
    }
    expect(await core.users.findUser(userId)).toMatchObject({ status: 'deleted' })
    await sweepOnce(core)
    await sweepOnce(core)
    expect(await core.users.findUser(userId)).toBeUndefined()
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('leaves the others as they are, and can come back with an empty repository', async () => {
    await using core = await openTestCore()
    const { upload, userId } = await openTestRepository(core)
    const bob = await createTestUser(core, 'bob')
    await upload('a', 'hello')
    await core.users.deleteUser(userId)
    await settle(core)
    expect(await core.users.findUser(bob)).toMatchObject({ status: 'active' })
    expect((await core.users.createUser(userId)).created).toBe(true)
    expect(await readUsage(core.ledger, userId)).toMatchObject({
      used: 0,
      reserved: 0,
      fileCount: 0,
    })
  })
})

it('forgets what operators did more than 400 days ago, all of it in one sweep', async () => {
  await using core = await openTestCore()
  const nobody = { userId: undefined, operator: undefined }
  const nothing = { ...nobody, address: undefined, requestId: undefined, details: {} }
  const ids = Array.from({ length: 102 }, (_none, at) => createVersion(at))
  for (const [at, actionId] of ids.entries()) {
    if (at === 101) core.clock.now += 400 * 86_400_000
    await core.ledger.recordOperatorAction({ ...nothing, action: 'session.open', actionId })
  }
  const list = async () => {
    const page = { ...nobody, after: undefined, limit: 1000 }
    return (await core.ledger.listOperatorActions(page)).map(({ actionId }) => actionId)
  }
  await sweepOnce(core)
  expect(await list()).toEqual(ids.toReversed())
  core.clock.now += 1
  await sweepOnce(core)
  expect(await list()).toEqual(ids.slice(-1))
})

describe('the end of a sweep', () => {
  it('a sweep ends with unavailable when the database fails', async () => {
    await using core = await openTestCore()
    const findUserToPurge = async (): Promise<never> => {
      throw outage()
    }
    const sweeping = sweepOnce({ ...core, ledger: { ...core.ledger, findUserToPurge } })
    await expect(sweeping).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('a sweep ends when its signal aborts, and the next one goes on', async () => {
    await using core = await openTestCore()
    const { key } = await crashedUpload(core)
    core.clock.now += LEASE_MS
    const sweeper = createSweeper(core)
    await expect(sweeper.sweep({ signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow(
      'stop',
    )
    await sweepOnce(core)
    expect(await has(core, key)).toBe(false)
  })
})
