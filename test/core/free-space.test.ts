import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseFileName } from '../../src/core/file-name.ts'
import { createFreeSpace, type FreeSpace } from '../../src/core/free-space.ts'
import { incomingFile } from '../support/incoming-file.ts'
import { leftovers, NOTHING_LEFT, openTestCore } from '../support/test-core.ts'
import { openTestRepository } from '../support/test-repository.ts'

const REFUSED = { code: 'insufficient_storage' }

describe('the floor of free space', () => {
  let disks: Record<string, number>
  let measurements: number
  let space: FreeSpace

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
    disks = { objects: 1_000, database: 1_000 }
    measurements = 0
    space = floorOf(100)
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  function floorOf(leastBytes: number): FreeSpace {
    const measure = async (folder: string): Promise<number> => {
      measurements += 1
      return disks[folder] ?? Promise.reject(new Error('no such folder'))
    }
    return createFreeSpace({ folders: ['objects', 'database', 'gone'], leastBytes, measure })
  }

  it('is what has to be left on every disk', async () => {
    await expect(space.demand(901)).rejects.toMatchObject(REFUSED)
    await space.demand(900)
    vi.advanceTimersByTime(1_001)
    disks['database'] = 99
    await expect(space.demand(0)).rejects.toMatchObject(REFUSED)
  })

  it('is not spent twice between two measurements', async () => {
    const asked = await Promise.allSettled([
      space.demand(500),
      space.demand(500),
      space.demand(300),
    ])
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('is measured once a second, however many ask', async () => {
    await Promise.all([space.demand(1), space.demand(2), space.demand(3)])
    expect(measurements).toBe(3)
    vi.advanceTimersByTime(1_001)
    await space.demand(1)
    expect(measurements).toBe(6)
  })

  it('lets bytes come until a measurement finds less, and again once there is more', async () => {
    await space.demand(0)
    expect(space.check()).toBe(undefined)
    disks['objects'] = 50
    vi.advanceTimersByTime(1_001)
    // This one begins the measurement and does not wait for it.
    expect(space.check()).toBe(undefined)
    await expect.poll(() => isRefused(space)).toBe(true)
    disks['objects'] = 1_000
    vi.advanceTimersByTime(1_001)
    await space.demand(0)
    expect(space.check()).toBe(undefined)
  })

  it('of 0 refuses nothing and measures nothing', async () => {
    await floorOf(0).demand(10_000)
    expect(floorOf(0).check()).toBe(undefined)
    expect(measurements).toBe(0)
  })
})

describe('an upload for which there is no space', () => {
  it('is refused before anything of it is on the books', async () => {
    await using core = await openTestCore()
    const { upload, usage } = await openTestRepository(core, { space: shortSpace('demand') })
    await expect(upload('a', 'hello')).rejects.toMatchObject(REFUSED)
    expect(await usage()).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
    expect(await core.database.kysely.selectFrom('uploads').selectAll().execute()).toEqual([])
  })

  it('ends while its bytes come, and leaves nothing (I2)', async () => {
    await using core = await openTestCore()
    const { upload, usage } = await openTestRepository(core, { space: shortSpace('check') })
    await expect(upload('a', incomingFile('hello'))).rejects.toMatchObject(REFUSED)
    expect(await usage()).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('keeps no file from being renamed and deleted', async () => {
    await using core = await openTestCore()
    const { upload, userId, caller } = await openTestRepository(core)
    await upload('a', 'hello')
    const { repository } = await openTestRepository(core, { space: shortSpace('demand') })
    await repository.change({
      ...caller,
      name: parseFileName('a'),
      newName: parseFileName('b'),
      visibility: undefined,
      overwrite: false,
    })
    await repository.remove({ ...caller, name: parseFileName('b') })
    expect(await core.ledger.usage(userId)).toMatchObject({ used: 0, fileCount: 0 })
  })
})

function isRefused(space: FreeSpace): boolean {
  const refusal = space.check()
  refusal?.catch(() => undefined)
  return refusal !== undefined
}

/** Enough until the one or the other is asked. */
function shortSpace(asked: keyof FreeSpace): FreeSpace {
  const short = createFreeSpace({
    folders: ['any'],
    leastBytes: 1,
    measure: () => Promise.resolve(0),
  })
  return asked === 'demand' ? short : { ...short, demand: () => short.demand(0).catch(() => {}) }
}
