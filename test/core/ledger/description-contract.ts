import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseMediaType } from '../../../src/core/files/media-type.ts'
import {
  MAX_METADATA_BYTES,
  type Metadata,
  NO_METADATA,
  parseMetadata,
} from '../../../src/core/files/metadata.ts'
import type { LedgerOptions } from '../../../src/database/ledger/session.ts'
import { type Account, LONG_MS, type LedgerHarness, openAccount, outcomeOf } from './fixture.ts'

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
      const { file } = await account.put('a', 1, { metadata: metadataOf(large) })
      const more = account.change('a', { newName: 'b', mediaType: PNG, metadata: { y: '' } })
      expect(await outcomeOf(more)).toBe('invalid_parameter')
      expect(await account.list()).toEqual([file])
    })
  })
}
