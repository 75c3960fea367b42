import { describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../../src/core/objects/object-key.ts'
import { createLedger } from '../../../src/database/ledger.ts'
import { never, put } from '../../support/objects.ts'
import { openTestCore, RETENTION_MS, settle, sweepOnce } from '../../support/service/test-core.ts'
import { openAccount } from '../ledger/fixture.ts'
import { DAY_MS, part, resumablesOf, tailPiece } from '../ledger/resumable/fixture.ts'

describe('a sweep', () => {
  it('R29 takes no tail object of a live upload, and leaves none of one that has ended', async () => {
    await using core = await openTestCore()
    const { ledger, objects, clock } = core
    const head = async (key: ObjectKey) => (await objects.head({ key, signal: never() }))?.size
    const uploads = resumablesOf(ledger, await openAccount(core))
    const upload = await uploads.create('a', 40)
    const [left, live] = [uploads.tailKey(), uploads.tailKey()]
    const { upload: one } = await uploads.hold(upload, { tailKey: left })
    await put(objects, { key: left, content: Buffer.from('abc') })
    const first = [tailPiece(0, { size: 3, key: left })]
    await uploads.record(one, { offset: 3, replacedFrom: 0, pieces: first })
    clock.now += DAY_MS - 1
    await sweepOnce(core)
    expect(await head(left)).toBe(3)

    const { upload: two } = await uploads.hold(upload, { offset: 3, tailKey: live })
    await put(objects, { key: live, content: Buffer.from('de') })
    const next = [part(0), tailPiece(8, { size: 2, key: live })]
    const times = { uploadLifetimeMs: 3 * DAY_MS }
    const longer = createLedger(core.database, { baseCapacity: 1000, times })
    await uploads.through(longer).record(two, { offset: 10, replacedFrom: 0, pieces: next })
    clock.now += RETENTION_MS + 1
    await sweepOnce(core)
    expect([await head(left), await head(live)]).toEqual([undefined, 2])
    clock.now += 2 * DAY_MS
    await sweepOnce(core)
    expect(await head(live)).toBe(2)

    clock.now += DAY_MS
    const { end, expiredUploads } = await sweepOnce(core)
    expect({ end, expiredUploads }).toEqual({ end: 'complete', expiredUploads: 1 })
    expect(await head(live)).toBe(2)
    await settle(core)
    expect(await head(live)).toBeUndefined()
    expect(await ledger.measureJournal(10)).toMatchObject({ reservations: 0, garbage: 0 })
  })
})
