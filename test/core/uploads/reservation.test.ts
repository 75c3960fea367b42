import { callerNamed } from '../../support/caller.ts'
import { describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { reserve, type Reservation } from '../../../src/core/uploads/reservation.ts'
import { outage } from '../../support/faults/faults.ts'
import { LEASE_MS, openTestCore, type TestCore } from '../../support/service/test-core.ts'
import { createTestUser } from '../../support/service/test-repository.ts'
import { readUsage } from '../../support/read-usage.ts'

const STEP = 8 * 2 ** 20

interface Sizes {
  readonly max?: number
  readonly announced?: number
  readonly min?: number
}

interface Options extends Sizes {
  readonly ledger?: Partial<Ledger>
  readonly leaseMs?: number
}

async function reserved(core: TestCore): Promise<number | undefined> {
  return (await readUsage(core.ledger, await createTestUser(core)))?.reserved
}

/** Reserves for a new file of the user `alice`; the test must stop what it gets. */
async function reserveIn(core: TestCore, options: Options): Promise<Reservation> {
  const { announced, min = announced ?? 0, leaseMs = LEASE_MS } = options
  const [userId, version] = [await createTestUser(core), createVersion()]
  const caller = await callerNamed(core.users, userId)
  const names = { ...caller, name: parseFileName('file'), version }
  const upload = { ...names, objectKey: objectKey(userId, version) }
  const max = options.max === undefined ? {} : { max: options.max }
  const ledger = { ...core.ledger, ...options.ledger }
  return await reserve({ ledger, upload, leaseMs, size: { announced, min, ...max } })
}

/** Runs `use` on a reservation and stops it. */
async function withReservation(
  core: TestCore,
  options: Options,
  use: (reservation: Reservation) => Promise<void>,
): Promise<void> {
  const reservation = await reserveIn(core, options)
  try {
    await use(reservation)
  } finally {
    reservation[Symbol.dispose]()
  }
}

describe('a reservation with an announced size', () => {
  it('holds all of it at once and asks for nothing more', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    await withReservation(core, { announced: 100 }, async (reservation) => {
      expect(await reserved(core)).toBe(100)
      expect(reservation.cover(1)).toBeUndefined()
      expect(reservation.cover(100)).toBeUndefined()
    })
  })

  it('takes no more than the file can have when it turns out a little larger', async () => {
    await using core = await openTestCore({ baseCapacity: 1000 })
    await withReservation(core, { announced: 498, max: 500 }, async (reservation) => {
      await reservation.cover(500)
      expect(await reserved(core)).toBe(500)
    })
  })

  it('is refused when it does not fit, and leaves nothing in the journal', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    await expect(reserveIn(core, { announced: 101 })).rejects.toMatchObject({
      code: 'capacity_exceeded',
      facts: { requested: 101, available: 100 },
    })
    expect(await core.database.kysely.selectFrom('uploads').selectAll().execute()).toEqual([])
  })

  it('goes on with the least possible size when only that fits', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    await withReservation(core, { announced: 150, min: 60 }, async (reservation) => {
      expect(await reserved(core)).toBe(60)
      expect(reservation.cover(60)).toBeUndefined()
    })
  })

  it('a reservation of an announced size covers a file whose real size fits exactly', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    await withReservation(core, { announced: 150, min: 60 }, async (reservation) => {
      await reservation.cover(100)
      expect(await reserved(core)).toBe(100)
    })
  })

  it('a reservation of an announced size refuses the first byte too many with the figures of the whole file', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    await withReservation(core, { announced: 150, min: 60 }, async (reservation) => {
      await expect(reservation.cover(101)).rejects.toMatchObject({
        code: 'capacity_exceeded',
        facts: { requested: 150 },
      })
      expect(await reserved(core)).toBe(60)
    })
  })

  it('is refused with the figures of the least size when not even that fits', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    await expect(reserveIn(core, { announced: 150, min: 101 })).rejects.toMatchObject({
      code: 'capacity_exceeded',
    })
    expect(await reserved(core)).toBe(0)
  })

  it('does not try the least size when it was refused for another reason', async () => {
    await using core = await openTestCore({ limits: { maxFiles: 0 } })
    const refused = reserveIn(core, { announced: 150, min: 60 })
    await expect(refused).rejects.toMatchObject({ code: 'file_count_exceeded' })
  })
})

