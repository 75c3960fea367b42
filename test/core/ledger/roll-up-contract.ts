import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { File } from '../../../src/core/files/file.ts'
import { parseFileNamePrefix } from '../../../src/core/files/file-name.ts'
import { FILE_ORDERS, type FilePosition, positionOf } from '../../../src/core/files/listing.ts'
import { type Account, type LedgerHarness, type Listing, openAccount } from './fixture.ts'

/** Names in folders of `-` and of a character that is two code units; some differ in case only. */
const NAMES = `
  a-1 a-2 a-3 a-b-1 a-b-2 A-1 a a- - -- -a b-1 b-2 b-3 b-4 b-5 b c-1 cc-1 cc c Ä-1 ä-2 ÄRGER ärger Äa
  İ-1 ΟΔΟΣ-1 οδος-2 ß-1 \u{1f600}-1 \u{1f600}-2 \u{1f600} x\u{1f600}1 x\u{1f600}2 x\u{10ffff}1 x\u{10ffff}2
  \u{10ffff}-1 \u{10ffff}-2 z.1 z.2 .- ._
`
  .trim()
  .split(/\s+/)

const PREFIXES = [
  '',
  'a',
  'a-',
  'a-b',
  'b',
  'b-',
  'Ä',
  '\u{1f600}',
  'x',
  '\u{10ffff}',
  '-',
  '.',
  'q',
]
const TEXTS = [
  'a',
  'A',
  '-',
  'ä',
  'Ä',
  'är',
  'σ',
  'ΟΣ',
  'ος',
  'i̇',
  'ss',
  '1',
  '\u{1f600}',
  'zz',
  'B-',
]
const DELIMITERS = ['-', '-', '-', 'a', '.', '\u{1f600}', '\u{10ffff}', '1']
const NAME_ORDERS = ['name', '-name'] as const

type Query = Listing & {
  readonly order: (typeof FILE_ORDERS)[number]
  readonly limit: number
  readonly maxScanned: number
}

const common = {
  prefix: fc.constantFrom(...PREFIXES),
  contains: fc.option(fc.constantFrom(...TEXTS), { nil: undefined, freq: 2 }),
  audience: fc.constantFrom('owner', 'users', 'anyone'),
  limit: fc.constantFrom(1, 2, 3, 5, 100),
  maxScanned: fc.constantFrom(1, 2, 3, 7, 2000),
} as const

const searches: fc.Arbitrary<Query> = fc.record({
  ...common,
  order: fc.constantFrom(...FILE_ORDERS),
})

/** A scope can narrow a listing further than the prefix that was asked for. */
const rollUps: fc.Arbitrary<Query> = fc
  .tuple(
    fc.record({ ...common, order: fc.constantFrom(...NAME_ORDERS) }),
    fc.constantFrom(...DELIMITERS),
    fc.nat({ max: 3 }),
  )
  .map(([query, delimiter, cut]) => {
    const asked = Array.from(query.prefix).slice(0, -cut || undefined)
    const rollUp = { delimiter, prefix: parseFileNamePrefix(asked.join('')) }
    return Object.assign(query, { rollUp })
  })

