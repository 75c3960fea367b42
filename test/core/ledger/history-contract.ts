import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { createVersion, objectKey } from '../../../src/core/objects/object-key.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import {
  type Account,
  digestOf,
  LONG_MS,
  type LedgerHarness,
  openAccount,
  outcomeOf,
  refusalOf,
  race,
} from './fixture.ts'

/** Long enough for a slow test, and short enough to pass in one. */
const LIFETIME_MS = 3_000
const OVERHEAD = 4096
const MIB = 2 ** 20

/** What becomes of replaced and deleted files where the ledger keeps a history. */
export function ledgerHistoryContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
): void {
  describe(`history of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LONG_MS, historyShare: 50, baseCapacity: MIB })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const trim = () => harness.ledger.trimHistory({ ...account, limit: 100 })
    const garbage = async () => (await harness.keys(account.userId)).garbage.map(({ key }) => key)
    const keyOf = (version: Parameters<typeof objectKey>[1]) => objectKey(account.userId, version)

    /** The recorded figures equal the rows; returns bytes and number. */
    async function figures(of: Account = account) {
      const found = await harness.history(of.userId)
      const { bytes, versions, countedBytes, countedVersions } = found
      expect({ bytes, versions }).toEqual({ bytes: countedBytes, versions: countedVersions })
      return { bytes, versions, excess: found.excess }
    }

    it('keeps what is replaced and deleted, newest end first', async () => {
      const { file: first } = await account.put('a', 10, { visibility: 'users' })
      const { file: second } = await account.put('a', 20)
      // Versions that end in the same millisecond have no order of their own.
      await harness.advance(2)
      await account.remove('a')
      const past = await account.past()
      expect(past.map(({ version, endedAs }) => [version, endedAs])).toEqual([
        [second.version, 'deleted'],
        [first.version, 'replaced'],
      ])
      const [deleted, replaced] = past
      const {
        isKept: _isKept,
        metadataBytes: _metadataBytes,
        modifiedAt: _modifiedAt,
        storedBy: _storedBy,
        expiresAt: fileExpiresAt,
        ...content
      } = first
      expect(replaced).toEqual({
        ...content,
        endedAs: 'replaced',
        endedAt: expect.any(Number) as number,
        expiresAt: (replaced?.endedAt ?? 0) + LONG_MS,
        fileExpiresAt,
      })
      expect(deleted?.sha256).toBe(second.sha256)
      expect(await figures()).toEqual({ bytes: 30 + 2 * OVERHEAD, versions: 2, excess: 0 })
      expect(await account.usage()).toMatchObject({ used: 0, fileCount: 0 })
      expect(await garbage()).toEqual([])
    })

    it('keeps what a rename displaces, and no content that is replaced by the same', async () => {
      const { file: displaced } = await account.put('b', 7)
      await account.put('a', 5)
      await account.change('a', { newName: 'b', overwrite: true })
      const { file: again } = await account.put('b', 5, { sha256: digestOf(5) })
      expect((await account.past()).map(({ version }) => version)).toEqual([displaced.version])
      expect((await account.list()).map(({ version }) => version)).toEqual([again.version])
      expect(await garbage()).toHaveLength(1)
      expect(await figures()).toMatchObject({ versions: 1 })
    })

    it('restores a version with its content, as it was', async () => {
      const { file } = await account.put('a', 10, { visibility: 'public' })
      await account.remove('a')
      const restored = await account.restore(file.version)
      expect(restored).toMatchObject({
        file: {
          ...file,
          updatedAt: restored.file.updatedAt,
          modifiedAt: expect.any(Number) as number,
        },
        replaced: false,
        usage: { used: 10, fileCount: 1 },
      })
      expect(restored.file.updatedAt).toBeGreaterThanOrEqual(file.updatedAt)
      expect(await account.list()).toEqual([restored.file])
      expect(await figures()).toEqual({ bytes: 0, versions: 0, excess: 0 })
      const { changes = [] } =
        (await harness.ledger.readChanges({ ...account, after: 0, limit: 10 })) ?? {}
      const told = changes.map(({ type }) => type)
      expect(told).toEqual(['file.created', 'file.deleted', 'file.restored'])
    })

    it('restores over another file only if asked to, and then keeps that one', async () => {
      const { file: old } = await account.put('a', 10)
      const { file: current } = await account.put('a', 20, { visibility: 'users' })
      expect(await outcomeOf(account.restore(old.version))).toBe('file_exists')
      const { file, replaced } = await account.restore(old.version, { overwrite: true })
      expect(file).toMatchObject({
        version: old.version,
        visibility: 'users',
        createdAt: old.createdAt,
      })
      expect(replaced).toBe(true)
      expect(await account.past()).toMatchObject([
        { version: current.version, endedAs: 'replaced' },
      ])
      const elsewhere = await account.restore(current.version, { name: 'b' })
      expect(elsewhere.file).toMatchObject({ name: 'b', version: current.version })
      expect(await account.past()).toEqual([])
      expect(await account.usage()).toMatchObject({ used: 30, fileCount: 2 })
    })

    it('restores only under the preconditions', async () => {
      const { file: old } = await account.put('a', 10)
      const { file: current } = await account.put('a', 20)
      const wrong = { overwrite: true, precondition: { ifMatch: [old.version] } }
      expect(await outcomeOf(account.restore(old.version, wrong))).toBe('precondition_failed')
      const none = { precondition: { ifNoneMatch: '*' } } as const
      expect(await outcomeOf(account.restore(old.version, none))).toBe('precondition_failed')
      const right = { overwrite: true, precondition: { ifMatch: [current.version] } }
      expect(await outcomeOf(account.restore(old.version, right))).toBe('ok')
    })

    it('never restores past the quota, and changes nothing then', async () => {
      const { file } = await account.put('a', MIB)
      await account.remove('a')
      await account.put('b', 1)
      const before = [await account.usage(), await account.past(), await figures()]
      expect(await outcomeOf(account.restore(file.version))).toBe('capacity_exceeded')
      const full = account.through(harness.with({ limits: { maxFiles: 1 } }).ledger)
      const refused = full.restore(file.version, { name: 'c' })
      expect(await outcomeOf(refused)).toBe('file_count_exceeded')
      expect([await account.usage(), await account.past(), await figures()]).toEqual(before)
      await account.begin('d', MIB - 1)
      await account.remove('b')
      expect(await outcomeOf(account.restore(file.version))).toBe('capacity_exceeded')
    })

    it('counts an empty file that it restores, and leaves the last tenth of the files to others', async () => {
      const { file } = await account.put('a', 0)
      await account.remove('a')
      await account.put('b', 1)
      const at = (maxFiles: number) =>
        account.through(harness.with({ limits: { maxFiles } }).ledger)
      expect(await outcomeOf(at(1).restore(file.version))).toBe('file_count_exceeded')
      expect(await refusalOf(at(2).restore(file.version, { credential: 'camera' }))).toMatchObject({
        code: 'file_count_exceeded',
        facts: { max_files: 1 },
      })
      expect(await account.size('a')).toBeUndefined()
      await at(2).restore(file.version)
      expect(await account.size('a')).toBe(0)
    })

    it('purges what exceeds the allowance, oldest end first, and counts it as garbage until then', async () => {
      const half = MIB / 2
      const versions = []
      for (const size of [half / 4, half / 4 + 1, half / 4 + 2, half / 4 + 3]) {
        versions.push((await account.put('a', size)).file.version)
        await harness.advance(2)
      }
      expect((await figures()).excess).toBe(0)
      await account.remove('a')
      const { excess } = await figures()
      expect(excess).toBe(4 * OVERHEAD + 6)
      const toTrim = { except: [], limit: 1000 }
      expect(await harness.ledger.listUsersToTrim(toTrim)).toContain(account.userId)
      expect(await trim()).toBe(1)
      expect(await harness.ledger.listUsersToTrim(toTrim)).not.toContain(account.userId)
      expect(await garbage()).toEqual([keyOf(versions[0] ?? createVersion())])
      expect((await account.past()).map(({ version }) => version)).toEqual(
        versions.slice(1).toReversed(),
      )
      expect(await figures()).toMatchObject({ versions: 3, excess: 0 })
    })

    it('lists a user no more whose figures have drifted, and who has nothing to purge', async () => {
      await harness.driftHistory(account.userId, 2 * MIB)
      expect(await trim()).toBe(0)
      expect((await harness.history(account.userId)).excess).toBe(0)
    })

    it('follows the capacity: a grant that is revoked shrinks the allowance', async () => {
      await account.grant('more', MIB)
      await account.put('a', MIB - OVERHEAD)
      await account.remove('a')
      expect((await figures()).excess).toBe(0)
      await harness.users.revokeGrant({
        userId: account.userId,
        source: 'promotion',
        reference: 'more',
      })
      expect((await figures()).excess).toBe(MIB / 2)
      expect(await trim()).toBe(1)
      expect(await figures()).toEqual({ bytes: 0, versions: 0, excess: 0 })
    })

    it('refuses uploads for garbage while much exceeds the allowance', async () => {
      await account.grant('more', 40 * MIB)
      for (const less of [0, 1, 2]) {
        await account.put('a', 40 * MIB - less)
        await account.remove('a')
      }
      expect(await outcomeOf(account.begin('a', 40 * MIB))).toBe('too_many_requests')
      await trim()
      expect(await figures()).toMatchObject({ excess: 0 })
      expect(await outcomeOf(account.begin('a', 40 * MIB))).toBe('too_many_requests')
      const { recorded } = await harness.garbageBytes(account.userId)
      expect(recorded).toBe(120 * MIB - 3 + 3 * OVERHEAD - (await figures()).bytes)
    })

    it('purges a version, and says so while its object is garbage', async () => {
      const { file } = await account.put('a', 10)
      await account.remove('a')
      const { version } = file
      const find = () => harness.ledger.findPastVersion({ ...account, version })
      const purged = () => outcomeOf(harness.ledger.purgeVersion({ ...account, version }))
      expect(await find()).toMatchObject({ version, size: 10 })
      expect(await purged()).toBe('ok')
      expect(await find()).toBe('gone')
      expect(await purged()).toBe('ok')
      expect(await outcomeOf(account.restore(version))).toBe('version_gone')
      expect(await garbage()).toEqual([keyOf(version)])
      expect(await figures()).toEqual({ bytes: 0, versions: 0, excess: 0 })
      expect((await harness.garbageBytes(account.userId)).recorded).toBe(10 + OVERHEAD)
    })

    it('knows neither a version of a file nor one of another user', async () => {
      const { file } = await account.put('a', 10)
      const other = await openAccount(harness)
      for (const [who, version] of [
        [account, file.version],
        [account, createVersion()],
      ] as const) {
        const of = { ...who, version }
        expect(await harness.ledger.findPastVersion(of)).toBeUndefined()
        expect(await outcomeOf(harness.ledger.purgeVersion(of))).toBe('not_found')
        expect(await outcomeOf(who.restore(version))).toBe('not_found')
      }
      await account.remove('a')
      const of = { ...other, version: file.version }
      expect(await harness.ledger.findPastVersion(of)).toBeUndefined()
      expect(await outcomeOf(harness.ledger.purgeVersion(of))).toBe('not_found')
      expect(await outcomeOf(other.restore(file.version))).toBe('not_found')
      expect(await account.past()).toHaveLength(1)
    })

    it('purges versions of any size', async () => {
      await account.grant('more', 2 ** 40)
      const GIB = 2 ** 30
      for (const size of [3 * GIB, 1.5 * GIB, 1.5 * GIB + 1]) await account.put('a', size)
      await account.remove('a')
      expect(await figures()).toMatchObject({ bytes: 6 * GIB + 1 + 3 * OVERHEAD, versions: 3 })
      const page = { ...account, endedBy: 2 ** 50, limit: 100 }
      expect(await harness.ledger.purgeHistory(page)).toBe(3)
      expect(await figures()).toEqual({ bytes: 0, versions: 0, excess: 0 })
      const { recorded, counted } = await harness.garbageBytes(account.userId)
      expect([recorded, counted]).toEqual(Array(2).fill(6 * GIB + 1 + 3 * OVERHEAD))
    })

    it('purges all versions page by page', async () => {
      for (const size of [1, 2, 3]) await account.put('a', size)
      await account.remove('a')
      const page = { ...account, endedBy: 2 ** 50, limit: 2 }
      expect(await harness.ledger.purgeHistory(page)).toBe(2)
      expect(await harness.ledger.purgeHistory(page)).toBe(1)
      expect(await harness.ledger.purgeHistory(page)).toBe(0)
      expect(await account.past()).toEqual([])
      expect(await garbage()).toHaveLength(3)
    })

    it('lists by name and by prefix, page after page, and scans a bounded number', async () => {
      for (const each of ['a', 'b', 'ab', 'a', 'c', 'b']) {
        await account.put(each, 1)
        await account.remove(each)
        await harness.advance(2)
      }
      const names = (page: readonly { readonly name: string }[]) => page.map(({ name }) => name)
      expect(names(await account.past())).toEqual(['b', 'c', 'a', 'ab', 'b', 'a'])
      expect(names(await account.past({ name: 'a' }))).toEqual(['a', 'a'])
      expect(names(await account.past({ prefix: 'a' }))).toEqual(['a', 'ab', 'a'])
      const [, , third] = await account.past()
      expect(names(await account.past({ after: third }))).toEqual(['ab', 'b', 'a'])
      const scan = { ...account, name: undefined, after: undefined, limit: 3, maxScanned: 3 }
      const found = await harness.ledger.listHistory({ ...scan, prefix: 'a' as never })
      expect(names(found.versions)).toEqual(['a'])
      expect(found.scannedTo).toMatchObject({ version: third?.version })
    })

    it('lists and finds nothing for a user who is not active', async () => {
      const { file } = await account.put('a', 1)
      await account.remove('a')
      await harness.users.setUserStatus(account.userId, 'suspended')
      expect(await account.past()).toEqual([])
      const { version } = file
      expect(await harness.ledger.findPastVersion({ ...account, version })).toBeUndefined()
      expect(await outcomeOf(account.restore(version))).toBe('user_suspended')
      const of = { ...account, version }
      expect(await outcomeOf(harness.ledger.purgeVersion(of))).toBe('user_suspended')
      expect(
        await outcomeOf(harness.ledger.purgeHistory({ ...of, endedBy: 2 ** 50, limit: 1 })),
      ).toBe('user_suspended')
      await harness.users.setUserStatus(account.userId, 'active')
      expect(await account.past()).toHaveLength(1)
    })

    it('G09 says committed of a version that the journal has forgotten, wherever it is', async () => {
      const { ledger } = harness.with({ times: { retentionMs: -1 } })
      const forget = () => ledger.forgetUploads({ limit: 1000 })
      const { file } = await account.put('a', 10)
      const { version } = file
      const outcome = () => account.abort(version)
      while ((await forget()) > 0);
      expect(await outcome()).toBe('committed')
      await account.put('a', 20)
      expect(await outcome()).toBe('committed')
      await account.restore(version, { name: 'b' })
      expect(await outcome()).toBe('committed')
      await account.remove('b')
      expect(await outcome()).toBe('committed')
      await harness.ledger.purgeVersion({ ...account, version })
      expect(await outcome()).toBe('committed')
      // The object of an upload that no table names has to be removed.
      const [due] = (await harness.keys(account.userId)).garbage
      expect(due?.key).toBe(file.objectKey)
      const removed = { objectKey: file.objectKey, notBefore: 0, userId: account.userId }
      await harness.ledger.noteGarbageRemovals({
        userId: account.userId,
        removed: [removed],
        failed: [],
      })
      expect(await outcome()).toBe('aborted')
    })

    it('G09 says so of a version of a purged user, and of garbage that an evicted file has left', async () => {
      const eviction = parseFileNamePrefix('')
      const { file } = await account.put('a', MIB)
      const next = await account.begin('b', 1, { evict: eviction })
      await account.commit(next, 1, { evict: eviction })
      const { ledger } = harness.with({ times: { retentionMs: -1 } })
      while ((await ledger.forgetUploads({ limit: 1000 })) > 0);
      expect(await account.past()).toEqual([])
      expect(await account.abort(file.version)).toBe('committed')
      await harness.users.deleteUser(account.userId)
      const purge = { userId: account.userId, limit: 100 }
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
      expect(await account.abort(next)).toBe('committed')
    })

    it('moves the versions of a deleted user to garbage', async () => {
      await account.put('a', 1)
      await account.remove('a')
      await harness.users.deleteUser(account.userId)
      const purge = { userId: account.userId, limit: 100 }
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
      expect(await harness.ledger.findAccount(account.userId)).toBeUndefined()
      expect(await garbage()).toHaveLength(1)
    })

    it.each(Array.from({ length: 8 }, (_, round) => round))(
      'restores a version once, and purges it or not, in any order (round %i)',
      async (round) => {
        const { file } = await account.put('a', 10)
        await account.remove('a')
        const { version } = file
        const there = account.through(harness.other)
        const outcomes = await race(round, {
          one: () => outcomeOf(account.restore(version, { name: 'b' })),
          another: () =>
            round % 2 === 0
              ? outcomeOf(there.restore(version, { name: 'c' }))
              : outcomeOf(harness.other.purgeVersion({ ...account, version })),
        })
        expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1)
        const { length } = await account.list()
        expect(length + (await garbage()).length).toBe(1)
        await figures()
      },
    )

    it('accounts for every version in any sequence of changes over two instances', async () => {
      const name = fc.constantFrom('a', 'b')
      const change = fc.oneof(
        {
          arbitrary: fc.tuple(fc.constant('put'), name, fc.integer({ min: 0, max: 3 })),
          weight: 4,
        },
        { arbitrary: fc.tuple(fc.constant('remove'), name, fc.nat(1)), weight: 2 },
        { arbitrary: fc.tuple(fc.constant('rename'), name, fc.nat(1)), weight: 1 },
        { arbitrary: fc.tuple(fc.constant('restore'), name, fc.nat(9)), weight: 3 },
        { arbitrary: fc.tuple(fc.constant('purge'), name, fc.nat(9)), weight: 1 },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
          const user = await openAccount(harness)
          const committed: string[] = []
          for (const [index, [what, on, number]] of changes.entries()) {
            const at = index % 2 === 0 ? user : user.through(harness.other)
            const past = await user.past()
            const version = past[number % Math.max(past.length, 1)]?.version ?? createVersion()
            const does = {
              put: async () => void committed.push((await at.put(on, number)).file.objectKey),
              remove: () => at.remove(on),
              rename: () => at.change(on, { newName: `${on}x`, overwrite: true }),
              restore: () => at.restore(version, { name: on, overwrite: true }),
              purge: () => harness.ledger.purgeVersion({ ...user, version }),
            }[what]
            await outcomeOf(does())
          }
          await figures(user)
          const { referenced, garbage: left } = await harness.keys(user.userId)
          const kept = (await user.past()).map(({ objectKey: key }) => key)
          const all = [...referenced, ...kept, ...left.map(({ key }) => key)]
          expect(all.toSorted()).toEqual(committed.toSorted())
          const files = await user.list()
          const used = files.reduce((sum, { size }) => sum + size, 0)
          expect(await user.usage()).toMatchObject({ used, fileCount: files.length })
        }),
        { numRuns: 15 },
      )
    })
  })

  describe(`a short history of the ledger on ${name}`, () => {
    let harness: LedgerHarness

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LIFETIME_MS, historyShare: 50, baseCapacity: MIB })
    })
    afterAll(() => harness.close())

    it('expires, and is then purged', async () => {
      const account = await openAccount(harness)
      const { file } = await account.put('a', 1)
      await account.remove('a')
      const { version } = file
      expect(await account.past()).toHaveLength(1)
      await harness.advance(LIFETIME_MS + 1)
      expect(await account.past()).toEqual([])
      expect(await harness.ledger.findPastVersion({ ...account, version })).toBe('gone')
      expect(await outcomeOf(account.restore(version))).toBe('version_gone')
      const { userId } = account
      expect(await harness.ledger.listUsersToTrim({ except: [], limit: 10 })).toEqual([userId])
      const except = { except: [userId], limit: 10 }
      expect(await harness.ledger.listUsersToTrim(except)).toEqual([])
      const trim = { userId, limit: 10 }
      expect(await harness.ledger.trimHistory(trim)).toBe(1)
      expect(await harness.history(userId)).toMatchObject({ bytes: 0, versions: 0 })
    })

    describe.each(['replaced', 'deleted'] as const)('a version that is %s', (endedAs) => {
      const SOON_MS = 1_000
      const open = async () => {
        const account = await openAccount(harness)
        const { file } = await account.put('a', 1, { expiresInMs: SOON_MS })
        await harness.advance(2)
        await (endedAs === 'replaced' ? account.put('a', 2) : account.remove('a'))
        return { account, file }
      }

      const listed = () => harness.ledger.listUsersToTrim({ except: [], limit: 1000 })

      it('lives no longer than its file would have', async () => {
        const { account, file } = await open()
        const { version, expiresAt } = file
        expect(await account.past()).toMatchObject([{ version, endedAs, expiresAt }])
        await harness.advance(SOON_MS)
        expect(await account.past()).toEqual([])
        expect(await account.past({ name: 'a' })).toEqual([])
        expect(await harness.ledger.findPastVersion({ ...account, version })).toBe('gone')
        const restored = account.restore(version, { overwrite: true })
        expect(await outcomeOf(restored)).toBe('version_gone')
        const { userId } = account
        expect(await listed()).toContain(userId)
        const trim = { userId, limit: 10 }
        expect(await harness.ledger.trimHistory(trim)).toBe(1)
        expect(await listed()).not.toContain(userId)
        expect((await harness.history(userId)).versions).toBe(0)
      })

      it('expires when it is restored, as it would have, and however often it ends', async () => {
        const { account, file } = await open()
        const { version, expiresAt } = file
        for (const _ of [1, 2]) {
          const restored = await account.restore(version, { overwrite: true })
          expect(restored.file).toMatchObject({ version, expiresAt })
          await harness.advance(2)
          await account.remove('a')
        }
        const [deleted] = await account.past()
        expect(deleted).toMatchObject({ version, expiresAt })
        await account.restore(version)
        await harness.advance(SOON_MS)
        expect(await account.list()).toEqual([])
      })

      it('leaves the history before its file would have expired, if that is later', async () => {
        const account = await openAccount(harness)
        await account.put('a', 1, { expiresInMs: LONG_MS })
        await account.remove('a')
        const [past] = await account.past()
        expect(past?.expiresAt).toBe((past?.endedAt ?? 0) + LIFETIME_MS)
      })
    })

    it('expires in a batch that ends and restores it', async () => {
      const account = await openAccount(harness)
      const { file } = await account.put('a', 1, { expiresInMs: 1_000 })
      const { version, name } = file
      const { userId, userCreatedAt } = account
      const { files } = await harness.ledger.changeFiles({
        userId,
        userCreatedAt,
        operations: [
          { op: 'delete', name },
          { op: 'restore', version, name: undefined, overwrite: false },
        ],
      })
      expect(files[1]).toMatchObject({ version, expiresAt: file.expiresAt })
    })
  })
}
