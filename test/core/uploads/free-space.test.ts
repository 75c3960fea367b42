import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import {
  createFreeSpace,
  type DiskRoom,
  type FreeSpace,
  type FreeSpaceOptions,
  INODES_PER_UPLOAD,
  MIN_FREE_INODES,
} from '../../../src/core/uploads/free-space.ts'
import { incomingFile } from '../../support/http/incoming-file.ts'
import { leftovers, NOTHING_LEFT, openTestCore } from '../../support/service/test-core.ts'
import { openTestRepository } from '../../support/service/test-repository.ts'
import { readUsage } from '../../support/read-usage.ts'

const REFUSED = { code: 'insufficient_storage' }

const FOLDERS = [
  { path: 'objects', holdsObjects: true },
  { path: 'database', holdsObjects: false },
  { path: 'gone', holdsObjects: true },
]

function freeSpace(options: FreeSpaceOptions): FreeSpace {
  const space = createFreeSpace(options)
  if (space === undefined) throw new Error('nothing is measured')
  return space
}

describe('the floor of free space', () => {
  let disks: Record<string, number>
  let inodes: Record<string, number>
  let measurements: number
  let space: FreeSpace

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
    disks = { objects: 1_000, database: 1_000 }
    inodes = {}
    measurements = 0
    space = floorOf(100)
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  function floorOf(minBytes: number): FreeSpace {
    return freeSpace({ folders: FOLDERS, minBytes, measure })
  }

  async function measure(folder: string): Promise<DiskRoom> {
    measurements += 1
    const bytes = disks[folder]
    if (bytes === undefined) throw new Error('no such folder')
    return { bytes, inodes: inodes[folder] ?? Infinity }
  }

  it('is what has to be left on every disk', async () => {
    await expect(space.claim(901)).rejects.toMatchObject(REFUSED)
    await space.claim(900)
    vi.advanceTimersByTime(1_001)
    disks['database'] = 99
    await expect(space.claim(0)).rejects.toMatchObject(REFUSED)
  })

  it('is made up to a half of free pages inside the database, where the database is', async () => {
    let pages = 40
    const measurePages = async (path: string): Promise<number> => (path === 'objects' ? pages : 0)
    const folders = FOLDERS.slice(0, 2)
    space = freeSpace({ folders, minBytes: 100, measure, measurePages })
    disks['objects'] = 60
    await space.assertSpace(0)
    await expect(space.assertSpace(1)).rejects.toMatchObject(REFUSED)
    // Objects and the log of the database need the other half.
    pages = 1_000
    vi.advanceTimersByTime(1_001)
    await space.assertSpace(10)
    await expect(space.assertSpace(11)).rejects.toMatchObject(REFUSED)
    disks['database'] = 99
    vi.advanceTimersByTime(1_001)
    await expect(space.assertSpace(0)).rejects.toMatchObject(REFUSED)
  })

  it('is not spent twice between two measurements', async () => {
    const asked = await Promise.allSettled([space.claim(500), space.claim(500), space.claim(300)])
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('is asked of the disk of the database too, which files do not fill', async () => {
    disks['database'] = 200
    await space.claim(900)
    disks['database'] = 99
    vi.advanceTimersByTime(1_001)
    await expect(space.claim(0)).rejects.toMatchObject(REFUSED)
  })

  it('is only asked for by whoever asks first, and given back by a file that does not come', async () => {
    await space.assertSpace(900)
    const claim = await space.claim(900)
    await expect(space.assertSpace(1)).rejects.toMatchObject(REFUSED)
    claim.release()
    await space.claim(900)
    vi.advanceTimersByTime(1_001)
    await space.claim(500)
    // The measurement has counted what it took.
    claim.release()
    await expect(space.claim(401)).rejects.toMatchObject(REFUSED)
  })

  it('is measured once a second, however many ask', async () => {
    await Promise.all([space.claim(1), space.claim(2), space.claim(3)])
    expect(measurements).toBe(3)
    vi.advanceTimersByTime(1_001)
    await space.claim(1)
    expect(measurements).toBe(6)
  })

  it('lets bytes come until a measurement finds less, and again once there is more', async () => {
    await space.claim(0)
    expect(space.hasSpace()).toBe(true)
    disks['objects'] = 50
    vi.advanceTimersByTime(1_001)
    // This one begins the measurement and does not wait for it.
    expect(space.hasSpace()).toBe(true)
    await expect.poll(() => space.hasSpace()).toBe(false)
    disks['objects'] = 1_000
    vi.advanceTimersByTime(1_001)
    await space.claim(0)
    expect(space.hasSpace()).toBe(true)
  })

  it('a floor of 0 refuses nothing and measures nothing', () => {
    expect(createFreeSpace({ folders: FOLDERS, minBytes: 0, measure })).toBe(undefined)
  })

  it.each(['objects', 'database'])('is one of inodes too, on the disk of %s', async (disk) => {
    inodes[disk] = MIN_FREE_INODES - 1
    await expect(space.assertSpace(0)).rejects.toThrow('nearly no free inodes')
    await expect(space.claim(0)).rejects.toMatchObject(REFUSED)
    // An upload in progress has its files.
    expect(space.hasSpace()).toBe(true)
    inodes[disk] = MIN_FREE_INODES + INODES_PER_UPLOAD
    vi.advanceTimersByTime(1_001)
    await space.claim(0)
  })

  it('a floor of inodes is not spent twice between two measurements, and given back', async () => {
    inodes['objects'] = MIN_FREE_INODES + 2 * INODES_PER_UPLOAD
    const asked = await Promise.allSettled([space.claim(0), space.claim(0), space.claim(0)])
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    const [first] = asked
    if (first?.status === 'fulfilled') first.value.release()
    await space.claim(0)
    await expect(space.assertSpace(0)).rejects.toMatchObject(REFUSED)
  })

  it('a floor of inodes is not spent on the disk of the database, where uploads make no files', async () => {
    inodes['database'] = MIN_FREE_INODES
    const claims = await Promise.allSettled([space.claim(0), space.claim(0)])
    expect(claims.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  })
})

describe('an upload for which there is no space', () => {
  it('claims none where the quota has no room, and gives back what it does not use', async () => {
    await using core = await openTestCore({ baseCapacity: 1_000 })
    const folders = [{ path: 'any', holdsObjects: true }]
    const space = freeSpace({ folders, minBytes: 1, measure: async () => roomOf(1_501) })
    const { upload } = await openTestRepository(core, { space })
    for (let round = 0; round < 3; round += 1) {
      const refused = upload('a', 'x'.repeat(1_001))
      await expect(refused).rejects.toMatchObject({ code: 'capacity_exceeded' })
      const digest = upload('a', 'x'.repeat(900), { sha256: '0'.repeat(64) })
      await expect(digest).rejects.toMatchObject({ code: 'digest_mismatch' })
    }
    await upload('a', 'x'.repeat(1_000))
  })

  it('is refused before the ledger has anything of it', async () => {
    await using core = await openTestCore()
    const { upload, usage } = await openTestRepository(core, { space: shortSpace('assertSpace') })
    await expect(upload('a', 'hello')).rejects.toMatchObject(REFUSED)
    expect(await usage()).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
    expect(await core.database.kysely.selectFrom('uploads').selectAll().execute()).toEqual([])
  })

  it('ends while its bytes come, and leaves nothing (I2)', async () => {
    await using core = await openTestCore()
    const { upload, usage } = await openTestRepository(core, { space: shortSpace('hasSpace') })
    await expect(upload('a', incomingFile('hello'))).rejects.toMatchObject(REFUSED)
    expect(await usage()).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('keeps no file from being renamed and deleted', async () => {
    await using core = await openTestCore()
    const { upload, userId, caller } = await openTestRepository(core)
    await upload('a', 'hello')
    const { repository } = await openTestRepository(core, { space: shortSpace('assertSpace') })
    await repository.change({
      subject: caller,
      name: parseFileName('a'),
      newName: parseFileName('b'),
      visibility: undefined,
      overwrite: false,
    })
    await repository.remove({ subject: caller, name: parseFileName('b') })
    expect(await readUsage(core.ledger, userId)).toMatchObject({ used: 0, fileCount: 0 })
  })
})

function roomOf(bytes: number): DiskRoom {
  return { bytes, inodes: Infinity }
}

/** Enough until the one or the other is asked. */
function shortSpace(asked: keyof FreeSpace): FreeSpace {
  const short = freeSpace({
    folders: [{ path: 'any', holdsObjects: true }],
    minBytes: 1,
    measure: async () => roomOf(0),
  })
  if (asked === 'assertSpace') return short
  const enough = async (): Promise<void> => {}
  return {
    ...short,
    assertSpace: enough,
    claim: () => short.claim(0).catch(() => ({ release: () => undefined })),
  }
}
