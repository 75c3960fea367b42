import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type FileNamePrefix,
  parseFileName,
  parseFileNamePrefix,
} from '../../../src/core/files/file-name.ts'
import { parseMetadata } from '../../../src/core/files/metadata.ts'
import type { BatchOperation } from '../../../src/core/files/operation.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import {
  type Account,
  count,
  grantOf,
  type LedgerHarness,
  LONG_MS,
  openAccount,
  type OpenHarness,
  outcomeOf,
  refusalOf,
} from './fixture.ts'
import { type Resumables, resumablesOf } from './resumable/fixture.ts'

const [FRONT, BACK] = ['front', 'back'] as const

interface By {
  readonly deviceId?: string | undefined
  readonly evict?: FileNamePrefix
}

/** What the devices of a user store and may store (I16). The user has 100 bytes. */
export function ledgerDeviceContract(name: string, open: OpenHarness): void {
  describe(`devices in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let uploads: Resumables

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LONG_MS, historyShare: 50 })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      uploads = resumablesOf(harness.ledger, account)
    })

    /** The devices add no capacity, but for `bytes`. */
    const device = async (deviceId: string, share: string, bytes = 0) => {
      const grant = { ...grantOf(account.userId, deviceId), source: 'device', bytes }
      await harness.users.putGrant(grant)
      await harness.setShare(account.userId, deviceId, share)
    }
    const store = async (file: string, size: number, by: By) => {
      const { deviceId, evict: prefix } = by
      const version = await account.begin(file, size, { deviceId, evict: prefix })
      const committed = await account.commit(version, size, { deviceId, evict: prefix })
      await harness.advance(2)
      return committed
    }
    const put = (file: string, size: number, deviceId?: string) => store(file, size, { deviceId })
    const record = (file: string, size: number, deviceId: string) =>
      store(file, size, { deviceId, evict: parseFileNamePrefix('cam/') })
    const used = async () => {
      const { recorded, counted } = await harness.devices(account.userId)
      expect(recorded).toEqual(counted)
      return Object.fromEntries(recorded.map((each) => [each.deviceId, [each.used, each.files]]))
    }
    const names = async () => (await account.list()).map((file) => file.name)

    describe('counts', () => {
      it('a content for the device that stored it, under whatever name, until it ends', async () => {
        const { file } = await put('a', 10, FRONT)
        expect(file.deviceId).toBe(FRONT)
        await put('b', 5, BACK)
        await put('c', 3)
        expect(await used()).toEqual({ [FRONT]: [10, 1], [BACK]: [5, 1] })
        const moved = await account.change('a', { newName: 'd' })
        expect(moved.deviceId).toBe(FRONT)
        await account.change('d', { visibility: 'public', metadata: { note: 'x'.repeat(300) } })
        expect(await used()).toEqual({ [FRONT]: [10 + 311 - 256, 1], [BACK]: [5, 1] })
        await account.remove('d')
        expect(await used()).toEqual({ [BACK]: [5, 1] })
      })

      it('an overwrite for the device that made it, and frees what the other one had', async () => {
        await put('a', 10, FRONT)
        const { file } = await put('a', 4, BACK)
        expect(file.deviceId).toBe(BACK)
        expect(await used()).toEqual({ [BACK]: [4, 1] })
        expect((await put('a', 7)).file.deviceId).toBeNull()
        expect(await used()).toEqual({})
        expect((await account.past()).map((past) => past.deviceId)).toEqual([BACK, FRONT])
      })

      it('a restored content for its device, and frees what it displaces', async () => {
        await put('a', 10, FRONT)
        const version = await account.remove('a')
        await put('a', 4, BACK)
        const { file } = await account.restore(version, { overwrite: true })
        expect(file).toMatchObject({ deviceId: FRONT, version })
        expect(await used()).toEqual({ [FRONT]: [10, 1] })
      })

      it('nothing of a file that another one is renamed onto', async () => {
        await put('a', 10, FRONT)
        await put('b', 5, BACK)
        await account.change('a', { newName: 'b', overwrite: true })
        expect(await used()).toEqual({ [FRONT]: [10, 1] })
      })

      it('what a batch leaves', async () => {
        await put('a/1', 10, FRONT)
        await put('a/2', 20, BACK)
        await put('b', 5, BACK)
        const prefix = parseFileNamePrefix('a/')
        const operations = [{ op: 'delete-prefix', prefix }] as const
        await harness.ledger.changeFiles({ ...account, operations })
        expect(await used()).toEqual({ [BACK]: [5, 1] })
      })

      it('the same in the feed', async () => {
        await put('a', 10, FRONT)
        await put('b', 5)
        await account.remove('a')
        const read = await harness.ledger.readChanges({ ...account, after: 0, limit: 10 })
        const told = read?.changes.map((change) => 'file' in change && change.file.deviceId)
        expect(told).toEqual([FRONT, null, FRONT])
      })

      it('nothing of a user who is purged', async () => {
        await put('a', 10, FRONT)
        await put('b', 5, FRONT)
        await harness.users.deleteUser(account.userId)
        await harness.ledger.purgeDeletedUsers({ userId: account.userId, limit: 1 })
        expect(await used()).toEqual({ [FRONT]: [5, 1] })
        await harness.ledger.purgeDeletedUsers({ userId: account.userId, limit: 1 })
        expect(await used()).toEqual({})
      })
    })

    describe('the share', () => {
      const refused = (promise: Promise<unknown>) => refusalOf(promise).then(({ facts }) => facts)

      it('takes what fits exactly, and refuses a byte more with its figures', async () => {
        await device(FRONT, '30')
        await put('a', 10, FRONT)
        await account.begin('pending', 5, { deviceId: FRONT })
        await account.begin('other', 5)
        expect(await refused(account.begin('b', 16, { deviceId: FRONT }))).toEqual({
          limit: 'device',
          device_id: FRONT,
          capacity: 30,
          used: 10,
          reserved: 5,
          requested: 16,
          available: 15,
        })
        await account.begin('b', 15, { deviceId: FRONT })
        await put('c', 40)
      })

      it('is tested before the body, too', async () => {
        await device(FRONT, '30')
        const check = { ...account, name: (await put('x', 1)).file.name, deviceId: FRONT }
        await harness.ledger.checkBegin({ ...check, bytes: 30 })
        expect(await refused(harness.ledger.checkBegin({ ...check, bytes: 31 }))).toMatchObject({
          limit: 'device',
        })
      })

      it('is what the account refuses if both do, else the account is', async () => {
        await device(FRONT, '30')
        await put('x', 80)
        expect(await refused(account.begin('b', 31, { deviceId: FRONT }))).toMatchObject({
          limit: 'device',
          capacity: 30,
        })
        expect(await refused(account.begin('b', 21, { deviceId: FRONT }))).toMatchObject({
          limit: 'account',
          capacity: 100,
        })
        expect(await refused(account.begin('b', 21))).toMatchObject({ limit: 'account' })
      })

      it('is charged the whole size where a file of another device or none is replaced', async () => {
        await device(FRONT, '30')
        await put('a', 40, BACK)
        await put('b', 40)
        expect(await refused(put('a', 31, FRONT))).toMatchObject({ limit: 'device', used: 0 })
        await put('a', 20, FRONT)
        expect(await refused(put('b', 11, FRONT))).toMatchObject({ limit: 'device', used: 20 })
        await put('b', 10, FRONT)
        expect(await used()).toEqual({ [FRONT]: [30, 2] })
      })

      it('is charged the growth where its own file is replaced', async () => {
        await device(FRONT, '30')
        await put('a', 25, FRONT)
        await put('a', 30, FRONT)
        expect(await refused(put('a', 31, FRONT))).toMatchObject({ limit: 'device', used: 30 })
        await put('a', 2, FRONT)
        expect(await used()).toEqual({ [FRONT]: [2, 1] })
      })

      it('is refused at the commit by what has been stored since', async () => {
        await device(FRONT, '30')
        const version = await account.begin('a', 0, { deviceId: FRONT })
        await put('b', 20, FRONT)
        const commit = (size: number) => account.commit(version, size, { deviceId: FRONT })
        expect(await refused(commit(11))).toMatchObject({ limit: 'device', used: 20 })
        await commit(10)
        expect(await used()).toEqual({ [FRONT]: [30, 2] })
      })

      it('bounds how far a reservation grows, and gets it back when the upload ends', async () => {
        await device(FRONT, '30')
        const version = await account.begin('a', 0, { deviceId: FRONT })
        await account.extend(version, 30)
        expect(await refused(account.extend(version, 31))).toMatchObject({
          limit: 'device',
          reserved: 30,
        })
        expect(await outcomeOf(account.begin('b', 1, { deviceId: FRONT }))).not.toBe('ok')
        await account.abort(version)
        await account.begin('b', 30, { deviceId: FRONT })
      })

      it('binds a resumable upload at its creation, its appends and its commit', async () => {
        await device(FRONT, '30')
        await put('x', 10, FRONT)
        const create = (length?: number) => uploads.create('film', length, { deviceId: FRONT })
        expect(await refused(create(21))).toMatchObject({ limit: 'device' })
        const film = await create()
        await uploads.prepare(film, { bytes: 20 })
        await uploads.append(film, 20)
        const beyond = { limit: 'device', reserved: 20, used: 10, requested: 21 }
        expect(await refused(uploads.prepare(film, { bytes: 21 }))).toMatchObject(beyond)
        expect(await outcomeOf(account.begin('b', 1, { deviceId: FRONT }))).not.toBe('ok')
        await uploads.prepare(film, { bytes: 20, length: 20 })
        await account.commit(film.version, 20)
        expect(await used()).toEqual({ [FRONT]: [30, 2] })
      })

      it('is that of the device that created a resumable upload, whoever finishes it', async () => {
        await device(FRONT, '30')
        const film = await uploads.create('film', 20, { deviceId: FRONT })
        await uploads.append(film, 20)
        const { file } = await account.commit(film.version, 20, { deviceId: BACK })
        expect(file.deviceId).toBe(FRONT)
        const other = await uploads.create('other', 20)
        await uploads.append(other, 20)
        const later = await account.commit(other.version, 20, { deviceId: BACK })
        expect(later.file.deviceId).toBeNull()
      })

      it('means what the device grants by "own", and the account by "all"', async () => {
        await device(FRONT, 'own', 20)
        await device(BACK, 'all')
        expect(await refused(put('a', 21, FRONT))).toMatchObject({ limit: 'device', capacity: 20 })
        await put('a', 20, FRONT)
        await put('b', 100, BACK)
        expect(await refused(put('c', 1, BACK))).toMatchObject({ limit: 'account' })
      })

      it('takes no file if it is 0, not even an empty one', async () => {
        await device(FRONT, '0')
        expect(await refused(put('a', 0, FRONT))).toMatchObject({ limit: 'device', capacity: 0 })
        await device(FRONT, '1')
        await put('a', 0, FRONT)
        await device(FRONT, '0')
        await put('a', 0, FRONT)
      })

      it('refuses growth only if it is below what is used', async () => {
        await device(FRONT, '30')
        await put('a', 20, FRONT)
        await put('b', 10, FRONT)
        await device(FRONT, '15')
        await put('a', 18, FRONT)
        expect(await refused(put('a', 19, FRONT))).toMatchObject({ limit: 'device', used: 28 })
        expect(await refused(put('c', 1, FRONT))).toMatchObject({ limit: 'device', available: 0 })
        await account.change('b', { newName: 'd' })
        await account.remove('d')
        expect(await used()).toEqual({ [FRONT]: [18, 1] })
      })

      it('takes what an upload has reserved although it shrinks meanwhile, unless that exceeds it', async () => {
        await device(FRONT, '30')
        const [a, b] = [
          await account.begin('a', 15, { deviceId: FRONT }),
          await account.begin('b', 15, { deviceId: FRONT }),
        ]
        await device(FRONT, '20')
        await account.commit(a, 15, { deviceId: FRONT })
        const late = account.commit(b, 15, { deviceId: FRONT })
        expect(await refused(late)).toMatchObject({ limit: 'device', used: 15 })
      })

      it('refuses a restore and the growth of metadata', async () => {
        await device(FRONT, '30')
        await put('a', 20, FRONT)
        const version = await account.remove('a')
        await put('b', 20, FRONT)
        expect(await refused(account.restore(version))).toMatchObject({
          limit: 'device',
          used: 20,
          requested: 20,
        })
        const note = account.change('b', { metadata: { note: 'x'.repeat(258) } })
        expect(await refused(note)).toMatchObject({ limit: 'device' })
        await account.remove('b')
        await account.restore(version)
        expect(await used()).toEqual({ [FRONT]: [20, 1] })
      })

      it('names the operation of a batch after which it is exceeded', async () => {
        await device(FRONT, '30')
        const [own, empty, other] = [
          (await put('own', 15, FRONT)).file.version,
          (await put('empty', 0, FRONT)).file.version,
          (await put('other', 25, BACK)).file.version,
        ]
        for (const each of ['own', 'empty', 'other']) await account.remove(each)
        await put('x', 20, FRONT)
        const terms = { name: undefined, overwrite: false }
        const restore = (version: Version) => ({ ...terms, op: 'restore', version }) as const
        const remove = { op: 'delete', name: parseFileName('other') } as const
        const batch = (operations: readonly BatchOperation[]) =>
          refused(harness.ledger.changeFiles({ ...account, operations }))
        expect(await batch([restore(other), restore(own), remove])).toMatchObject({
          limit: 'device',
          requested: 15,
          available: 10,
          operation: 1,
        })
        await device(FRONT, '0')
        expect(await batch([restore(other), restore(empty), remove])).toMatchObject({
          limit: 'device',
          requested: 0,
          operation: 1,
        })
      })

      it('counts the metadata of an upload', async () => {
        await device(FRONT, '30')
        const metadata = parseMetadata(JSON.stringify({ note: 'x'.repeat(266) }))
        const version = await account.begin('a', 5, { deviceId: FRONT })
        const commit = (size: number) =>
          account.commit(version, size, { deviceId: FRONT, metadata })
        expect(await refused(commit(10))).toMatchObject({ limit: 'device', requested: 31 })
        await commit(9)
        expect(await used()).toEqual({ [FRONT]: [30, 1] })
      })

      it('does not apply to a device that is removed, whose files stay', async () => {
        await device(FRONT, '10')
        await put('a', 10, FRONT)
        const version = await account.remove('a')
        await put('b', 10, FRONT)
        const { userId } = account
        await harness.users.revokeGrant({ userId, source: 'device', reference: FRONT })
        await account.restore(version)
        expect(await used()).toEqual({ [FRONT]: [20, 2] })
      })

      it('leaves the reservations of a narrow credential to what has arrived', async () => {
        await device(FRONT, '30')
        const narrow = { deviceId: FRONT, credential: 'token' }
        const versions = [
          await account.begin('a', 30, narrow),
          await account.begin('b', 30, narrow),
        ]
        for (const version of versions) await account.extend(version, 15)
        const [a, b] = versions as [Version, Version]
        expect(await refused(account.extend(a, 16))).toMatchObject({ limit: 'device' })
        await account.commit(a, 15, narrow)
        await account.commit(b, 15, narrow)
        expect(await used()).toEqual({ [FRONT]: [30, 2] })
      })
    })

    describe('eviction', () => {
      beforeEach(async () => {
        await device(FRONT, '40')
        await device(BACK, 'all')
        for (const each of [1, 2]) {
          await put(`cam/front-${each}`, 20, FRONT)
          await put(`cam/back-${each}`, 20, BACK)
        }
      })

      it('takes only files of the device if its share is full', async () => {
        const { evicted } = await record('cam/front-3', 15, FRONT)
        expect(evicted).toEqual({ files: 1, bytes: 20 })
        expect(await names()).toEqual(['cam/back-1', 'cam/back-2', 'cam/front-2', 'cam/front-3'])
        expect(await used()).toEqual({ [FRONT]: [35, 2], [BACK]: [40, 2] })
      })

      it('takes the oldest files with the prefix, of whatever device, if the account is full', async () => {
        const { evicted } = await record('cam/back-3', 35, BACK)
        expect(evicted).toEqual({ files: 1, bytes: 20 })
        expect(await names()).not.toContain('cam/front-1')
      })

      it('takes files of the device until its share fits, and then others until the account does', async () => {
        await put('keep', 20)
        const { evicted } = await record('cam/front-3', 30, FRONT)
        expect(evicted).toEqual({ files: 2, bytes: 40 })
        expect(await used()).toEqual({ [FRONT]: [30, 1], [BACK]: [40, 2] })
        await device(FRONT, '60')
        const more = await record('cam/front-4', 15, FRONT)
        expect(more.evicted).toEqual({ files: 1, bytes: 20 })
        expect(await names()).toEqual(['cam/back-2', 'cam/front-3', 'cam/front-4', 'keep'])
      })

      it('tells what of the device it could evict, and evicts nothing, if that is too little', async () => {
        await record('front', 5, FRONT)
        const before = await names()
        const { facts } = await refusalOf(record('cam/x', 36, FRONT))
        expect(facts).toMatchObject({ limit: 'device', used: 25, evictable: 20 })
        expect(await names()).toEqual(before)
      })

      it('takes nothing for what other uploads of the device only reserve', async () => {
        await account.remove('cam/front-2')
        const film = await uploads.create('film', 20, { deviceId: FRONT })
        await uploads.append(film, 5)
        const { evicted } = await record('cam/front-3', 10, FRONT)
        expect(evicted).toEqual({ files: 0, bytes: 0 })
        const more = await record('cam/front-4', 10, FRONT)
        expect(more.evicted).toEqual({ files: 1, bytes: 20 })
      })
    })

    describe('many at once', () => {
      it('let in exactly what the share of each device holds, through two instances', async () => {
        await device(FRONT, '30')
        await device(BACK, '50')
        const twin = account.through(harness.other)
        const begins = Array.from({ length: 40 }, (_, at) => {
          const deviceId = at % 4 < 2 ? FRONT : BACK
          return outcomeOf((at % 2 === 0 ? account : twin).begin(`f${at}`, 10, { deviceId }))
        })
        const outcomes = await Promise.all(begins)
        expect([count(outcomes, 'ok'), count(outcomes, 'capacity_exceeded')]).toEqual([8, 32])
      })

      it('commit exactly what the share of each device holds, through two instances', async () => {
        await device(FRONT, '30')
        await device(BACK, '50')
        const twin = account.through(harness.other)
        const versions: Version[] = []
        const deviceOf = (at: number) => (at % 4 < 2 ? FRONT : BACK)
        const { ledger, other } = harness.with({ limits: WIDE })
        for (let at = 0; at < 40; at += 1) {
          const narrow = { deviceId: deviceOf(at), credential: deviceOf(at) }
          const through = account.through(at % 2 === 0 ? ledger : other)
          versions.push(await through.begin(`f${at}`, 10, narrow))
        }
        const commits = versions.map((version, at) =>
          outcomeOf(
            (at % 2 === 0 ? account : twin).commit(version, 10, { deviceId: deviceOf(at) }),
          ),
        )
        const outcomes = await Promise.all(commits)
        expect([count(outcomes, 'ok'), count(outcomes, 'capacity_exceeded')]).toEqual([8, 32])
        expect(await used()).toEqual({ [FRONT]: [30, 3], [BACK]: [50, 5] })
      })
    })
  })
}

const WIDE = { maxFiles: 1000, maxUploads: 1000, maxUnfinished: 1000 }
