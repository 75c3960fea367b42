import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parseFileName, parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import { type Account, LONG_MS, type LedgerHarness, openAccount, outcomeOf } from './fixture.ts'

const DAY_MS = 24 * 60 * 60_000
const OVERHEAD = 4096
const MIB = 2 ** 20
/** About a tenth of the capacity. */
const TENTH = 100_000

/** Narrow credentials: two cameras, and a thief. */
const [CAM, OTHER, THIEF] = ['cam', 'other', 'thief'] as const

/** The account itself. */
const OWNER = null

type By = string | typeof OWNER

/** What narrow credentials end displaces nothing that others have ended, and spares what others had stored. */
export function ledgerNarrowEndsContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
): void {
  describe(`what narrow credentials end in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: 30 * DAY_MS, historyShare: 50, baseCapacity: MIB })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const put = async (file: string, size: number, by: By = CAM) => {
      const { file: stored } = await account.put(file, size, { credential: by ?? undefined })
      await harness.advance(2)
      return stored.version
    }
    const remove = async (file: string, by: By = CAM) => {
      const version = await account.remove(file, { credential: by ?? undefined })
      await harness.advance(2)
      return version
    }
    /** Sweeps until nothing is left to trim; returns how many pages that took. */
    const trim = async (limit = 3): Promise<number> => {
      const isListed = async () =>
        (await harness.ledger.listUsersToTrim({ except: [], limit: 1000 })).includes(account.userId)
      let pages = 0
      while (await isListed()) {
        pages += 1
        if (pages > 1000) throw new Error('The sweep does not come to an end.')
        await harness.ledger.trimHistory({ ...account, limit })
      }
      return pages
    }
    const past = async () => (await account.past()).map(({ version }) => version)
    const figures = async () => {
      const found = await harness.history(account.userId)
      const { bytes, countedBytes, versions, countedVersions } = found
      expect({ bytes, versions }).toEqual({ bytes: countedBytes, versions: countedVersions })
      expect(found.protectedBytes).toBe(found.countedProtected)
      const excess = bytes - found.protectedBytes - MIB / 2
      expect(found.excess).toBe(Math.max(0, excess))
      return { versions, protectedBytes: found.protectedBytes, excess: found.excess }
    }
    /** Ends as many bytes as twice the allowance, of its own content. */
    const churn = async (by: By = CAM, file = 'live'): Promise<Version[]> => {
      const versions: Version[] = []
      for (let size = 0; size < 12; size += 1) {
        versions.push(await put(file, TENTH + size, by))
        if (size % 3 === 2) await trim()
      }
      await trim()
      return versions
    }

    it('displaces its own versions first, oldest end first', async () => {
      await put('thesis', 1000, OWNER)
      const thesis = await remove('thesis', OWNER)
      const versions = await churn()
      const left = await past()
      expect(left).toContain(thesis)
      const own = left.filter((version) => version !== thesis)
      expect(own).toEqual(versions.slice(-1 - own.length, -1).toReversed())
      expect(own.length).toBeGreaterThan(2)
      expect(await figures()).toMatchObject({ protectedBytes: 0, excess: 0 })
    })

    it.each([
      ['replaces', (file: string) => put(file, 7, THIEF)],
      ['deletes', (file: string) => remove(file, THIEF)],
      [
        'renames another one onto',
        async (file: string) => {
          await put('mine', 7, THIEF)
          const onto = { newName: file, overwrite: true, credential: THIEF }
          await account.change('mine', onto)
        },
      ],
      [
        'in a batch deletes',
        async (file: string) => {
          const { userId, userCreatedAt } = account
          const caller = { userId, userCreatedAt, credential: THIEF }
          const operations = [{ op: 'delete', name: parseFileName(file) }] as const
          await harness.ledger.changeFiles({ ...caller, operations })
        },
      ],
      [
        'by its prefix deletes',
        async (file: string) => {
          const { userId, userCreatedAt } = account
          const caller = { userId, userCreatedAt, credential: THIEF }
          const prefix = parseFileNamePrefix(file.slice(0, -1))
          const operations = [{ op: 'delete-prefix', prefix }] as const
          await harness.ledger.changeFiles({ ...caller, operations })
        },
      ],
      [
        'replaces by a rename of a prefix',
        async (file: string) => {
          await put('my-file', 1, THIEF)
          const { userId, userCreatedAt } = account
          const caller = { userId, userCreatedAt, credential: THIEF }
          const [prefix, newPrefix] = [parseFileNamePrefix('my-file'), parseFileNamePrefix(file)]
          const rename = { op: 'rename-prefix', prefix, newPrefix, overwrite: true } as const
          await harness.ledger.changeFiles({ ...caller, operations: [rename] })
        },
      ],
    ])('spares for a day what it %s and others had stored', async (_how, end) => {
      const version = await put('thesis', MIB / 2, OWNER)
      await end('thesis')
      await churn(THIEF)
      await churn(THIEF, 'thesis')
      expect(await past()).toContain(version)
      expect(await figures()).toMatchObject({ protectedBytes: MIB / 2 + OVERHEAD, excess: 0 })
      await harness.advance(DAY_MS - 60_000)
      await trim()
      expect(await past()).toContain(version)
      expect((await account.restore(version, { overwrite: true })).file.version).toBe(version)
      expect(await figures()).toMatchObject({ protectedBytes: 0 })
    })

    it('is let go after a day, unless the allowance has room for it', async () => {
      const small = await put('small', 100, OWNER)
      const large = await put('large', MIB / 2, OWNER)
      await put('note', 100, OWNER)
      const note = await remove('note', OWNER)
      for (const file of ['small', 'large']) await remove(file, THIEF)
      expect((await figures()).excess).toBe(0)
      await harness.advance(DAY_MS + 1)
      await trim()
      expect(new Set(await past())).toEqual(new Set([small, note]))
      expect(await past()).not.toContain(large)
      expect(await figures()).toMatchObject({ protectedBytes: 0, excess: 0 })
    })

    it('is not let go for an excess that no other version makes up', async () => {
      const version = await put('thesis', 1000, OWNER)
      await remove('thesis', THIEF)
      await harness.driftHistory(account.userId, 10 * MIB)
      await harness.ledger.trimHistory({ ...account, limit: 3 })
      expect(await past()).toEqual([version])
      expect((await harness.history(account.userId)).excess).toBe(0)
    })

    it('cannot be hidden by an upload of the same content', async () => {
      const content = { sha256: 'a'.repeat(64) }
      await account.put('thesis', 1000, content)
      await account.put('thesis', 1000, { ...content, credential: THIEF })
      const [file] = await account.list()
      expect(file?.storedBy).toBeNull()
      const version = await remove('thesis', THIEF)
      await churn(THIEF)
      expect(await past()).toContain(version)
    })

    it('cannot be destroyed by an upload of the same content that expires', async () => {
      const content = { sha256: 'a'.repeat(64) }
      const { file } = await account.put('thesis', 1000, content)
      await account.put('thesis', 1000, { ...content, credential: THIEF, expiresInMs: 1000 })
      await harness.advance(1001)
      await harness.ledger.expireFiles({ userId: account.userId, limit: 10 })
      expect(await account.list()).toEqual([])
      expect(await past()).toEqual([file.version])
      expect(await figures()).toMatchObject({ protectedBytes: 1000 + OVERHEAD })
      const restored = await account.restore(file.version)
      expect(restored.file.expiresAt).toBe(file.expiresAt)
    })

    it('cannot use up the protection by uploads of the same content that expire ever earlier', async () => {
      const content = { sha256: 'a'.repeat(64) }
      const { file } = await account.put('thesis', TENTH, content)
      for (const expiresInMs of [5, 4, 3, 2].map((hours) => hours * LONG_MS)) {
        await account.put('thesis', TENTH, { ...content, credential: THIEF, expiresInMs })
      }
      expect((await figures()).protectedBytes).toBe(TENTH + OVERHEAD)
      await churn(THIEF)
      await churn(THIEF, 'thesis')
      expect(await past()).toContain(file.version)
      expect((await figures()).protectedBytes).toBe(TENTH + OVERHEAD)
    })

    it('counts what the account has restored as stored by the account', async () => {
      const version = await put('live', 1000)
      await put('live', 1001)
      await account.restore(version, { overwrite: true })
      await put('live', 1002)
      expect((await figures()).protectedBytes).toBe(1000 + OVERHEAD)
      await account.restore(version, { overwrite: true, credential: CAM })
      expect((await figures()).protectedBytes).toBe(0)
      await put('live', 1003)
      expect((await figures()).protectedBytes).toBe(0)
    })

    it('displaces nothing that another narrow credential has ended, however little it adds', async () => {
      await put('other', MIB / 4, OTHER)
      const deleted = await remove('other', OTHER)
      await put('b', MIB / 8, OTHER)
      const second = await remove('b', OTHER)
      await churn(CAM)
      for (let size = 0; size < 5; size += 1) {
        await put('live', TENTH + size)
        await put('tiny', size)
        await trim()
      }
      expect(await past()).toEqual(expect.arrayContaining([deleted, second]))
    })

    it('is trimmed of the credential that ends most, although another one has ended last', async () => {
      await put('tiny', 1, OTHER)
      const tiny = await remove('tiny', OTHER)
      for (let size = 0; size < 8; size += 1) await put('live', TENTH + size)
      await put('tiny', 2, OTHER)
      const last = await remove('tiny', OTHER)
      await trim()
      expect(await past()).toEqual(expect.arrayContaining([tiny, last]))
      expect(await figures()).toMatchObject({ excess: 0 })
    })

    it('is charged to each credential that has caused a part of it, and only with that part', async () => {
      await put('other', 2 * TENTH, OTHER)
      await remove('other', OTHER)
      for (const size of [1, 2, 3]) await put('live', TENTH + size)
      await trim()
      await put('other', 2 * TENTH, OTHER)
      const newer = await remove('other', OTHER)
      await put('live', TENTH + 4)
      await put('third', TENTH, THIEF)
      await remove('third', THIEF)
      await trim()
      expect(await past()).toContain(newer)
      expect(await figures()).toMatchObject({ excess: 0 })
    })

    it('goes before what the account has ended, whose own churn goes on as ever', async () => {
      const first = await put('a', 2 * TENTH, OWNER)
      for (const size of [1, 2, 3]) await put('a', 2 * TENTH + size, OWNER)
      await put('live', 100)
      await put('live', 101)
      await trim()
      const left = await past()
      expect(left).not.toContain(first)
      expect(left).toHaveLength(2)
      expect(await figures()).toMatchObject({ excess: 0 })
    })

    it.each([
      ['deletes', (file: string) => remove(file, OWNER)],
      ['replaces', (file: string) => put(file, 7, OWNER)],
      [
        'renames another file onto',
        async (file: string) => {
          await put('clean', 7, OWNER)
          await account.change('clean', { newName: file, overwrite: true })
        },
      ],
      [
        'restores a version onto',
        async (file: string) => {
          await put('clean', 7, OWNER)
          await account.restore(await remove('clean', OWNER), { name: file, overwrite: true })
        },
      ],
      [
        'deletes in a batch',
        async (file: string) => {
          const { userId, userCreatedAt } = account
          const operations = [{ op: 'delete', name: parseFileName(file) }] as const
          await harness.ledger.changeFiles({ userId, userCreatedAt, operations })
        },
      ],
    ])('goes first also if the account %s what it has stored', async (_how, end) => {
      const versions: Version[] = []
      for (const size of [1, 2, 3]) {
        versions.push(await put('thesis', TENTH + size, OWNER))
      }
      versions.push(await remove('thesis', OWNER))
      for (const round of [0, 1, 2]) {
        await put('junk', MIB / 2 - TENTH + round, THIEF)
        await end('junk')
        await trim()
      }
      expect(await past()).toEqual(expect.arrayContaining(versions.slice(0, 3)))
      expect(await figures()).toMatchObject({ excess: 0 })
    })

    it.each([
      ['deletes', () => remove('film', OWNER)],
      ['replaces', () => put('film', 7, OWNER)],
    ])('does not displace by its churn what the account %s of its content', async (_how, end) => {
      const film = await put('film', MIB / 4, CAM)
      await end()
      await churn(CAM)
      expect(await past()).toContain(film)
    })

    it('goes before what it has ended of others, also when that is not protected any more', async () => {
      const thesis = await put('thesis', MIB / 4, OWNER)
      await remove('thesis', THIEF)
      await churn(THIEF)
      await harness.advance(DAY_MS + 1)
      await trim(10)
      expect(await past()).toContain(thesis)
      expect(await figures()).toMatchObject({ protectedBytes: 0, excess: 0 })
      await churn(THIEF)
      for (const round of [0, 1, 2]) {
        await put('junk', MIB / 4 + round, THIEF)
        await remove('junk', OWNER)
        await trim(10)
      }
      expect(await past()).toContain(thesis)
      expect(await figures()).toMatchObject({ excess: 0 })
    })

    it('makes no room for a version of others that is larger than the allowance', async () => {
      await put('large', MIB / 2, OWNER)
      const large = await remove('large', THIEF)
      await put('live', TENTH, THIEF)
      const live = await remove('live', THIEF)
      await harness.advance(DAY_MS + 1)
      await trim()
      expect(await past()).toEqual([live])
      expect(await past()).not.toContain(large)
    })

    it('spares content that the account has stored, too, after a narrow credential had', async () => {
      const content = { sha256: 'a'.repeat(64) }
      await account.put('thesis', 1000, { ...content, credential: THIEF })
      const { file } = await account.put('thesis', 1000, content)
      await remove('thesis', THIEF)
      await churn(THIEF)
      expect(await past()).toContain(file.version)
    })

    it('never refuses an upload because of what is protected', async () => {
      await account.grant('more', 64 * MIB)
      for (const round of [0, 1, 2]) {
        const files = Array.from({ length: 4 }, (_, index) => `f${index}`)
        for (const file of files) await put(file, 15 * MIB + round, OWNER)
        for (const file of files) await remove(file, THIEF)
      }
      expect(await outcomeOf(account.begin('next', 60 * MIB))).toBe('ok')
    })

    it('protects no more than twice the capacity and 64 MiB, and of other credentials half as much', async () => {
      await account.grant('more', 127 * MIB)
      const most = 64 * MIB
      const protectedBytes = async () => (await harness.history(account.userId)).protectedBytes
      const sums: number[] = []
      for (let round = 0; round < 3; round += 1) {
        for (const [file, stored, ended] of [
          ['b', OTHER, CAM],
          ['a', OWNER, THIEF],
        ] as const) {
          await put(file, 100 * MIB + round, stored)
          await remove(file, ended)
        }
        sums.push(await protectedBytes())
      }
      expect(sums[0]).toBe(200 * MIB + 2 * OVERHEAD)
      const bytes = sums.at(-1)
      expect(bytes).toBeGreaterThan(128 * MIB + most)
      expect(bytes).toBeLessThanOrEqual(2 * 128 * MIB + most)
      await trim()
      expect((await harness.history(account.userId)).excess).toBe(0)
    })

    it('never displaces what others have ended or stored, however it changes, and the account cleans up', async () => {
      const file = fc.constantFrom('a', 'b', 'c')
      // Of other sizes than what it puts over: the same content once more ends no version.
      const even = fc.nat(TENTH / 4).map((half) => 2 * half)
      const odd = fc.nat((3 * TENTH) / 2 - 1).map((half) => 2 * half + 1)
      const change = fc.oneof(
        fc.tuple(fc.constant('put'), file, odd),
        fc.tuple(fc.constant('remove'), file, fc.constant(0)),
        fc.tuple(fc.constant('rename'), file, fc.constant(0)),
        fc.tuple(fc.constant('clean'), file, fc.constant(0)),
        fc.tuple(fc.constant('trim'), file, fc.constant(0)),
      )
      const before = fc.array(fc.tuple(fc.constantFrom(OWNER, OTHER), file, even), {
        maxLength: 6,
      })
      await fc.assert(
        fc.asyncProperty(before, fc.array(change, { maxLength: 12 }), async (made, changes) => {
          account = await openAccount(harness)
          for (const [by, each, size] of made) await put(each, size, by)
          await trim()
          const kept = new Set([...(await past()), ...(await account.list()).map((f) => f.version)])
          for (const [what, on, size] of changes) {
            const does = {
              put: () => put(on, size, THIEF),
              remove: () => remove(on, THIEF),
              clean: async () => {
                const found = (await account.list()).find(({ name }) => name === on)
                if (found?.storedBy === THIEF) await remove(on, OWNER)
              },
              rename: () =>
                account.change(on, { newName: `${on}x`, overwrite: true, credential: THIEF }),
              trim: () => trim(),
            }[what]
            await outcomeOf(does())
          }
          await trim()
          const left = [...(await past()), ...(await account.list()).map((f) => f.version)]
          expect(left).toEqual(expect.arrayContaining([...kept]))
          expect((await figures()).excess).toBe(0)
        }),
        { numRuns: 25 },
      )
    })
  })

  describe(`many protected versions in the ledger on ${name}`, () => {
    it('do not keep others of the account in the history beyond its allowance', async () => {
      const options = { historyLifetimeMs: 30 * DAY_MS, historyShare: 50, baseCapacity: MIB }
      const harness = await open(options)
      onTestFinished(() => harness.close())
      const account = await openAccount(harness)
      const { userId } = account
      const end = async (size: number): Promise<Version> => {
        await account.put('draft', size)
        await harness.advance(2)
        return await account.remove('draft')
      }
      await end(1000)
      await harness.addProtected(userId, 40_001)
      const versions: Version[] = []
      for (const size of [1, 2, 3, 4, 5]) versions.push(await end(MIB / 8 + size))
      for (let pages = 0; pages < 9; pages += 1) {
        await harness.ledger.trimHistory({ userId, limit: 10 })
      }
      const left = await account.past({ name: 'draft' })
      expect(left.map(({ version }) => version)).toEqual(versions.slice(2).toReversed())
      expect(await harness.ledger.listUsersToTrim({ except: [], limit: 1 })).toEqual([])
      const { bytes, countedBytes, excess } = await harness.history(userId)
      expect(bytes).toBe(countedBytes)
      expect(excess).toBe(0)
    })
  })
}
