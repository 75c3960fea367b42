import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Account, count, type LedgerHarness, openAccount, outcomeOf, race } from './fixture.ts'

const ROUNDS = 25

/**
 * The rules of `deleteFile`, `updateFile` and of preconditions when many call at once, through one instance and two.
 */
export function ledgerFilesRaceContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`files in the ledger under concurrency on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let twin: Account

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      twin = account.through(harness.other)
    })

    /** The figures are those of the rows (I4), and no object is a file's and garbage at once. */
    const expectSound = async (): Promise<void> => {
      expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
      const { referenced, garbage } = await harness.keys(account.userId)
      const keys = [...referenced, ...garbage.map(({ key }) => key)]
      expect(new Set(keys).size).toBe(keys.length)
    }
    const names = async (): Promise<string[]> => (await account.list()).map(({ name }) => name)

    describe.each([
      ['one instance', () => account],
      ['two instances', (index: number) => (index % 2 === 0 ? account : twin)],
    ] as const)('on %s', (_, through) => {
      it('removes a file once, however many do', async () => {
        await account.put('bystander', 7)
        for (let round = 0; round < ROUNDS; round++) {
          await account.put('a', 10)
          const removals = Array.from({ length: 8 }, (_, index) => through(index).remove('a'))
          const outcomes = await Promise.all(removals.map(outcomeOf))
          expect(count(outcomes, 'ok')).toBe(1)
          expect(count(outcomes, 'not_found')).toBe(7)
        }
        expect(await account.usage()).toMatchObject({ used: 7, fileCount: 1 })
        expect((await harness.keys(account.userId)).garbage).toHaveLength(ROUNDS)
        await expectSound()
      })

      it('renames one of two files to a name that is free', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          await Promise.all([account.put('a', 1), account.put('b', 2)])
          const renames = ['a', 'b'].map((name, index) =>
            through(index).change(name, { newName: 'c' }),
          )
          const outcomes = await Promise.all(renames.map(outcomeOf))
          expect(outcomes.sort()).toEqual(['file_exists', 'ok'])
          expect(await account.usage()).toMatchObject({ used: 3, fileCount: 2 })
          await account.remove('c')
        }
        await expectSound()
      })

      it('lets the later of two files that are renamed to one name replace the earlier', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          await Promise.all([account.put('a', 1), account.put('b', 2)])
          const change = { newName: 'c', overwrite: true }
          await Promise.all(['a', 'b'].map((name, index) => through(index).change(name, change)))
          expect(await names()).toEqual(['c'])
          expect(await account.usage()).toMatchObject({
            used: await account.size('c'),
            fileCount: 1,
          })
        }
        await expectSound()
      })

      it('a -> b and b -> a at once end as one after the other would', async () => {
        for (let round = 0; round < ROUNDS; round++) {
          for (const name of await names()) await account.remove(name)
          await Promise.all([account.put('a', 1), account.put('b', 2)])
          const ab = through(round).change('a', { newName: 'b', overwrite: true })
          const ba = through(round + 1).change('b', { newName: 'a', overwrite: true })
          const outcomes = await Promise.all([ab, ba].map(outcomeOf))
          // The first takes the other's file away and its own to that name, from where the second brings it back.
          expect(outcomes).toEqual(['ok', 'ok'])
          const [left, ...others] = await account.list()
          expect(others).toEqual([])
          expect([
            { name: 'a', size: 1 },
            { name: 'b', size: 2 },
          ]).toContainEqual({
            name: left?.name,
            size: left?.size,
          })
        }
        await expectSound()
      })

      it('commits one of two uploads that demand the same version', async () => {
        let { file } = await account.put('a', 10)
        for (let round = 0; round < ROUNDS; round++) {
          const precondition = { ifMatch: [file.version] }
          const works = [20, 30].map(async (size, index) => {
            const writer = through(index + round)
            const version = await writer.begin('a', size, { precondition })
            return await writer.commit(version, size, { precondition }).catch(async (error) => {
              await writer.abort(version)
              throw error
            })
          })
          const settled = await Promise.allSettled(works)
          const won = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
          const lost = settled.flatMap((each) =>
            each.status === 'rejected' ? [each.reason as unknown] : [],
          )
          expect(won).toHaveLength(1)
          expect(lost).toMatchObject([{ code: 'precondition_failed' }])
          file = won[0]?.file ?? file
          expect(await harness.ledger.findFile({ ...file, audience: 'owner' })).toEqual(file)
        }
        expect(await account.usage()).toMatchObject({ used: file.size, reserved: 0, fileCount: 1 })
        await expectSound()
      })

      it('creates a file once when many demand that there is none', async () => {
        const precondition = { ifNoneMatch: '*' } as const
        const versions = await Promise.all(
          Array.from({ length: 8 }, (_, index) => through(index).begin('a', 5, { precondition })),
        )
        const commits = versions.map((version, index) =>
          through(index).commit(version, 5, { precondition }),
        )
        const outcomes = await Promise.all(commits.map(outcomeOf))
        expect(count(outcomes, 'ok')).toBe(1)
        expect(count(outcomes, 'precondition_failed')).toBe(7)
        expect(await account.usage()).toMatchObject({ used: 5, reserved: 35, fileCount: 1 })
        await expectSound()
      })

      it('D10 a delete and the commit of an overwrite end as one after the other would', async () => {
        const ends = new Set<string>()
        for (let round = 0; round < ROUNDS; round++) {
          await account.put('a', 60)
          const version = await account.begin('a', 80)
          const outcomes = await race(round, {
            one: () => outcomeOf(through(round).commit(version, 80)),
            another: () => outcomeOf(through(round + 1).remove('a')),
          })
          expect(outcomes).toEqual(['ok', 'ok'])
          const size = await account.size('a')
          ends.add(String(size))
          expect([80, undefined]).toContain(size)
          expect(await account.usage()).toMatchObject({ used: size ?? 0, reserved: 0 })
        }
        expect(ends.size).toBe(2)
        await expectSound()
      })

      it('keeps the sums and the objects when all kinds of writes of few names run at once', async () => {
        const works = Array.from({ length: 60 }, async (_, index) => {
          const [mine, name] = [through(index), `f${index % 4}`]
          const newName = `f${(index * 7 + 1) % 5}`
          if (index % 5 === 0) return await mine.remove(name)
          if (index % 5 === 1) return await mine.change(name, { newName, overwrite: index % 2 > 0 })
          const version = await mine.begin(name, index % 11)
          if (index % 10 === 9) return await mine.abort(version)
          return await through(index + 1).commit(version, index % 13)
        })
        const outcomes = await Promise.all(works.map(outcomeOf))
        const known = ['ok', 'not_found', 'file_exists', 'capacity_exceeded']
        for (const outcome of outcomes) expect(known).toContain(outcome)
        expect(count(outcomes, 'ok')).toBeGreaterThan(20)
        expect((await account.usage())?.used).toBeLessThanOrEqual(100)
        await expectSound()
      })
    })
  })
}
