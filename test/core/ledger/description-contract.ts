import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseMediaType } from '../../../src/core/files/media-type.ts'
import {
  MAX_METADATA_BYTES,
  type Metadata,
  NO_METADATA,
  parseMetadata,
} from '../../../src/core/files/metadata.ts'
import type { LedgerOptions } from '../../../src/database/operations/session.ts'
import { resumablesOf } from './resumable/fixture.ts'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import {
  type Account,
  LONG_MS,
  type LedgerHarness,
  openAccount,
  outcomeOf,
  refusalOf,
} from './fixture.ts'

const JPEG = parseMediaType('image/jpeg')
const PNG = parseMediaType('image/png')

const metadataOf = (members: Readonly<Record<string, string>>): Metadata =>
  parseMetadata(JSON.stringify(members))

const FRONT = metadataOf({ camera: 'front', place: 'Köln' })

/** What clients say of a content: its media type and metadata. */
export function ledgerDescriptionContract(
  name: string,
  open: (options: Partial<LedgerOptions>) => Promise<LedgerHarness>,
): void {
  describe(`media types and metadata of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account

    beforeAll(async () => {
      harness = await open({ historyLifetimeMs: LONG_MS, historyShare: 50 })
    })
    afterAll(() => harness.close())
    beforeEach(async () => {
      account = await openAccount(harness)
    })

    const current = async () => {
      const [file] = await account.list()
      return { mediaType: file?.mediaType, metadata: file?.metadata }
    }
    const told = async () => {
      const read = await harness.ledger.readChanges({ ...account, after: 0, limit: 100 })
      return (read?.changes ?? []).map(({ type }) => type)
    }

    it('are those that the commit says, also when it is repeated', async () => {
      const version = await account.begin('a', 1)
      const described = { mediaType: JPEG, metadata: FRONT }
      const { file } = await account.commit(version, 1, described)
      expect(file).toMatchObject(described)
      expect((await account.commit(version, 1)).file).toEqual(file)
      expect(await account.list()).toEqual([file])
    })

    it('are the default and the old ones after an overwrite that says nothing', async () => {
      await account.put('a', 1, { mediaType: JPEG, metadata: FRONT })
      await account.put('a', 2)
      expect(await current()).toEqual({ mediaType: null, metadata: FRONT })
      await account.put('a', 3, { mediaType: PNG, metadata: metadataOf({ b: 'c' }) })
      expect(await current()).toEqual({ mediaType: PNG, metadata: '{"b":"c"}' })
      const { file } = await account.put('a', 4, { metadata: NO_METADATA })
      expect(file).toMatchObject({ mediaType: null, metadata: null })
      expect(await account.list()).toEqual([file])
    })

    it('are kept by the history, of each version its own', async () => {
      const first = await account.put('a', 1, { mediaType: JPEG, metadata: FRONT })
      await account.put('a', 2, { mediaType: PNG, metadata: NO_METADATA })
      // Versions that end in the same millisecond have no order of their own.
      await harness.advance(2)
      await account.remove('a')
      expect(await account.past()).toMatchObject([
        { mediaType: PNG, metadata: null },
        { mediaType: JPEG, metadata: FRONT },
      ])
      await account.put('a', 3, { metadata: metadataOf({ b: 'c' }) })
      const { file } = await account.restore(first.file.version, { overwrite: true })
      expect(file).toMatchObject({ mediaType: JPEG, metadata: FRONT })
      expect(await account.list()).toEqual([file])
    })

    it('change without another version, and are told only if they do', async () => {
      const { file } = await account.put('a', 1, { mediaType: JPEG, metadata: FRONT })
      await account.change('a', { mediaType: JPEG, metadata: { camera: 'front', none: null } })
      expect(await told()).toEqual(['file.created'])
      const changed = await account.change('a', { metadata: { camera: null, b: 'c' } })
      expect(changed).toEqual({
        ...file,
        metadata: metadataOf({ place: 'Köln', b: 'c' }),
        updatedAt: changed.updatedAt,
      })
      await account.change('a', { mediaType: PNG })
      expect(await current()).toEqual({ mediaType: PNG, metadata: changed.metadata })
      await account.change('a', { newName: 'b' })
      await account.change('b', { metadata: null, mediaType: null })
      expect(await current()).toEqual({ mediaType: null, metadata: null })
      const updates = ['file.updated', 'file.updated', 'file.renamed', 'file.updated']
      expect(await told()).toEqual(['file.created', ...updates])
    })

    it('change not at all if the metadata would become too large', async () => {
      const large = { large: 'x'.repeat(MAX_METADATA_BYTES - '{"large":""}'.length) }
      await account.grant('more', 2_000)
      const { file } = await account.put('a', 1, { metadata: metadataOf(large) })
      const more = account.change('a', { newName: 'b', mediaType: PNG, metadata: { y: '' } })
      expect(await outcomeOf(more)).toBe('invalid_parameter')
      expect(await account.list()).toEqual([file])
    })

    describe('count what metadata exceed 256 bytes by', () => {
      /** Metadata of so many bytes, which is more than their characters. */
      const ofBytes = (bytes: number): Metadata => {
        const rest = bytes - Buffer.byteLength('{"a":"é"}')
        return metadataOf({ a: `é${'x'.repeat(rest)}` })
      }
      const audited = async () => {
        const usage = await account.usage()
        expect(usage).toMatchObject(await harness.audit(account.userId))
        return usage?.used
      }
      const change = (bytes: number) =>
        account.change('a', { metadata: JSON.parse(ofBytes(bytes)) as Record<string, string> })

      it('every write that adds, changes, keeps, moves or ends metadata counts them', async () => {
        await account.put('a', 10, { metadata: ofBytes(256) })
        expect(await audited()).toBe(10)
        await account.put('a', 10, { metadata: ofBytes(276) })
        expect(await audited()).toBe(30)
        const { file } = await account.put('a', 20)
        expect(await audited()).toBe(40)
        await account.change('a', { newName: 'b', isKept: true })
        expect(await audited()).toBe(40)
        await account.remove('b')
        expect(await audited()).toBe(0)
        await account.restore(file.version, { name: 'a' })
        expect(await audited()).toBe(40)
        await change(306)
        expect(await audited()).toBe(70)
        await account.put('a', 20, { metadata: NO_METADATA })
        expect(await audited()).toBe(20)
      })

      it('metadata that do not fit are refused, byte by byte', async () => {
        const metadata = ofBytes(356)
        const over = { metadata: ofBytes(357) }
        expect(await outcomeOf(account.put('a', 0, over))).toBe('capacity_exceeded')
        await account.put('a', 0, { metadata })
        expect(await audited()).toBe(100)
        expect(await outcomeOf(account.put('b', 0, { metadata: ofBytes(257) }))).toBe(
          'capacity_exceeded',
        )
        expect(await outcomeOf(change(357))).toBe('capacity_exceeded')
        expect(await refusalOf(change(357))).toMatchObject({
          facts: { capacity: 100, used: 100, requested: 101, available: 0 },
        })
        await account.put('b', 0)
        await change(346)
        expect(await audited()).toBe(90)
        await change(356)
        await account.remove('a')
        expect(await audited()).toBe(0)
      })

      it('evict for them, and free what they count', async () => {
        const evict = parseFileNamePrefix('')
        await account.put('a', 10, { metadata: ofBytes(296) })
        await harness.advance(2)
        await account.put('b', 40)
        const version = await account.begin('c', 30, { evict })
        const { evicted } = await account.commit(version, 30, { evict, metadata: ofBytes(276) })
        expect(evicted).toEqual({ files: 1, bytes: 50 })
        expect(await audited()).toBe(90)
      })

      it('evict another file if the first ones leave no room for them', async () => {
        const evict = parseFileNamePrefix('')
        for (const name of ['a', 'b', 'c']) {
          await account.put(name, 30)
          await harness.advance(2)
        }
        const version = await account.begin('d', 30, { evict })
        const { evicted } = await account.commit(version, 30, { evict, metadata: ofBytes(276) })
        expect(evicted).toEqual({ files: 2, bytes: 60 })
        expect(await audited()).toBe(80)
      })
    })

    it('store no file without a capacity, not even an empty one', async () => {
      const none = await open({ baseCapacity: 0 })
      const owner = await openAccount(none)
      const evict = parseFileNamePrefix('')
      expect(await outcomeOf(owner.put('a', 0))).toBe('capacity_exceeded')
      expect(await outcomeOf(owner.begin('a', 0, { evict }))).toBe('capacity_exceeded')
      const resumable = resumablesOf(none.ledger, owner).create('a', 0)
      expect(await outcomeOf(resumable)).toBe('capacity_exceeded')
      await owner.grant('some', 1)
      const version = await owner.begin('b', 0)
      await owner.put('a', 1)
      expect(await outcomeOf(owner.commit(version, 0))).toBe('ok')
      await none.close()
    })
  })
}
