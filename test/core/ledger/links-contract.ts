import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/core/auth/sha256.ts'
import type { Link } from '../../../src/core/links/link.ts'
import type { UpdateLink } from '../../../src/core/links/link-ledger.ts'
import { type Account, count, type LedgerHarness, openAccount, outcomeOf } from './fixture.ts'
import { newLink } from './new-link.ts'
import { type Resumables, resumablesOf } from './resumable/fixture.ts'

const NONE = { maxBytes: undefined, maxFiles: undefined }

/** What changes of links, and what drop links receive. Each user has a capacity of 100 bytes. */
export function ledgerLinksContract(name: string, open: () => Promise<LedgerHarness>): void {
  describe(`links on ${name}`, () => {
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
    })

    const add = async (options?: Parameters<typeof newLink>[1]): Promise<Link> =>
      await harness.ledger.addLink(newLink(account, options))
    const update = (
      { linkId }: Pick<Link, 'linkId'>,
      change: Partial<UpdateLink>,
      ledger = harness.ledger,
    ) => {
      const { userId, userCreatedAt } = account
      const named = { userId, userCreatedAt, linkId, tokenId: undefined }
      return ledger.updateLink({ ...named, permitted: NONE, ...change })
    }
    const found = async (secret: string) =>
      (await harness.other.findLink(sha256(secret), { evenUsedUp: true }))?.link

    it('keep what is not named, and change what is', async () => {
      const link = await add({ terms: { maxUses: 3, passwordHash: 'hash', maxBytes: 5 } })
      expect(await update(link, {})).toEqual(link)
      const changes = { label: 'new', maxUses: null, passwordHash: null }
      const changed = await update(link, { ...changes, limits: { maxBytes: 7, maxFiles: 2 } })
      const after = { ...link, label: 'new', maxUses: undefined, passwordHash: undefined }
      expect(changed).toEqual({ ...after, maxBytes: 7, maxFiles: 2 })
      expect(await found(link.linkId)).toEqual(changed)
      const removed = await update(link, { limits: { maxBytes: null } })
      expect(removed).toEqual({ ...changed, maxBytes: undefined })
    })

    it('are changed by the token that has made them alone, if one is named', async () => {
      const link = await add()
      const others = { tokenId: 'other', label: 'new' }
      expect(await outcomeOf(update(link, others))).toBe('not_found')
      expect(await update(link, { ...others, tokenId: 'jwt' })).toMatchObject({ label: 'new' })
      const { userId, userCreatedAt } = await openAccount(harness)
      expect(await outcomeOf(update(link, { userId, userCreatedAt }))).toBe('not_found')
      const gone = { userCreatedAt: account.userCreatedAt + 1 }
      expect(await outcomeOf(update(link, gone))).toBe('access_token_invalid')
    })

    it('end when they are told, but not in the past, nor after their maker, nor beyond the longest life', async () => {
      const now = harness.now()
      const link = await add()
      expect(await update(link, { expiresAt: now + 1 })).toMatchObject({ expiresAt: now + 1 })
      expect(await outcomeOf(update(link, { expiresAt: now }))).toBe('invalid_parameter')
      const bounded = { maxLifeMs: 1000 }
      const late = { ...bounded, expiresAt: now + 1001 }
      expect(await outcomeOf(update(link, late))).toBe('invalid_parameter')
      expect(await update(link, { ...bounded, expiresAt: null })).toHaveProperty(
        'expiresAt',
        now + 1000,
      )
      expect(await update(link, { expiresAt: null })).toHaveProperty('expiresAt', undefined)
      const short = await add({ createdBy: { isScoped: true, leftMs: 500 } })
      expect(short.expiresAt).toBe(now + 500)
      const beyond = update(short, { expiresAt: now + 501 })
      await expect(beyond).rejects.toMatchObject({
        code: 'scope_insufficient',
        facts: { required: 'expires_at' },
      })
      await update(short, { expiresAt: now + 5 })
      expect(await update(short, { expiresAt: null })).toHaveProperty('expiresAt', now + 500)
      await harness.advance(500)
      expect(await found(short.linkId)).toBeUndefined()
    })

    it('are found by a new secret alone', async () => {
      const link = await add()
      const renewed = await update(link, { sha256: sha256('new') })
      expect(renewed).toEqual(link)
      expect(await found(link.linkId)).toBeUndefined()
      expect(await found('new')).toEqual(link)
    })

    it('take no limits of drops if they give files', async () => {
      const link = await add({ terms: { kind: 'download' } })
      for (const limits of [{ maxBytes: 1 }, { maxFiles: null }])
        expect(await outcomeOf(update(link, { limits }))).toBe('invalid_parameter')
      const most = { permitted: { maxBytes: 5, maxFiles: 6 } }
      const drop = await add()
      expect(await outcomeOf(update(drop, { ...most, limits: { maxBytes: 6 } }))).toBe(
        'invalid_parameter',
      )
      const asked = { ...most, limits: { maxBytes: null, maxFiles: 5 } }
      expect(await update(drop, asked)).toMatchObject({ maxBytes: 5, maxFiles: 5 })
    })

    describe('with limits of drops', () => {
      const dropTo = async (
        to: Account,
        { linkId, name, size }: { linkId: string; name: string; size: number },
      ) => {
        const by = { linkId, credential: linkId }
        return await to.commit(await to.begin(name, size, by), size, by)
      }
      const drop = ({ linkId }: Pick<Link, 'linkId'>, name: string, size: number) =>
        dropTo(account, { linkId, name, size })

      it('receive exactly so many bytes, whatever becomes of the files', async () => {
        const link = await add({ terms: { maxBytes: 10 } })
        expect(await outcomeOf(drop(link, 'a', 11))).toBe('link_limit_exceeded')
        await drop(link, 'a', 6)
        expect(await outcomeOf(drop(link, 'b', 5))).toBe('link_limit_exceeded')
        await account.remove('a')
        expect(await outcomeOf(drop(link, 'b', 5))).toBe('link_limit_exceeded')
        await drop(link, 'b', 4)
        await drop(link, 'empty', 0)
        expect(await found(link.linkId)).toMatchObject({ receivedBytes: 10, uses: 3 })
      })

      it('receive exactly so many files, those on their way included', async () => {
        const link = await add({ terms: { maxFiles: 3 } })
        await drop(link, 'a', 0)
        const { linkId } = link
        const begun = await account.begin('b', 1, { linkId })
        const created = await uploads.create('c', undefined, { linkId, credential: linkId })
        expect(await outcomeOf(drop(link, 'd', 0))).toBe('link_limit_exceeded')
        expect(await outcomeOf(uploads.create('d', 0, { linkId }))).toBe('link_limit_exceeded')
        await account.commit(begun, 1, { linkId })
        expect(await outcomeOf(drop(link, 'd', 0))).toBe('link_limit_exceeded')
        await account.abort(created.version)
        await drop(link, 'd', 0)
        expect(await outcomeOf(drop(link, 'e', 0))).toBe('link_limit_exceeded')
      })

      it('leave an upload the bytes that have arrived, and none that it only announces', async () => {
        const link = await add({ terms: { maxBytes: 50 } })
        const by = { linkId: link.linkId, credential: link.linkId }
        const upload = await uploads.create('film', 50, by)
        expect(await outcomeOf(uploads.create('long', 51, by))).toBe('link_limit_exceeded')
        await drop(link, 'note', 5)
        expect(await outcomeOf(uploads.prepare(upload, { bytes: 46 }))).toBe('link_limit_exceeded')
        await uploads.prepare(upload, { bytes: 45, reserved: 30 })
        expect(await outcomeOf(drop(link, 'other', 16))).toBe('link_limit_exceeded')
        await drop(link, 'other', 15)
        expect(await outcomeOf(uploads.prepare(upload, { bytes: 31 }))).toBe('link_limit_exceeded')
        const form = await account.begin('form', 0, by)
        expect(await outcomeOf(account.extend(form, 1, by))).toBe('link_limit_exceeded')
        await account.abort(upload.version)
        await account.extend(form, 30, by)
        expect(await outcomeOf(drop(link, 'more', 1))).toBe('link_limit_exceeded')
        await account.commit(form, 30, by)
        expect(await found(link.linkId)).toMatchObject({ receivedBytes: 50 })
      })

      it('count every byte of an upload, also those in place of an expired file', async () => {
        const link = await add({ terms: { maxBytes: 50 } })
        const by = { linkId: link.linkId, credential: link.linkId }
        await account.put('old', 20)
        await harness.expireFiles(account.userId, 'old')
        await uploads.prepare(await uploads.create('old', 30, by), { bytes: 30 })
        expect(await outcomeOf(drop(link, 'other', 21))).toBe('link_limit_exceeded')
        await drop(link, 'other', 20)
      })

      it('hold for uploads that have begun before they were lowered', async () => {
        const link = await add({ terms: { maxBytes: 80 } })
        const by = { linkId: link.linkId, credential: link.linkId }
        const [first, second] = [await account.begin('a', 0, by), await account.begin('b', 0, by)]
        for (const version of [first, second]) await account.extend(version, 40, by)
        await update(link, { limits: { maxBytes: 40 } })
        await account.commit(first, 40, by)
        expect(await outcomeOf(account.commit(second, 40, by))).toBe('link_limit_exceeded')
        await update(link, { limits: { maxBytes: 80 } })
        await account.commit(second, 40, by)
        await update(link, { limits: { maxFiles: 1 } })
        expect(await outcomeOf(drop(link, 'c', 0))).toBe('link_limit_exceeded')
      })

      it('receive no more from any number of drops on two instances', async () => {
        const [sized, counted] = [
          await add({ terms: { maxBytes: 35 } }),
          await add({ terms: { maxFiles: 7 } }),
        ]
        const twin = account.through(harness.other)
        const elsewhere = resumablesOf(harness.other, account)
        const drops = Array.from({ length: 40 }, async (_, at) => {
          const isHere = at % 2 === 0
          const { linkId } = at % 4 > 1 ? sized : counted
          const by = { linkId, credential: linkId }
          if (at % 3 === 0) {
            const resumables = isHere ? uploads : elsewhere
            const upload = await resumables.create(`f${at}`, 3, by)
            await resumables.prepare(upload, { bytes: 3 })
            await (isHere ? account : twin).commit(upload.version, 3, by)
          } else await dropTo(isHere ? account : twin, { linkId, name: `f${at}`, size: 3 })
        })
        const outcomes = await Promise.all(drops.map(outcomeOf))
        const [ofSized, ofCounted] = [
          outcomes.filter((_, at) => at % 4 > 1),
          outcomes.filter((_, at) => at % 4 < 2),
        ]
        expect(new Set(outcomes)).toEqual(new Set(['ok', 'link_limit_exceeded']))
        const { receivedBytes = 0 } = (await found(sized.linkId)) ?? {}
        expect(receivedBytes).toBe(3 * count(ofSized, 'ok'))
        expect(receivedBytes).toBeLessThanOrEqual(35)
        expect(receivedBytes).toBeGreaterThan(0)
        expect((await found(counted.linkId))?.uses).toBe(count(ofCounted, 'ok'))
        expect(count(ofCounted, 'ok')).toBeLessThanOrEqual(7)
        expect(await account.usage()).toMatchObject(await harness.audit(account.userId))
      })

      it('are not exceeded if they are lowered while drops are on their way', async () => {
        const twin = account.through(harness.other)
        for (let round = 0; round < 8; round += 1) {
          const link = await add({ terms: { maxBytes: 8 } })
          const by = { linkId: link.linkId, credential: link.linkId }
          const versions = await Promise.all(
            [0, 1].map((at) => account.begin(`r${round}-${at}`, 4, by)),
          )
          const [, ...outcomes] = await Promise.all([
            update(link, { limits: { maxBytes: 4 } }, harness.other),
            ...versions.map((version, at) =>
              outcomeOf((at ? twin : account).commit(version, 4, by)),
            ),
          ])
          const after = await found(link.linkId)
          expect(after?.receivedBytes).toBe(4 * count(outcomes, 'ok'))
          expect(await outcomeOf(drop(link, `late${round}`, 1))).toBe('link_limit_exceeded')
        }
      })
    })
  })
}
