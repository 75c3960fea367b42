import { callerNamed } from '../../support/caller.ts'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import { createSweeper } from '../../../src/core/sweep/sweeper.ts'
import {
  openTestCore,
  RETENTION_MS,
  sweepOnce,
  type TestCore,
} from '../../support/service/test-core.ts'
import { createTestUser, openTestRepository } from '../../support/service/test-repository.ts'
import { countGarbage, countObjects, litter, watched } from './fixture.ts'
import { readUsage } from '../../support/read-usage.ts'

/** How long a sweep is taken to be alive without a word. */
const LEADER_LEASE_MS = 60_000

const signal = (): AbortSignal => AbortSignal.timeout(10_000)

/** A sweep that has begun to remove and stands still until it is let go. */
async function standingSweep(core: TestCore) {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { objects } = watched(core.objects, () => {
    begun.resolve()
    return gate.promise
  })
  const sweeping = sweepOnce({ ...core, objects })
  await begun.promise
  return { sweeping, go: gate.resolve }
}

/** Leases of the core last so long. */
const SHORT = { times: { leaseMs: 1_000 } } as const

async function expiredUpload(core: TestCore) {
  const [userId, version] = [await createTestUser(core), createVersion()]
  const caller = await callerNamed(core.users, userId)
  const upload = { ...caller, version, name: parseFileName('a'), bytes: 5 }
  const key = objectKey(userId, version)
  await core.ledger.begin({ ...upload, objectKey: key })
  core.clock.now += 1_000
  return userId
}

describe('of two sweeps at once', () => {
  it('the second aborts expired uploads and leaves the rest to the first', async () => {
    await using core = await openTestCore(SHORT)
    await litter(core, 200)
    const { sweeping, go } = await standingSweep(core)
    const userId = await expiredUpload(core)
    const second = await sweepOnce(core)
    expect(second).toMatchObject({ end: 'elsewhere', expiredUploads: 1, removedObjects: 0 })
    expect(await readUsage(core.ledger, userId)).toMatchObject({ reserved: 0 })
    go()
    // With what the aborted upload may have left.
    expect(await sweeping).toMatchObject({ end: 'complete', removedObjects: 201 })
  })

  it('the second waits for the end of the first when it is told to, and then sweeps', async () => {
    await using core = await openTestCore()
    await litter(core, 70)
    const { sweeping, go } = await standingSweep(core)
    let waits = 0
    const sweeper = createSweeper(core)
    const second = sweeper.sweep({ signal: signal(), onWait: () => (waits += 1) })
    await expect.poll(() => waits).toBe(1)
    go()
    expect(await sweeping).toMatchObject({ end: 'complete' })
    await litter(core, 1)
    expect(await second).toMatchObject({ end: 'complete', removedObjects: 1 })
    expect(waits).toBe(1)
  })

  it('the one that waits ends when its signal aborts', async () => {
    await using core = await openTestCore()
    await litter(core, 1)
    const { sweeping, go } = await standingSweep(core)
    const stop = new AbortController()
    const sweeper = createSweeper(core)
    const onWait = (): void => stop.abort(new Error('stop'))
    await expect(sweeper.sweep({ signal: stop.signal, onWait })).rejects.toThrow('stop')
    go()
    await sweeping
  })
})

describe('a sweep', () => {
  it('does what one left that died, when the lease of that one has ended', async () => {
    await using core = await openTestCore()
    await litter(core, 3)
    const dead = { name: 'sweep', holder: 'dead', leaseMs: LEADER_LEASE_MS } as const
    await core.ledger.acquireLeaderLease(dead)
    expect(await sweepOnce(core)).toMatchObject({ end: 'elsewhere' })
    core.clock.now += LEADER_LEASE_MS
    expect(await sweepOnce(core)).toMatchObject({ end: 'complete', removedObjects: 3 })
  })

  it('a sweep that was taken for dead leaves the rest to the one that took over', async () => {
    await using core = await openTestCore()
    await litter(core, 200)
    const { sweeping, go } = await standingSweep(core)
    core.clock.now += LEADER_LEASE_MS
    const stolen = { name: 'sweep', holder: 'another', leaseMs: LEADER_LEASE_MS } as const
    expect(await core.ledger.acquireLeaderLease(stolen)).toBe(true)
    const now = performance.now.bind(performance)
    // By this clock the lease has ended, so the sweep renews it before its next step.
    performance.now = () => now() + LEADER_LEASE_MS
    try {
      go()
      expect(await sweeping).toMatchObject({ end: 'elsewhere' })
    } finally {
      Reflect.deleteProperty(performance, 'now')
    }
    expect(await countGarbage(core)).toBeGreaterThan(0)
    expect(await core.ledger.acquireLeaderLease({ ...stolen, holder: 'third' })).toBe(false)
  })

  it('releases the leader lease when it fails, and ends well when it cannot', async () => {
    await using core = await openTestCore()
    await litter(core, 1)
    const fail = async (): Promise<never> => {
      await setTimeout(1)
      throw new TypeError('a defect')
    }
    const ledger: Ledger = { ...core.ledger, listGarbage: fail }
    await expect(sweepOnce({ ...core, ledger })).rejects.toThrow('a defect')
    const mute: Ledger = { ...core.ledger, releaseLeaderLease: fail }
    expect(await sweepOnce({ ...core, ledger: mute })).toMatchObject({ end: 'complete' })
  })
})

