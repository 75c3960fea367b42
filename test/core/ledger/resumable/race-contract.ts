import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ResumableUpload } from '../../../../src/core/resumable/resumable-ledger.ts'
import {
  type Account,
  count,
  type LedgerHarness,
  openAccount,
  outcomeOf,
  race,
} from '../fixture.ts'
import { newLink } from '../new-link.ts'
import { part, type Resumables, resumablesOf, TAIL_RETENTION_MS, tailPiece } from './fixture.ts'

const ROUNDS = 40

/** What an object counts beside its content. */
const OVERHEAD = 4096

/** The rules of the port `ResumableLedger` when many call it at once, through one instance and through two. */
export function resumableRaceContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`resumable uploads under concurrency on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let uploads: Resumables
    let elsewhere: Resumables

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      await account.grant('more', 10_000)
      uploads = resumablesOf(harness.ledger, account)
      elsewhere = uploads.through(harness.other)
    })

    // Two connections of one thread block each other on SQLite, so not in every round.
    const another = (round: number): Resumables => (round % 4 < 2 ? uploads : elsewhere)
    const stateOf = async ({ version }: ResumableUpload): Promise<string | undefined> =>
      (await harness.ledger.findResumable({ userId: account.userId, version }))?.state
    const sums = async (): Promise<void> => {
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
      const { recorded, counted } = await harness.garbageBytes(account.userId)
      expect(recorded).toBe(counted)
    }

    it('R07 lets one of two claims win', async () => {
      const upload = await uploads.create('a', 40)
      for (let round = 0; round < ROUNDS; round += 1) {
        const claims = await race(round, {
          one: () => uploads.claim(upload, { holderMs: 60_000 }),
          another: () => another(round).claim(upload, { holder: 'there', holderMs: 60_000 }),
        })
        const [claim, ...others] = claims.filter((each) => each !== undefined)
        expect(others).toEqual([])
        expect(claim?.upload.epoch).toBe(round + 1)
        expect(await uploads.find(upload)).toMatchObject({ holder: claim?.upload.holder })
        expect(claim && (await uploads.record(claim.upload))).toBe(true)
      }
    })

    it('R27 lets a length be declared before a claim, which then knows it, or not at all', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const upload = await uploads.create(`${round}`)
        const [declared, claim] = await race(round, {
          one: () => outcomeOf(uploads.prepare(upload, { bytes: 1, length: 1 })),
          another: () => another(round).claim(upload, { holder: 'there' }),
        })
        expect(claim?.upload.length).toBe(declared === 'ok' ? 1 : undefined)
        expect(['ok', 'upload_busy']).toContain(declared)
        await uploads.abort(upload)
      }
    })

    it('R29 lets an abort or a claim win, and leaves no tail behind for long', async () => {
      const wins = { claim: 0, abort: 0 }
      for (let round = 0; round < ROUNDS; round += 1) {
        const upload = await uploads.create(`f${round}`, 40)
        const tailKey = uploads.tailKey()
        const [claim, settled] = await race(round, {
          one: () => uploads.claim(upload, { tailKey }),
          another: () => another(round).abort(upload, { endedAs: 'cancelled' }),
        })
        expect(settled).toBe(claim === undefined ? 'forgotten' : 'aborted')
        wins[claim === undefined ? 'abort' : 'claim'] += 1
        const { garbage } = await harness.keys(account.userId)
        const journalled = garbage.find(({ key }) => key === tailKey)
        expect(journalled !== undefined).toBe(claim !== undefined)
        const keptMs = (journalled?.notBefore ?? 0) - harness.now()
        expect(keptMs).toBeLessThanOrEqual(TAIL_RETENTION_MS)
        expect(claim !== undefined && (await uploads.record(claim.upload, { offset: 8 }))).toBe(
          false,
        )
        expect(await stateOf(upload)).toBe(claim && 'cancelled')
      }
      expect(Math.min(wins.claim, wins.abort)).toBeGreaterThan(0)
      await sums()
    })

    it('R29 lets a claim or the expiry win', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const upload = await uploads.create(`f${round}`, 4, { emptyLifetimeMs: round % 5 })
        const [claim, settled] = await race(round, {
          one: () => uploads.claim(upload),
          another: () => another(round).abort(upload, { expiredOnly: true }),
        })
        expect(claim !== undefined && settled !== undefined).toBe(false)
        await uploads.abort(upload, { expiredOnly: true })
        expect(await stateOf(upload)).toBe(claim && 'open')
        expect(!claim || (await uploads.record(claim.upload, { offset: 4 }))).toBe(true)
        await uploads.abort(upload)
      }
      await sums()
    })

    it('I13 records before a fence or never', async () => {
      const outcomes = { recorded: 0, fenced: 0 }
      for (let round = 0; round < ROUNDS; round += 1) {
        const upload = await uploads.create(`f${round}`, 40)
        const { upload: claimed } = await uploads.hold(upload)
        const record = { offset: 8, replacedFrom: 0, pieces: [part(0)], holderMs: 60_000 }
        const fencing = round % 4 < 2 ? harness.ledger : harness.other
        const [isRecorded, told] = await race(round, {
          one: () => uploads.record(claimed, record),
          another: async () => {
            await fencing.fence(claimed)
            return await fencing.findResumable(upload)
          },
        })
        outcomes[isRecorded ? 'recorded' : 'fenced'] += 1
        // What a HEAD tells after the fence is accepted by the next append.
        expect(await uploads.record(claimed, { ...record, offset: 16 })).toBe(false)
        const offset = isRecorded ? 8 : 0
        expect(told?.offset).toBe(offset)
        expect(await harness.ledger.listPieces(upload.version)).toEqual(isRecorded ? [part(0)] : [])
        expect(await uploads.find(upload)).toMatchObject({ isHeld: false, holder: 'here' })
        await elsewhere.hold(upload, { offset })
      }
      expect(Math.min(outcomes.recorded, outcomes.fenced)).toBeGreaterThan(0)
    })

    it('R07 lets a record or the claim that takes over win', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const upload = await uploads.create(`f${round}`, 40)
        const { upload: claimed } = await uploads.hold(upload, { holderMs: 0 })
        const key = uploads.tailKey()
        const pieces = [tailPiece(0, { size: 5, key })]
        const [isRecorded, claim] = await race(round, {
          one: () => uploads.record(claimed, { offset: 5, replacedFrom: 0, pieces }),
          another: () => another(round).claim(upload, { holder: 'there', tailKey: key }),
        })
        expect(claim === undefined).toBe(isRecorded)
        expect(await uploads.find(upload)).toMatchObject({ offset: isRecorded ? 5 : 0 })
        await uploads.abort(upload)
      }
      await sums()
    })

    it('lets a cancel win over a seal in the end, and the reservation is free once', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const upload = await uploads.create(`f${round}`, 8)
        const { upload: claimed } = await uploads.hold(upload)
        const seal = { offset: 8, sealed: { digest: undefined } }
        const [isSealed, settled] = await race(round, {
          one: () => uploads.record(claimed, seal),
          another: () => another(round).abort(upload, { endedAs: 'cancelled' }),
        })
        expect(settled).toBe('aborted')
        const offset = isSealed ? 8 : 0
        expect(await uploads.find(upload)).toMatchObject({ state: 'cancelled', offset })
        expect(await uploads.finish(upload)).toBeUndefined()
        expect(await outcomeOf(account.commit(upload.version, 8))).toBe('unavailable')
      }
      expect(await account.usage()).toMatchObject({ used: 0, reserved: 0, fileCount: 0 })
      await sums()
    })

    it('lets the commit of a sealed upload or a cancel win', async () => {
      const states = new Set<string>()
      for (let round = 0; round < ROUNDS; round += 1) {
        const upload = await uploads.create(`f${round}`, 8)
        await uploads.append(upload, 8)
        const [committed, settled] = await race(round, {
          one: () => outcomeOf(account.commit(upload.version, 8)),
          another: () => another(round).abort(upload, { endedAs: 'cancelled' }),
        })
        const state = settled === 'committed' ? 'finished' : 'cancelled'
        expect(committed).toBe(settled === 'committed' ? 'ok' : 'unavailable')
        expect(await uploads.find(upload)).toMatchObject({ state })
        states.add(state)
      }
      expect(states).toEqual(new Set(['finished', 'cancelled']))
      await sums()
    })

    it('R28 of 40 creations lets in exactly as many as may be unfinished', async () => {
      const { ledger, other } = harness.with({ limits: { maxUnfinished: 7 } })
      const creations = Array.from({ length: 40 }, (_, at) =>
        uploads.through(at % 2 === 0 ? ledger : other).create(`f${at % 30}`, 1),
      )
      const outcomes = await Promise.all(creations.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(7)
      expect(count(outcomes, 'unfinished_uploads_exceeded')).toBe(33)
      expect(await harness.ledger.measureUnfinished(account.userId)).toEqual({ count: 7, bytes: 7 })
      await sums()
    })

    const dropLink = async (maxUses?: number): Promise<string> => {
      const link = newLink(account, { terms: { maxUses } })
      await harness.ledger.addLink(link)
      return link.linkId
    }

    it('a link lets in as many of 10 creations at once as it has uses left', async () => {
      const linkId = await dropLink(2)
      const creations = Array.from({ length: 10 }, (_, at) =>
        (at % 2 === 0 ? uploads : elsewhere).create(`f${at}`, 1, { linkId }),
      )
      const outcomes = await Promise.all(creations.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(2)
      expect(count(outcomes, 'too_many_requests')).toBe(8)
    })

    it('links let in 50 of 80 drops in progress and unfinished, so that the owner can upload', async () => {
      const linkIds = [await dropLink(), await dropLink()]
      await uploads.create('unfinished', 1)
      const twin = account.through(harness.other)
      const drops = Array.from({ length: 80 }, (_, at) => {
        const options = { linkId: linkIds[at % 2] }
        if (at % 4 > 1) return (at % 8 > 3 ? uploads : elsewhere).create(`f${at}`, 1, options)
        return (at % 8 > 3 ? account : twin).begin(`f${at}`, 1, options)
      })
      const outcomes = await Promise.all(drops.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(50)
      expect(count(outcomes, 'too_many_requests')).toBe(30)
      const [linkId] = linkIds
      expect(await outcomeOf(account.begin('f', 1, { linkId }))).toBe('too_many_requests')
      const { ledger } = harness.with({ limits: { maxUploads: 51, maxUnfinished: 52 } })
      await account.through(ledger).begin('own', 1)
      await uploads.through(ledger).create('own', 1)
      await sums()
    })

    it('takes a form by a link whose uses are taken by unfinished uploads', async () => {
      const linkId = await dropLink(1)
      await uploads.create('a', 1, { linkId })
      expect(await outcomeOf(uploads.create('b', 1, { linkId }))).toBe('too_many_requests')
      const version = await account.begin('b', 1, { linkId })
      await account.commit(version, 1, { linkId })
      expect(await outcomeOf(account.begin('c', 1, { linkId }))).toBe('not_found')
    })

    it('R26 of 40 creations of a tenth each takes exactly ten', async () => {
      await account.grant('more', 0)
      const creations = Array.from({ length: 40 }, (_, at) =>
        (at % 2 === 0 ? uploads : elsewhere).create(`f${at}`, 10),
      )
      const outcomes = await Promise.all(creations.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(10)
      expect(count(outcomes, 'capacity_exceeded')).toBe(30)
      expect(await account.usage()).toMatchObject({ used: 0, reserved: 100 })
      await sums()
    })

    it('R28 of 12 overwrites of a fifth each lets announce exactly the capacity', async () => {
      for (let at = 0; at < 12; at += 1) await account.put(`f${at}`, 20)
      await account.grant('more', 0)
      const creations = Array.from({ length: 12 }, (_, at) =>
        (at % 2 === 0 ? uploads : elsewhere).create(`f${at}`, 20),
      )
      const outcomes = await Promise.all(creations.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(5)
      expect(count(outcomes, 'unfinished_uploads_exceeded')).toBe(7)
      expect(await account.usage()).toMatchObject({ used: 240, reserved: 0 })
    })

    it('R27 of 20 deferred lengths that grow at once takes exactly what fits', async () => {
      await account.grant('more', 0)
      const deferred: ResumableUpload[] = []
      for (let at = 0; at < 20; at += 1) deferred.push(await uploads.create(`f${at}`))
      const growths = deferred.map((upload, at) =>
        (at % 2 === 0 ? uploads : elsewhere).prepare(upload, { bytes: 10, length: 10 }),
      )
      const outcomes = await Promise.all(growths.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(10)
      expect(count(outcomes, 'capacity_exceeded')).toBe(10)
      expect(await account.usage()).toMatchObject({ reserved: 100 })
      await sums()
    })

    it('R27 reserves once what one upload lacks, and announces no more than the capacity', async () => {
      const upload = await uploads.create('a')
      const same = Array.from({ length: 8 }, (_, at) =>
        (at % 2 === 0 ? uploads : elsewhere).prepare(upload, { bytes: 10 }),
      )
      expect(count(await Promise.all(same.map(outcomeOf)), 'ok')).toBe(8)
      expect(await account.usage()).toMatchObject({ reserved: 10 })
      await uploads.abort(upload)
      const overwrites: ResumableUpload[] = []
      for (let at = 0; at < 12; at += 1) {
        await account.put(`f${at}`, 20)
        overwrites.push(await uploads.create(`f${at}`))
      }
      await account.grant('more', 0)
      const growths = overwrites.map((each, at) =>
        (at % 2 === 0 ? uploads : elsewhere).prepare(each, { bytes: 20 }),
      )
      const outcomes = await Promise.all(growths.map(outcomeOf))
      expect(count(outcomes, 'ok')).toBe(5)
      expect(count(outcomes, 'unfinished_uploads_exceeded')).toBe(7)
      await sums()
    })

    it('keeps the sums and the count of the garbage when all of it runs at once', async () => {
      const work = Array.from({ length: 24 }, async (_, at) => {
        const [mine, other] = at % 2 === 0 ? [uploads, elsewhere] : [elsewhere, uploads]
        const upload = await mine.create(`f${at % 5}`, 16)
        const [refused, tailKey] = [mine.tailKey(), mine.tailKey()]
        const { upload: none } = await mine.hold(upload, { tailKey: refused })
        await mine.record(none, { sentTailBytes: at % 3 || undefined })
        const { upload: one } = await mine.hold(upload, { tailKey })
        const pieces = [tailPiece(0, { size: 5, key: tailKey })]
        await mine.record(one, { offset: 5, replacedFrom: 0, pieces })
        if (at % 4 === 0) return await other.abort(upload, { endedAs: 'cancelled' })
        const { upload: two } = await other.hold(upload, { offset: 5 })
        const parts = [part(0), part(1)]
        const seal = { offset: 16, replacedFrom: 0, pieces: parts, sealed: { digest: undefined } }
        await Promise.all([other.record(two, seal), mine.prepare(upload, { bytes: 16 })])
        return at % 3 === 0 ? await mine.abort(upload) : await account.commit(upload.version, 16)
      })
      await Promise.all(work)
      const usage = await account.usage()
      expect(usage).toMatchObject({ used: 80, reserved: 0, fileCount: 5 })
      // The tail of every upload, however it ended, what was refused, the uploads that were aborted, and the files that
      // were replaced.
      const left = 24 * (5 + OVERHEAD) + 8 * (1 + 2) + 16 * OVERHEAD + 12 * OVERHEAD
      const { recorded } = await harness.garbageBytes(account.userId)
      expect((recorded - left) % (16 + OVERHEAD)).toBe(0)
      await sums()
    })
  })
}
