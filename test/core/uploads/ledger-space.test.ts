import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AppError, isAppError } from '../../../src/core/errors.ts'
import {
  createLedgerSpace,
  growthOf,
  type DiskReserve,
  type LedgerSpace,
  type LedgerWrite,
} from '../../../src/core/uploads/ledger-space.ts'

const KIB = 1024
const MIB = 1024 * KIB
const REFUSED = { code: 'insufficient_storage' } as const
const FULL = new AppError('unavailable', 'Full', { dependency: 'database', isFull: true })

describe('the floors of writes of the ledger', () => {
  let disk: number
  let pages: number
  let log: number
  let reserve: DiskReserve & { held: number }
  let measurements: number
  let space: LedgerSpace

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
    disk = 100 * MIB
    pages = 0
    log = 0
    measurements = 0
    reserve = reserveOf(8 * MIB)
    space = floorOf(64 * MIB)
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function reserveOf(size: number): typeof reserve {
    return {
      size,
      held: size,
      measure: async () => reserve.held,
      async release() {
        const had = reserve.held > 0
        disk += reserve.held
        reserve.held = 0
        return had
      },
      async restore() {
        disk -= size - reserve.held
        reserve.held = size
        return true
      },
    }
  }

  function floorOf(minBytes: number): LedgerSpace {
    const measure = async () => {
      measurements += 1
      return { disk, pages, log }
    }
    return createLedgerSpace({ minBytes, measure, reserve })
  }

  const kinds = ['grows', 'ends', 'frees'] as const

  /** The kinds of which a write is run. */
  async function accepted(rows = 1): Promise<readonly LedgerWrite['kind'][]> {
    const done: LedgerWrite['kind'][] = []
    for (const kind of kinds) {
      vi.advanceTimersByTime(1_001)
      const run = space.run({ kind, rows }, async () => done.push(kind))
      await run.catch((error: unknown) => {
        if (!isAppError(error, REFUSED.code)) throw error
      })
    }
    return done
  }

  it('are three quarters of MIN_FREE_SPACE for what grows, and half the reserve for what ends', async () => {
    expect(await accepted()).toEqual(kinds)
    disk = 48 * MIB + growthOf(1)
    expect(await accepted()).toEqual(kinds)
    disk -= 1
    expect(await accepted()).toEqual(['ends', 'frees'])
    disk = 0
    expect(await accepted()).toEqual(['ends', 'frees'])
    await reserve.release()
    expect(await accepted()).toEqual(['ends', 'frees'])
    disk = 4 * MIB
    expect(await accepted()).toEqual(['frees'])
    disk = 0
    expect(await accepted()).toEqual(['frees'])
  })

  it('count what each row of a growing write can add', async () => {
    disk = 48 * MIB + growthOf(900)
    expect(await accepted(900)).toEqual(kinds)
    expect(await accepted(901)).toEqual(['ends', 'frees'])
  })

  it('count each row of a write that ends something as a page, and without a floor of all', async () => {
    disk = 0
    expect(await accepted(1_024)).toEqual(['ends', 'frees'])
    expect(await accepted(1_025)).toEqual(['frees'])
    space = floorOf(0)
    const growing = Promise.withResolvers<undefined>()
    const running = space.run({ kind: 'grows', rows: 1_000 }, () => growing.promise)
    const ending = (rows: number) => space.run({ kind: 'ends', rows }, async () => undefined)
    await expect(ending(25)).rejects.toMatchObject(REFUSED)
    await ending(24)
    growing.resolve(undefined)
    await running
  })

  it('count the free pages of the database, for what grows up to half of MIN_FREE_SPACE', async () => {
    disk = 20 * MIB
    pages = 100 * MIB
    expect(await accepted()).toEqual(kinds)
    disk = 16 * MIB
    expect(await accepted()).toEqual(['ends', 'frees'])
    disk = 0
    reserve.held = 0
    expect(await accepted()).toEqual(['ends', 'frees'])
  })

  it('count a log that is larger than usual for what ends, since it does not grow at first', async () => {
    disk = 3 * MIB
    reserve.held = 0
    log = 4.5 * MIB
    expect(await accepted()).toEqual(['frees'])
    log = 5.5 * MIB + 4 * KIB
    expect(await accepted()).toEqual(['ends', 'frees'])
  })

  it('count what the file of the database has yet to grow by', async () => {
    disk = 50 * MIB
    pages = -3 * MIB
    expect(await accepted()).toEqual(['ends', 'frees'])
    disk = 52 * MIB
    expect(await accepted()).toEqual(kinds)
  })

  it('count writes that run, and those that have ended until the disk is measured again', async () => {
    const free = 10
    disk = 48 * MIB + free * growthOf(1)
    const ends = Promise.withResolvers<undefined>()
    let begun = 0
    const runs = Array.from({ length: 25 }, () =>
      space.run({ kind: 'grows', rows: 1 }, () => {
        begun += 1
        return ends.promise
      }),
    )
    const refused = await Promise.all(runs.slice(free).map((run) => run.catch(() => 'refused')))
    expect(refused).toEqual(Array.from({ length: 15 }, () => 'refused'))
    expect(begun).toBe(free)
    ends.resolve(undefined)
    await Promise.all(runs.slice(0, free))
    const before = measurements
    disk -= 9 * growthOf(1)
    // What they have added is known at once.
    await space.run({ kind: 'grows', rows: 1 }, async () => undefined)
    expect(measurements).toBe(before + 1)
    disk -= growthOf(1)
    const another = space.run({ kind: 'grows', rows: 1 }, async () => undefined)
    await expect(another).rejects.toMatchObject(REFUSED)
  })

  it('measure once a second while there is room, and every 20 ms while there is none', async () => {
    const run = () => space.run({ kind: 'grows', rows: 1 }, async () => undefined)
    for (let at = 0; at < 50; at++) await run()
    expect(measurements).toBe(1)
    disk = 0
    vi.advanceTimersByTime(1_001)
    for (let at = 0; at < 50; at++) await expect(run()).rejects.toMatchObject(REFUSED)
    expect(measurements).toBe(2)
    vi.advanceTimersByTime(21)
    for (let at = 0; at < 50; at++) await expect(run()).rejects.toMatchObject(REFUSED)
    expect(measurements).toBe(3)
  })

  it('refuse nothing where the disk cannot be measured', async () => {
    space = createLedgerSpace({
      minBytes: 64 * MIB,
      measure: () => Promise.reject(new Error('no such folder')),
      reserve,
    })
    expect(await accepted()).toEqual(kinds)
  })

  it('take a reserve that is being made for one that is not in use', async () => {
    const made = Promise.withResolvers<boolean>()
    reserve.held = 0
    reserve.restore = () => made.promise
    expect(space.isReserveInUse()).toBe(false)
    const waiting = space.run({ kind: 'grows', rows: 1 }, async () => 'done')
    await new Promise(setImmediate)
    expect(space.isReserveInUse()).toBe(false)
    made.resolve(true)
    expect(await waiting).toBe('done')
  })

  describe('on a disk that another program has filled', () => {
    beforeEach(() => {
      space = floorOf(0)
      disk = 0
    })

    const writes = (calls: number, kind: LedgerWrite['kind'] = 'ends') =>
      Promise.allSettled(
        Array.from({ length: calls }, () =>
          space.run({ kind, rows: 1 }, async () => {
            await Promise.resolve()
            if (disk === 0) throw FULL
            return 'done'
          }),
        ),
      )

    it('release the reserve once, for all writes that found the disk full', async () => {
      const results = await writes(20)
      expect(results.map(({ status }) => status)).not.toContain('rejected')
      expect(reserve.held).toBe(0)
      expect(space.isReserveInUse()).toBe(true)
    })

    it('repeat a write that had found the disk full when another one released the reserve', async () => {
      const slow = Promise.withResolvers<undefined>()
      let calls = 0
      const late = space.run({ kind: 'frees', rows: 1 }, async () => {
        calls += 1
        await slow.promise
        if (calls === 1) throw FULL
        return 'done'
      })
      await writes(1, 'frees')
      slow.resolve(undefined)
      expect(await late).toBe('done')
    })

    it('release nothing for what grows, and let nothing grow while it is released', async () => {
      await expect(writes(1, 'grows')).resolves.toMatchObject([{ reason: FULL }])
      expect(reserve.held).toBe(8 * MIB)
      await writes(1, 'frees')
      expect(await accepted()).toEqual(['ends', 'frees'])
      disk = 9 * MIB - 1
      expect(await accepted()).toEqual(['ends', 'frees'])
      expect(reserve.held).toBe(0)
    })

    it('restore the reserve from what becomes free, and then let all grow again', async () => {
      await writes(1)
      disk = 9 * MIB
      expect(await accepted()).toEqual(kinds)
      expect(reserve.held).toBe(8 * MIB)
      expect(disk).toBe(MIB)
      expect(space.isReserveInUse()).toBe(false)
    })

    it('restore it for uploads too, which ask only whether it is in use', async () => {
      await writes(1)
      disk = 9 * MIB
      vi.advanceTimersByTime(1_001)
      expect(space.isReserveInUse()).toBe(true)
      await expect.poll(() => space.isReserveInUse()).toBe(false)
    })

    it('take free pages for the reserve where the disk of the database gets no more space', async () => {
      await writes(1)
      disk = 0
      pages = 8 * MIB
      expect(await accepted()).toEqual(kinds)
    })

    it('tell what the reserve holds, and make it whole for that', async () => {
      expect(await space.measureReserve()).toBe(8 * MIB)
      await writes(1)
      expect(await space.measureReserve()).toBe(0)
      disk = 9 * MIB
      vi.advanceTimersByTime(1_001)
      expect(await space.measureReserve()).toBe(8 * MIB)
      expect(reserve.held).toBe(8 * MIB)
    })

    it('reject as the write does if there is no reserve left', async () => {
      await reserve.release()
      disk = 0
      pages = 5 * MIB
      await expect(writes(1)).resolves.toMatchObject([{ reason: FULL }])
    })
  })
})