describe('a sweep on a full disk', () => {
  it('F08 removes the garbage that is due, whatever it can not write, and no other object', async () => {
    await using core = await openTestCore(SHORT)
    await expiredUpload(core)
    const due = await litter(core, 200)
    const { upload, read } = await openTestRepository(core)
    await upload('kept', 'content')
    await upload('replaced', 'old')
    await upload('replaced', 'new')
    const sweeping = sweepOnce({ ...core, ledger: fullLedger(core) })
    await expect(sweeping).rejects.toMatchObject({ isFull: true })
    // What was replaced just now is not due.
    expect(await countObjects(core)).toBe(3)
    expect(await countGarbage(core)).toBe(due.length + 1)
    expect([await read('kept'), await read('replaced')]).toEqual(['content', 'new'])
    expect(await sweepOnce(core)).toMatchObject({ end: 'complete', expiredUploads: 1 })
    expect(await countGarbage(core)).toBe(1)
  })

  it('F08 does all the rest as soon as the removals have made room', async () => {
    await using core = await openTestCore()
    await litter(core, 70)
    const isFull = async (): Promise<boolean> => (await countObjects(core)) > 6
    const report = await sweepOnce({ ...core, ledger: fullLedger(core, isFull) })
    expect(report).toMatchObject({ end: 'complete' })
    expect([await countObjects(core), await countGarbage(core)]).toEqual([0, 0])
  })

  it('removes nothing without the leader lease when the database fails in another way', async () => {
    await using core = await openTestCore()
    await litter(core, 3)
    const gone = new AppError('unavailable', 'The database does not answer.', {
      dependency: 'database',
    })
    const ledger: Ledger = { ...core.ledger, acquireLeaderLease: () => Promise.reject(gone) }
    await expect(sweepOnce({ ...core, ledger })).rejects.toBe(gone)
    expect(await countObjects(core)).toBe(3)
  })
})

/** The ledger, every write of which fails for as long as the disk is full. */
function fullLedger({ ledger }: TestCore, isFull = async (): Promise<boolean> => true): Ledger {
  const whenThereIsRoom =
    <A, R>(write: (argument: A) => Promise<R>) =>
    async (argument: A): Promise<R> => {
      if (!(await isFull())) return await write(argument)
      throw new AppError('unavailable', 'The disk is full.', {
        dependency: 'database',
        isFull: true,
      })
    }
  return {
    ...ledger,
    abort: whenThereIsRoom((upload) => ledger.abort(upload)),
    acquireLeaderLease: whenThereIsRoom((claim) => ledger.acquireLeaderLease(claim)),
    releaseLeaderLease: whenThereIsRoom((claim) => ledger.releaseLeaderLease(claim)),
    forgetUploads: whenThereIsRoom((options) => ledger.forgetUploads(options)),
    purgeDeletedUsers: whenThereIsRoom((options) => ledger.purgeDeletedUsers(options)),
    noteAbortedRemovals: whenThereIsRoom((removals) => ledger.noteAbortedRemovals(removals)),
    noteGarbageRemovals: whenThereIsRoom((removals) => ledger.noteGarbageRemovals(removals)),
  }
}

describe('what an aborted upload may have left', () => {
  it('is looked for ever more seldom, and once after the retention', async () => {
    await using core = await openTestCore(SHORT)
    const userId = await expiredUpload(core)
    const abortedAt = core.clock.now
    const ages: number[] = []
    const { objects } = watched(core.objects, async () => {
      ages.push((core.clock.now - abortedAt) / 1000)
    })
    while (core.clock.now < abortedAt + 2 * RETENTION_MS) {
      await sweepOnce({ ...core, objects })
      core.clock.now += 20_000
    }
    expect(ages).toEqual([0, 20, 40, 80, 160, 320, 640, 920])
    expect(await core.database.kysely.selectFrom('uploads').selectAll().execute()).toEqual([])
    expect(await readUsage(core.ledger, userId)).toMatchObject({ reserved: 0 })
  })

  it('an object of an aborted upload that can not be removed keeps no other upload in the journal', async () => {
    await using core = await openTestCore(SHORT)
    await expiredUpload(core)
    await expiredUpload(core)
    await sweepOnce(core)
    core.clock.now += RETENTION_MS + 1
    let removals = 0
    const { objects } = watched(core.objects, async () => {
      removals += 1
      if (removals === 1) throw new Error('stubborn')
    })
    const report = await sweepOnce({ ...core, objects })
    expect(report).toMatchObject({ failedRemovals: 1, forgottenUploads: 1, end: 'complete' })
    core.clock.now += 20_000
    expect(await sweepOnce(core)).toMatchObject({ failedRemovals: 0, forgottenUploads: 1 })
  })
})
