import { forgetChanges } from '../../support/forget-changes.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChangedFile, MAX_CHANGES } from '../../../src/core/changes/change.ts'
import type { RecordedChange } from '../../../src/core/changes/change-ledger.ts'
import { createFeed, type Feed } from '../../../src/core/changes/feed.ts'
import type { File } from '../../../src/core/files/file.ts'
import { parseMediaType } from '../../../src/core/files/media-type.ts'
import { createGrantPeriods } from '../../../src/core/quota/grant-periods.ts'
import type { UserId } from '../../../src/core/users/user-id.ts'
import type { Ledger } from '../../../src/database/ledger.ts'
import {
  type Account,
  BASE_CAPACITY,
  grantOf,
  type LedgerHarness,
  openAccount,
  outcomeOf,
} from './fixture.ts'
import { authorized } from '../../support/caller.ts'

const BEGINNING = { sequence: 0, at: 0 }
const NEARING = 'capacity.nearing'

/** What the changes of an account say, and that nothing else changes them. */
export function ledgerChangesContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`changes in the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let feed: Feed

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
      feed = createFeed({ ledger: harness.ledger })
    })

    const recorded = async (limit = 1000): Promise<readonly RecordedChange[]> => {
      const read = await harness.ledger.readChanges({ ...account, after: 0, limit })
      return read?.changes ?? []
    }
    const types = async (): Promise<string[]> => (await recorded()).map(({ type }) => type)
    const outcome = (after: { readonly sequence: number; readonly at: number }) =>
      outcomeOf(feed.read({ subject: authorized(account), after, limit: 10 }))

    it('I14 are one for each change of a file, in order, each with the time of the one before', async () => {
      const { file: first } = await account.put('a', 10, { visibility: 'public' })
      const { file: second } = await account.put('a', 20, {
        mediaType: parseMediaType('image/webp'),
      })
      const shown = await account.change('a', { visibility: 'users' })
      const moved = await account.change('a', { newName: 'b', visibility: 'private' })
      const { file: other } = await account.put('c', 1)
      await account.change('b', { newName: 'c', overwrite: true })
      await account.remove('c')
      const changes = await recorded()
      expect(changes.map(({ type, ...change }) => [type, 'file' in change && change.file])).toEqual(
        [
          ['file.created', told(first)],
          ['file.replaced', told(second)],
          ['file.updated', told(shown)],
          ['file.renamed', told(moved)],
          ['file.created', told(other)],
          ['file.deleted', told(other)],
          ['file.renamed', { ...told(moved), name: 'c' }],
          ['file.deleted', { ...told(moved), name: 'c' }],
        ],
      )
      expect(changes.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      expect(changes[3]).toMatchObject({ previousName: 'a' })
      expect(changes[6]).toMatchObject({ previousName: 'b' })
      const times = changes.map(({ at }) => at)
      expect(changes.map(({ previousAt }) => previousAt)).toEqual([0, ...times.slice(0, -1)])
      expect(Math.abs((times[0] ?? 0) - harness.now())).toBeLessThan(5_000)
    })

    it('I14 are none for what is refused, or changes nothing that is told', async () => {
      await account.put('a', 10)
      await account.change('a', { visibility: 'private' })
      await account.change('a', { newName: 'a' })
      const refused = [
        () => account.put('a', BASE_CAPACITY + 1),
        () => account.put('a', 1, { precondition: { ifNoneMatch: '*' } }),
        () => account.remove('b'),
        () => account.remove('a', { precondition: { ifMatch: ['other'] } }),
        () => account.change('b', { newName: 'c' }),
      ]
      for (const each of refused) expect(await outcomeOf(each())).not.toBe('ok')
      await account.abort(await account.begin('c', 1))
      await harness.users.setUserStatus(account.userId, 'suspended')
      expect(await outcomeOf(account.remove('a'))).toBe('user_suspended')
      await harness.users.setUserStatus(account.userId, 'active')
      expect(await types()).toEqual(['file.created'])
    })

    it('I14 are one for a commit that is repeated', async () => {
      const version = await account.begin('a', 1)
      await account.commit(version, 1)
      await account.commit(version, 1)
      expect(await types()).toEqual(['file.created'])
    })

    it('say each state of the capacity once, with the figures of that moment', async () => {
      await account.put('a', 89)
      await account.put('b', 1)
      await account.put('b', 2)
      await account.put('c', 8)
      await account.grant('more', 1000)
      await harness.users.revokeGrant(grantOf(account.userId, 'more'))
      await account.remove('c')
      await account.remove('a')
      const states = (await recorded()).filter((change) => !('file' in change))
      expect(states).toMatchObject([
        { type: 'capacity.nearing', used: 90, capacity: 100 },
        { type: 'capacity.critical', used: 99, capacity: 100 },
        { type: 'capacity.normal', used: 99, capacity: 1100 },
        { type: 'capacity.critical', used: 99, capacity: 100 },
        { type: 'capacity.nearing', used: 91, capacity: 100 },
        { type: 'capacity.normal', used: 2, capacity: 100 },
      ])
      expect((await recorded()).map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 12 }, (_, index) => index + 1),
      )
    })

    it('say that a grant has begun or ended, within a call that looks for it', async () => {
      await account.put('a', 95)
      const period = { startsAt: harness.now() + 1_000, endsAt: harness.now() + 3_000 }
      await harness.users.putGrant({ ...grantOf(account.userId, 'trial'), bytes: 500, ...period })
      const periods = createGrantPeriods(harness.ledger)
      const { signal } = new AbortController()
      for (let looks = 0; looks < 3; looks += 1) {
        await periods.note(signal)
        await periods.note(signal)
        await harness.advance(1_500)
      }
      expect(await types()).toEqual([
        'file.created',
        'capacity.nearing',
        'capacity.normal',
        'capacity.nearing',
      ])
    })

    it('say so also where no state was recorded, and after the clock was ahead', async () => {
      await account.put('a', 95)
      await account.grant('kept', 100)
      const endsAt = harness.now() + 1_000
      await harness.users.putGrant({ ...grantOf(account.userId, 'trial'), bytes: 500, endsAt })
      await harness.users.revokeGrant(grantOf(account.userId, 'kept'))
      await harness.forgetState(account.userId)
      await harness.ledger.advanceGrantClock(harness.now() + 3_600_000)
      await harness.advance(1_500)
      await createGrantPeriods(harness.ledger).note(new AbortController().signal)
      expect((await types()).at(-1)).toBe('capacity.nearing')
    })

    it('tell of grants that end together, however many, and of others when one user fails', async () => {
      const users = await Promise.all(Array.from({ length: 120 }, () => openAccount(harness)))
      for (const user of users) await user.put('a', 95)
      const endsAt = harness.now() + 3_000
      const grant = { bytes: 500, endsAt }
      await Promise.all(
        users.map(({ userId }) =>
          harness.users.putGrant({ ...grantOf(userId, 'trial'), ...grant }),
        ),
      )
      await harness.advance(3_500)
      const [failing] = users
      const noteCapacity: Ledger['noteCapacity'] = async (user) => {
        if (user.userId === failing?.userId) throw new Error('its row is locked')
        await harness.ledger.noteCapacity(user)
      }
      const { signal } = new AbortController()
      const periods = createGrantPeriods({ ...harness.ledger, noteCapacity })
      await expect(periods.note(signal)).rejects.toThrow('its row is locked')
      const states = async () =>
        await Promise.all(
          users.map(async (user) => {
            const read = await harness.ledger.readChanges({ ...user, after: 3, limit: 9 })
            return read?.changes.map(({ type }) => type)
          }),
        )
      expect(await states()).toEqual(users.map((user) => (user === failing ? [] : [NEARING])))
      await createGrantPeriods(harness.ledger).note(signal)
      expect(await states()).toEqual(users.map(() => [NEARING]))
    })

    it('are read from a position on, by pages, and by their user alone', async () => {
      for (const file of ['a', 'b', 'c']) await account.put(file, 1)
      const [first, second] = await feed.read({
        subject: authorized(account),
        after: BEGINNING,
        limit: 2,
      })
      expect([first?.sequence, second?.sequence]).toEqual([1, 2])
      const after = second ?? BEGINNING
      const rest = await feed.read({ subject: authorized(account), after, limit: 2 })
      expect(rest.map(({ sequence }) => sequence)).toEqual([3])
      expect(await feed.latest(authorized(account))).toMatchObject({ sequence: 3, at: rest[0]?.at })
      const other = await openAccount(harness)
      expect(await feed.latest(authorized(other))).toEqual(BEGINNING)
      const former = { ...account, userCreatedAt: account.userCreatedAt - 1 }
      expect(await outcomeOf(feed.latest(authorized(former)))).toBe('access_token_invalid')
      await harness.users.setUserStatus(account.userId, 'suspended')
      expect(await outcome(BEGINNING)).toBe('user_suspended')
    })

    it('are no longer found by a cursor of another history', async () => {
      await account.put('a', 1)
      const latest = await feed.latest(authorized(account))
      expect(await outcome(latest)).toBe('ok')
      expect(await outcome({ ...latest, at: latest.at - 1 })).toBe('cursor_expired')
      expect(await outcome({ ...latest, sequence: 2 })).toBe('cursor_expired')
      await account.put('b', 1)
      expect(await outcome({ ...latest, at: latest.at + 1 })).toBe('cursor_expired')
      expect(await outcome({ sequence: 0, at: latest.at })).toBe('cursor_expired')
    })

    it('end with their lifetime, but the newest position stays a cursor', async () => {
      await account.put('a', 1)
      const first = await feed.latest(authorized(account))
      await account.put('b', 1)
      const latest = await feed.latest(authorized(account))
      await harness.advance(2_000)
      await forgetChanges(harness.ledger, { lifetimeMs: 1_000, limit: 1 })
      expect(await recorded()).toEqual([])
      expect(await outcome(BEGINNING)).toBe('cursor_expired')
      expect(await outcome(first)).toBe('cursor_expired')
      expect(await feed.read({ subject: authorized(account), after: latest, limit: 10 })).toEqual(
        [],
      )
      await account.put('c', 1)
      expect(
        await feed.read({ subject: authorized(account), after: latest, limit: 10 }),
      ).toMatchObject([{ sequence: 3, type: 'file.created' }])
    })

    it('end for one page of users after the other', async () => {
      const accounts: Account[] = []
      for (let count = 0; count < 101; count += 1) {
        const each = await openAccount(harness)
        await each.put('a', 1)
        accounts.push(each)
      }
      await account.put('a', 1)
      await account.put('b', 1)
      await harness.advance(2_000)
      await account.put('c', 1)
      const sum = { forgotten: 0, pages: 0 }
      let after: UserId | undefined
      do {
        const page = { after, lifetimeMs: 1_900, limit: 70 }
        const { forgotten, last } = await harness.ledger.forgetChanges(page)
        expect(forgotten).toBeLessThanOrEqual(70)
        sum.forgotten += forgotten
        sum.pages += 1
        after = last
      } while (after !== undefined)
      expect(sum.forgotten).toBeGreaterThanOrEqual(103)
      expect(sum.pages).toBeGreaterThanOrEqual(3)
      expect(await recorded()).toMatchObject([{ sequence: 3 }])
      const left = await Promise.all(
        accounts.map((each) =>
          feed.read({ subject: authorized(each), after: BEGINNING, limit: 1 }).catch(() => 'gone'),
        ),
      )
      expect(new Set(left)).toEqual(new Set(['gone']))
    })

    it('are counted for many users at once', async () => {
      const other = await openAccount(harness)
      await account.put('a', 1)
      const found = await harness.ledger.latestSequences([account.userId, other.userId])
      expect(found).toEqual(
        new Map([
          [account.userId, 1],
          [other.userId, 0],
        ]),
      )
    })

    it('go with their user', async () => {
      await account.put('a', 1)
      await harness.users.deleteUser(account.userId)
      expect(await harness.ledger.readChanges({ ...account, after: 0, limit: 1 })).toBe(undefined)
      const purge = { userId: account.userId, limit: 1 }
      while ((await harness.ledger.purgeDeletedUsers(purge)) > 0);
      expect(await harness.changeRows(account.userId)).toBe(0)
    })

    it('are limited in number', async () => {
      await account.put('a', 1)
      await harness.countChanges(account.userId, MAX_CHANGES + 600)
      for (let changes = 0; changes < 600; changes += 1) {
        await account.change('a', { visibility: changes % 2 === 0 ? 'public' : 'private' })
      }
      const kept = await recorded()
      expect(kept.map(({ type }) => type)).not.toContain('file.created')
      expect(kept).toHaveLength(600)
    })
  })
}

function told(file: File): ChangedFile {
  const { name, version, size, sha256, visibility, mediaType, deviceId } = file
  return { name, version, size, sha256, visibility, mediaType, deviceId }
}
