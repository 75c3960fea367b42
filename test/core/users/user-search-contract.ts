import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseUserId, parseUserIdPrefix } from '../../../src/core/users/user-id.ts'
import type { FoundUser, SearchPosition } from '../../../src/core/users/user-search.ts'
import { grantOf, type LedgerHarness, type OpenHarness } from '../ledger/fixture.ts'

/** The labels of the devices of each user, by id. */
const USERS: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  'find-10': {},
  'find-Anna': { 'cam-1': 'Front door', 'cam-2': 'FRONT yard', phone: undefined },
  'find-anna-2': { 'cam-9': 'Haust\u00fcr', x: 'Front' },
  'find-bob': { 'front-cam': 'Garage', tablet: 'HAUSTU\u0308R' },
  'find-front': { 'cam-1': 'Front door' },
  'find-none': { a: '', b: 'aa' },
  'gone-front': { 'cam-1': 'Front door' },
}

/** The rules of the port `UserSearchLedger`. */
export function userSearchContract(name: string, open: OpenHarness): void {
  describe(`a search for users on ${name}`, () => {
    let harness: LedgerHarness
    beforeAll(async () => {
      harness = await open()
      for (const [id, devices] of Object.entries(USERS)) {
        const userId = parseUserId(id)
        await harness.users.createUser(userId)
        await harness.users.putGrant({ ...grantOf(userId, 'front'), label: 'front' })
        for (const [reference, label] of Object.entries(devices)) {
          const device = { ...grantOf(userId, reference), source: 'device', bytes: 1, label }
          await harness.users.putGrant(device)
        }
      }
    })
    afterAll(() => harness.close())

    interface Walk {
      readonly contains: string
      readonly prefix?: string
      readonly limit?: number
      readonly maxScanned?: number
    }

    /** All pages. */
    async function search({ contains, prefix = 'find-', limit = 10, maxScanned = 100 }: Walk) {
      const found: FoundUser[] = []
      let after: SearchPosition | undefined
      do {
        const which = { prefix: parseUserIdPrefix(prefix), contains, after, limit, maxScanned }
        const { users, next } = await harness.ledger.searchUsers(which)
        expect(users.length).toBeLessThanOrEqual(limit)
        expect(next).not.toEqual(after ?? 'none')
        found.push(...users)
        after = next
      } while (after !== undefined)
      return found
    }

    const matchesOf = (found: readonly FoundUser[]) =>
      found.map(({ account, device }) => [account.user.userId, device?.deviceId])

    it.each([
      [
        'front',
        [
          ['find-Anna', 'cam-1'],
          ['find-anna-2', 'x'],
          ['find-bob', 'front-cam'],
          ['find-front', undefined],
        ],
      ],
      [
        'ANNA',
        [
          ['find-Anna', undefined],
          ['find-anna-2', undefined],
        ],
      ],
      [
        'haust\u00fcR',
        [
          ['find-anna-2', 'cam-9'],
          ['find-bob', 'tablet'],
        ],
      ],
      [
        't d',
        [
          ['find-Anna', 'cam-1'],
          ['find-front', 'cam-1'],
        ],
      ],
      ['am-9', [['find-anna-2', 'cam-9']]],
      ['10', [['find-10', undefined]]],
      ['%', []],
    ])('%s finds parts of ids, devices and labels, in any case', async (contains, expected) => {
      expect(matchesOf(await search({ contains }))).toEqual(expected)
    })

    it('finds users of all ids without a prefix, with their figures and the label', async () => {
      const all = await search({ contains: 'front', prefix: '' })
      expect(matchesOf(all)).toContainEqual(['gone-front', undefined])
      const [anna] = all
      const account = await harness.ledger.findAccount(parseUserId('find-Anna'))
      expect(anna).toEqual({ account, device: { deviceId: 'cam-1', label: 'Front door' } })
      const [bob] = await search({ contains: 'front-cam' })
      expect(bob?.device).toEqual({ deviceId: 'front-cam', label: 'Garage' })
    })

    it('finds the same in pages of any size, however much a page may read (property)', async () => {
      const some = fc.record({
        contains: fc.constantFrom('a', 'front', 'cam', 'd', 'x', '1', 'zzz'),
        prefix: fc.constantFrom('', 'find-', 'find-a', 'find-z', 'g'),
        limit: fc.integer({ min: 1, max: 4 }),
        maxScanned: fc.integer({ min: 1, max: 9 }),
      })
      await fc.assert(
        fc.asyncProperty(some, async ({ contains, prefix, ...bounds }) => {
          const whole = await search({ contains, prefix, limit: 100, maxScanned: 1000 })
          expect(await search({ contains, prefix, ...bounds })).toEqual(whole)
          expect(matchesOf(whole)).toEqual(expectedOf(contains, prefix))
        }),
        { numRuns: 60 },
      )
    })

    it('continues after a user who has gone meanwhile', async () => {
      const which = { prefix: parseUserIdPrefix('find-'), contains: 'front', maxScanned: 100 }
      const after = { userId: parseUserId('find-c'), deviceId: 'x' }
      const { users } = await harness.ledger.searchUsers({ ...which, after, limit: 10 })
      expect(matchesOf(users)).toEqual([['find-front', undefined]])
    })
  })
}

function expectedOf(contains: string, prefix: string): unknown[] {
  const has = (text: string) => text.toLowerCase().includes(contains)
  return Object.entries(USERS).flatMap(([id, devices]) => {
    if (!id.startsWith(prefix)) return []
    if (has(id)) return [[id, undefined]]
    const device = Object.entries(devices).find(([key, label = '']) => has(key) || has(label))
    return device === undefined ? [] : [[id, device[0]]]
  })
}