/** Listings that search for a text or roll up names, compared with a plain model. `runs` is how often. */
export function ledgerRollUpContract(
  name: string,
  open: () => Promise<LedgerHarness>,
  runs: number,
): void {
  describe(`searches and common prefixes of the ledger on ${name}`, () => {
    let harness: LedgerHarness
    let account: Account
    let files: readonly File[]

    beforeAll(async () => {
      harness = await open()
      account = await openAccount(harness)
      const put: File[] = []
      for (const [at, name] of NAMES.entries()) {
        if (at % 5 === 0) await harness.advance(2)
        const visibility = (['public', 'users', 'private', 'public'] as const)[at % 4]
        // Among the names, and alone in a folder, are some that have expired.
        const expiresInMs = at % 3 === 2 ? 1 : undefined
        const { file } = await account.put(name, at % 3, { visibility, expiresInMs })
        if (expiresInMs === undefined) put.push(file)
      }
      await account.put('gone-1', 1, { visibility: 'public', expiresInMs: 1 })
      await harness.advance(2)
      files = put
    })
    afterAll(() => harness.close())

    it('has all kinds of files', () => {
      expect(files.length).toBeGreaterThan(25)
      expect(files.length).toBeLessThan(NAMES.length - 4)
    })

    it('finds what contains a text in any case, once each, in pages of any size', async () => {
      let found = 0
      const property = fc.asyncProperty(searches, async (query) => {
        if (query.contains !== undefined) found += model(files, query).length
        expect(await readAll(account, query)).toEqual(model(files, query))
      })
      await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
      expect(found).toBeGreaterThan(0)
    })

    it('rolls up each name once, in pages of any size', async () => {
      const property = fc.asyncProperty(rollUps, async (query) => {
        expect(await readAll(account, query)).toEqual(model(files, query))
      })
      await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
    })

    it('counts the files that it rolls up and shows to no one else', async () => {
      const property = fc.asyncProperty(rollUps, async (asked) => {
        const query = { ...asked, contains: undefined, countsFolders: true }
        const { prefixes, totals = [] } = await account.page(query)
        const expected = prefixes.map((prefix) => {
          const flat = { ...query, rollUp: undefined, order: 'name' } as const
          const below = model(files, flat).filter((name) => name.startsWith(prefix))
          const sizes = below.map((name) => files.find((file) => file.name === name)?.size ?? NaN)
          return { fileCount: below.length, size: sizes.reduce((sum, size) => sum + size, 0) }
        })
        expect(totals).toMatchObject(expected)
      })
      await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
    })

    it('counts a thousand files in each of ten folders, and says so of others', async () => {
      const other = await openAccount(harness)
      const add = (prefix: string, count: number) =>
        harness.addFiles(other.userId, { prefix, count, since: 1 })
      const rollUp = { delimiter: '-', prefix: parseFileNamePrefix('') }
      const totals = async (limit = 100) =>
        (await other.page({ rollUp, limit, countsFolders: true })).totals?.map(
          (each) => each?.fileCount,
        )
      await add('a-', 1_001)
      await add('b-', 1_000)
      await add('c-', 3)
      await harness.expireFiles(other.userId, 'c-')
      await add('c-x', 1)
      expect(await totals()).toEqual([undefined, 1_000, 1])
      for (const each of Array.from('defghijkl')) await add(`${each}-`, 1_000)
      expect((await totals())?.filter((each) => each !== undefined)).toHaveLength(10)
      expect(await totals(4)).toEqual([undefined, 1_000, 1, 1_000])
    })

    it('lets only the last page be without a position', async () => {
      const rollUp = { delimiter: '-', prefix: parseFileNamePrefix('b') }
      const page = { prefix: 'b', rollUp }
      const whole = await account.page(page)
      expect(whole.prefixes).toEqual(['b-'])
      expect(whole.files.map(({ name }) => name)).toEqual(['b'])
      expect(whole.next).toBeUndefined()
      const { next } = await account.page({ ...page, order: '-name', limit: 1 })
      expect(next).toEqual({ name: 'b-', value: 0, isPrefix: true })
      const rest = await account.page({ ...page, order: '-name', limit: 1, after: next })
      expect(rest).toMatchObject({ files: [{ name: 'b' }], prefixes: [], next: undefined })
    })

    it('continues inside a folder after a file of it', async () => {
      const inFolder = files.find(({ name }) => name === 'b-2')
      const after = inFolder && positionOf(inFolder, 'name')
      const rollUp = { delimiter: '-', prefix: parseFileNamePrefix('b') }
      const { prefixes } = await account.page({ prefix: 'b', rollUp, after })
      expect(prefixes).toEqual(['b-'])
    })
  })
}

/** The entries of all pages, in the order in which the listing shows them. */
async function readAll(account: Account, query: Query): Promise<readonly string[]> {
  const shown: string[] = []
  let after: FilePosition | undefined
  // Each page makes progress, so there are no more pages than names.
  for (let pages = 0; pages <= NAMES.length + 2; pages++) {
    const { files, prefixes, next } = await account.page({ ...query, after })
    expect(files.length + prefixes.length).toBeLessThanOrEqual(query.limit)
    const names = files.map(({ name }) => name)
    shown.push(...(query.rollUp === undefined ? names : merged([...names, ...prefixes], query)))
    if (next === undefined) return shown
    expect(next).not.toEqual(after)
    after = next
  }
  throw new Error('The listing does not end.')
}

function merged(names: readonly string[], { order }: Query): readonly string[] {
  const sorted = names.toSorted(bytewise)
  return order === '-name' ? sorted.toReversed() : sorted
}

/** The rule, written the long way. */
function model(files: readonly File[], query: Query): readonly string[] {
  const { prefix = '', contains, rollUp, order, audience = 'owner' } = query
  const seen = {
    owner: ['private', 'users', 'public'],
    operator: ['private', 'users', 'public'],
    users: ['users', 'public'],
    anyone: ['public'],
  }
  const found = files.filter(({ name, visibility }) => {
    const isFound = contains === undefined || lower(name).includes(lower(contains))
    return name.startsWith(prefix) && isFound && seen[audience].includes(visibility)
  })
  const sign = order.startsWith('-') ? -1 : 1
  const sorted = found.toSorted((a, b) => {
    const byValue = positionOf(a, order).value - positionOf(b, order).value
    return sign * (byValue === 0 ? bytewise(a.name, b.name) : byValue)
  })
  const entries = sorted.map(({ name }) => entryOf(name, rollUp))
  return [...new Set(entries)]
}

function entryOf(name: string, rollUp: Query['rollUp']): string {
  if (rollUp === undefined) return name
  const rest = name.slice(rollUp.prefix.length)
  const [first = '', ...more] = rest.split(rollUp.delimiter)
  return more.length === 0 ? name : `${rollUp.prefix}${first}${rollUp.delimiter}`
}

/** Character by character, so that the end of a word is nothing special. */
function lower(text: string): string {
  return Array.from(text, (character) => (character === 'ς' ? 'σ' : character.toLowerCase()))
    .join('')
    .normalize('NFC')
}

function bytewise(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