describe('a reservation without an announced size', () => {
  it('holds nothing until bytes come', async () => {
    await using core = await openTestCore({ baseCapacity: 4 * STEP })
    await withReservation(core, {}, async () => {
      expect(await reserved(core)).toBe(0)
    })
  })

  it('grows to the first bytes alone, so that files that come in a piece take no room from one another', async () => {
    await using core = await openTestCore({ baseCapacity: 4 * STEP })
    await withReservation(core, {}, async (reservation) => {
      await reservation.cover(10)
      expect(await reserved(core)).toBe(10)
    })
  })

  it('grows from then on to twice the bytes at hand, and by a step at most beyond them', async () => {
    await using core = await openTestCore({ baseCapacity: 4 * STEP })
    await withReservation(core, {}, async (reservation) => {
      await reservation.cover(1)
      await reservation.cover(10)
      expect(await reserved(core)).toBe(20)
      expect(reservation.cover(20)).toBeUndefined()
      await reservation.cover(STEP + 2)
      expect(await reserved(core)).toBe(2 * STEP + 2)
    })
  })

  it('grows by the bytes at hand when a step does not fit, and refuses at the exact byte', async () => {
    await using core = await openTestCore({ baseCapacity: 100 })
    await withReservation(core, {}, async (reservation) => {
      await reservation.cover(98)
      await reservation.cover(99)
      expect(await reserved(core)).toBe(99)
      await reservation.cover(100)
      await expect(reservation.cover(101)).rejects.toMatchObject({
        code: 'capacity_exceeded',
        facts: { capacity: 100, requested: 101 },
      })
      expect(await reserved(core)).toBe(100)
    })
  })

  it('does not ask again when the ledger fails for another reason than capacity', async () => {
    await using core = await openTestCore()
    let calls = 0
    const extend = async (): Promise<never> => {
      calls += 1
      throw outage()
    }
    await withReservation(core, { ledger: { extend } }, async (reservation) => {
      await expect(reservation.cover(1)).rejects.toMatchObject({ code: 'unavailable' })
      expect(calls).toBe(1)
    })
  })
})

describe('the lease of a reservation', () => {
  const leaseMs = 60

  it('is renewed while the upload lives', async () => {
    await using core = await openTestCore()
    await withReservation(core, { announced: 1, leaseMs }, async () => {
      core.clock.now += LEASE_MS
      await expect.poll(() => core.ledger.listExpiredUploads({ limit: 10 })).toEqual([])
    })
  })

  it('is renewed again after a renewal that failed', async () => {
    await using core = await openTestCore()
    let calls = 0
    const renew: Ledger['renew'] = async (upload) => {
      calls += 1
      if (calls === 1) throw outage()
      await core.ledger.renew(upload)
    }
    await withReservation(core, { announced: 1, leaseMs, ledger: { renew } }, async () => {
      core.clock.now += LEASE_MS
      await expect.poll(() => core.ledger.listExpiredUploads({ limit: 10 })).toEqual([])
      expect(calls).toBeGreaterThan(1)
    })
  })

  it('is not renewed after stop, which settles nothing', async () => {
    await using core = await openTestCore()
    const reservation = await reserveIn(core, { announced: 7, leaseMs })
    reservation[Symbol.dispose]()
    core.clock.now += LEASE_MS
    await new Promise((resolve) => {
      setTimeout(resolve, 2 * leaseMs)
    })
    expect(await core.ledger.listExpiredUploads({ limit: 10 })).toHaveLength(1)
    expect(await reserved(core)).toBe(7)
  })

  it('ends by itself when nobody renews it', async () => {
    await using core = await openTestCore()
    await withReservation(core, { announced: 1 }, async () => {
      expect(await core.ledger.listExpiredUploads({ limit: 10 })).toEqual([])
      core.clock.now += LEASE_MS
      expect(await core.ledger.listExpiredUploads({ limit: 10 })).toHaveLength(1)
    })
  })
})
