import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { type Account, type LedgerHarness, openAccount, outcomeOf, refusalOf } from './fixture.ts'
import { type Resumables, resumablesOf } from './resumable/fixture.ts'

/** What uploads that evict leave to the reservations of other uploads. Each user has a capacity of 100 bytes. */
export function ledgerEvictionContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`eviction beside reservations on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let uploads: Resumables

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      uploads = resumablesOf(harness.ledger, account)
      for (const each of ['cam-1', 'cam-2', 'cam-3']) {
        await account.put(each, 20)
        await harness.advance(2)
      }
    })

    const cam = parseFileNamePrefix('cam-')
    const names = async () => (await account.list()).map((file) => file.name)
    const record = async (file: string, size: number) => {
      const version = await account.begin(file, size, { evict: cam })
      const { evicted } = await account.commit(version, size, { evict: cam })
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
      return evicted
    }

    it('evicts nothing for bytes that an unfinished upload has not received', async () => {
      const film = await uploads.create('film', 40)
      await uploads.append(film, 10)
      expect(await record('cam-4', 30)).toEqual({ files: 0, bytes: 0 })
      expect(await account.usage()).toMatchObject({ used: 90, reserved: 40 })
      expect(await record('cam-5', 1)).toEqual({ files: 1, bytes: 20 })
    })

    it('evicts for bytes that an unfinished upload has received', async () => {
      const film = await uploads.create('film', 40)
      await uploads.append(film, 30)
      expect(await record('cam-4', 11)).toEqual({ files: 1, bytes: 20 })
      await uploads.prepare(film, { bytes: 40 })
      await uploads.append(film, 40)
      await account.commit(film.version, 40)
      expect(await names()).toEqual(['cam-2', 'cam-3', 'cam-4', 'film'])
    })

    it('evicts for what a running upload with a single request has reserved', async () => {
      const film = await account.begin('film', 40)
      expect(await record('cam-4', 1)).toEqual({ files: 1, bytes: 20 })
      await account.commit(film, 40)
      expect(await account.usage()).toMatchObject({ used: 81, reserved: 0 })
    })

    it('counts what has been received only up to the growth', async () => {
      await account.put('film', 30)
      const film = await uploads.create('film', 40)
      await uploads.append(film, 25)
      expect(await record('cam-4', 1)).toEqual({ files: 1, bytes: 20 })
    })

    it('admits an upload although others reserve the whole capacity', async () => {
      await uploads.create('film', 40)
      await uploads.create('cam-film', 60, { evict: cam })
      expect(await record('cam-4', 40)).toEqual({ files: 0, bytes: 0 })
      expect(await record('cam-5', 60)).toEqual({ files: 3, bytes: 60 })
    })

    it('keeps an unfinished upload that no longer fits until there is room again', async () => {
      const film = await uploads.create('film', 40)
      await uploads.append(film, 10)
      await record('cam-4', 30)
      const refused = await refusalOf(uploads.prepare(film, { bytes: 40 }))
      expect(refused).toMatchObject({ code: 'capacity_exceeded', facts: { used: 90 } })
      expect(await uploads.find(film)).toMatchObject({ state: 'open', offset: 10 })
      await account.remove('cam-1')
      await account.remove('cam-2')
      await uploads.prepare(film, { bytes: 40 })
      await uploads.append(film, 40)
      await account.commit(film.version, 40)
      expect(await account.usage()).toMatchObject({ used: 90, reserved: 0 })
    })

    it('never raises the used bytes above the capacity by what did not fit any more', async () => {
      const film = await uploads.create('film', 40)
      await uploads.append(film, 40)
      const recording = await account.begin('cam-4', 20, { evict: cam })
      await account.change('cam-1', { isKept: true })
      await account.change('cam-2', { isKept: true })
      await account.change('cam-3', { isKept: true })
      expect(await outcomeOf(account.commit(recording, 20, { evict: cam }))).toBe(
        'capacity_exceeded',
      )
      await account.commit(film.version, 40)
      expect(await account.usage()).toMatchObject({ used: 100 })
    })
  })
}
