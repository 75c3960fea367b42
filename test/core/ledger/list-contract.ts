import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { File, Visibility } from '../../../src/core/files/file.ts'
import {
  type Audience,
  FILE_ORDERS,
  type FileOrder,
  type FilePosition,
  positionOf,
} from '../../../src/core/files/listing.ts'
import { type Account, type LedgerHarness, type Listing, openAccount } from './fixture.ts'

/**
 * Among them: UTF-16 sorts the emoji before U+FF21, UTF-8 after it; é in both normal forms; what LIKE would take for a
 * pattern.
 */
const NAMES =
  `a A ab abc b % _ a% a_ ' a'b " .a ... é e\u0301 e ~ 10 9 \u0080 \u{1f600} \u{1f600}b \uff21 \uff21b \ue000
  \uffff \ud7ff \ud7ffb \u{10ffff} \u{10ffff}b a\u{10ffff} a\u{10ffff}\u{10ffff}`
    .split(/\s+/)
    .concat('a b', '\u{10ffff}'.repeat(63))

const PREFIXES =
  `a ab abcd . .. % _ ' e é ~ \ue000 \uffff \ud7ff \u{1f600} \uff21 \u{10ffff} a\u{10ffff} a\u{10ffff}\u{10ffff}`
    .split(' ')
    .concat('', 'a ')

const AUDIENCES = ['owner', 'users', 'anyone'] as const satisfies Audience[]
const VISIBILITIES = ['private', 'users', 'public'] as const satisfies Visibility[]

/** The rules of `listFiles`. `runs` is how often the property is tried. */
export function ledgerListContract(
  name: string,
  open: () => Promise<LedgerHarness>,
  runs: number,
): void {
  describe(`listings of the ledger on ${name}`, () => {
    let harness: LedgerHarness

    beforeAll(async () => {
      harness = await open()
    })
    afterAll(() => harness.close())

    describe('of files with names of all kinds', () => {
      let account: Account
      let files: readonly File[]

      beforeAll(async () => {
        account = await openAccount(harness)
        // Neighbours, from whom nothing may come.
        for (let users = 0; users < 4; users++) {
          const visibility = 'public'
          await (await openAccount(harness)).put('a', 1, { visibility })
        }
        const put: File[] = []
        for (const [index, name] of NAMES.entries()) {
          if (index % 4 === 0) await harness.advance(2)
          const visibility = VISIBILITIES[index % 3]
          put.push((await account.put(name, (index * 5) % 4, { visibility })).file)
        }
        files = put
      })

      describe.each(AUDIENCES)('to %s', (audience) => {
        it.each(FILE_ORDERS)(
          'listings by %s are those that begin with the prefix, in order',
          async (order) => {
            for (const prefix of PREFIXES) {
              const expected = sorted(files, { audience, order, prefix })
              expect(await account.list({ audience, order, prefix })).toEqual(expected)
            }
          },
        )

        it.each(FILE_ORDERS)(
          'listings by %s come in pages that make up the whole',
          async (order) => {
            for (const prefix of ['', 'a', '\u{10ffff}']) {
              const expected = sorted(files, { audience, order, prefix })
              for (const limit of [1, 2, 3, 7, expected.length, expected.length + 1]) {
                const pages = await readPages(account, { audience, order, prefix, limit })
                expect(pages).toEqual(expected)
              }
            }
          },
        )

        it.each(FILE_ORDERS)(
          'listings by %s come in pages that look at few files, and can be short or empty',
          async (order) => {
            for (const prefix of ['', 'a', 'nothing']) {
              const expected = sorted(files, { audience, order, prefix })
              for (const maxScanned of [1, 7, NAMES.length]) {
                for (const limit of [1, 100]) {
                  const listing = { audience, order, prefix, limit, maxScanned }
                  expect(await readPages(account, listing)).toEqual(expected)
                }
              }
            }
          },
        )

        it.each(['updated_at', '-updated_at', 'size', '-size'] as const)(
          'listings by %s look at no more files than they may, and say up to which',
          async (order) => {
            const all = sorted(files, { audience, order, prefix: '' })
            for (const at of [0, 2, 6]) {
              const [before, last] = [all[at - 1], all[at + 2]]
              if (last === undefined) throw new Error('The audience sees too few files.')
              const after = before && positionOf(before, order)
              const page = await account.page({
                audience,
                order,
                after,
                prefix: 'nothing',
                maxScanned: 3,
              })
              expect(page).toEqual({ files: [], prefixes: [], next: positionOf(last, order) })
            }
            const rest = { audience, order, prefix: 'nothing', maxScanned: all.length + 1 }
            expect(await account.page(rest)).toEqual(NOTHING)
          },
        )

        it.each(FILE_ORDERS)(
          'listings by %s begin after any position, also beside the prefix',
          async (order) => {
            for (const prefix of ['', 'ab', 'b']) {
              const expected = sorted(files, { audience, order, prefix })
              for (const file of files) {
                const after = positionOf(file, order)
                const rest = expected.filter((each) => compare(order)(file, each) < 0)
                expect(await account.list({ audience, order, prefix, after })).toEqual(rest)
              }
            }
          },
        )
      })
    })

    it.each(FILE_ORDERS)(
      'listings by %s say nothing about the files of a suspended user',
      async (order) => {
        const account = await openAccount(harness)
        for (const name of ['a', 'b', 'c']) await account.put(name, 1, { visibility: 'public' })
        await harness.users.setUserStatus(account.userId, 'suspended')
        for (const audience of AUDIENCES) {
          const page = await account.page({ audience, order, prefix: 'b', maxScanned: 1 })
          expect(page).toEqual(NOTHING)
        }
      },
    )

    describe('while files come and go', () => {
      let account: Account

      beforeEach(async () => {
        account = await openAccount(harness)
      })

      it.each(FILE_ORDERS)('listings by %s go on after a file that is gone', async (order) => {
        for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
          await account.put(name, index)
          await harness.advance(2)
        }
        const files = await account.list({ order })
        const after = files[1] && positionOf(files[1], order)
        await account.remove('b')
        await account.remove('c')
        const rest = files.slice(2).filter(({ name }) => name !== 'b' && name !== 'c')
        expect(await account.list({ order, after })).toEqual(rest)
      })

      it.each(FILE_ORDERS)('listings by %s show a file that stays exactly once', async (order) => {
        const property = fc.asyncProperty(scenarios, async (scenario) => {
          account = await openAccount(harness)
          await readWhileChanging(account, { order, ...scenario })
        })
        await expect(fc.assert(property, { numRuns: runs })).resolves.toBeUndefined()
      })
    })
  })
}

const NOTHING = { files: [], prefixes: [], next: undefined }

interface Scenario {
  /** Files that stay, as sizes by their names. */
  readonly staying: readonly (readonly [string, number])[]
  readonly limit: number
  readonly prefix: string
  readonly maxScanned: number
  /** What happens to other files after each page: a new size, or a removal. */
  readonly changes: readonly (readonly [string, number | undefined])[]
}

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\uff21', '\u{1f600}'), maxLength: 3 })
const size = fc.nat({ max: 2 })
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  staying: fc
    .uniqueArray(fc.tuple(letters, size), { selector: ([name]) => name, maxLength: 8 })
    .map((files) => files.map(([name, size]) => [`${name}s`, size] as const)),
  limit: fc.integer({ min: 1, max: 3 }),
  prefix: fc.constantFrom('', 'a', '\uff21'),
  maxScanned: fc.integer({ min: 1, max: 4 }),
  changes: fc.array(
    fc.tuple(
      letters.map((name) => `${name}m`),
      fc.option(size, { nil: undefined }),
    ),
    { minLength: 1, maxLength: 12 },
  ),
})

async function readWhileChanging(
  account: Account,
  scenario: Scenario & { readonly order: FileOrder },
): Promise<void> {
  const { order, staying, limit, prefix, maxScanned, changes } = scenario
  for (const [name, size] of staying) await account.put(name, size)
  for (const [name, size = 0] of changes.slice(0, 4)) await account.put(name, size)
  let step = 0
  const shown = await readPages(account, { order, limit, prefix, maxScanned }, async () => {
    // Only so many: a reader by time of change could run after new files for ever.
    const change = step < changes.length * 2 ? changes[step++ % changes.length] : undefined
    if (change === undefined) return
    const [name, size] = change
    if (size !== undefined) await account.put(name, size)
    else if ((await account.size(name)) !== undefined) await account.remove(name)
  })
  const names = shown.map(({ name }) => name)
  for (const [name] of staying) {
    const times = name.startsWith(prefix) ? 1 : 0
    expect(names.filter((each) => each === name)).toHaveLength(times)
  }
  expect(shown).toEqual([...shown].sort(compare(order)))
  const places = shown.map((file) => JSON.stringify(positionOf(file, order)))
  expect(new Set(places).size).toBe(places.length)
}

async function readPages(
  account: Account,
  listing: Listing & { readonly order: FileOrder; readonly limit: number },
  between: () => Promise<void> = async () => {},
): Promise<File[]> {
  const shown: File[] = []
  let after: FilePosition | undefined
  for (;;) {
    const { files, next } = await account.page({ ...listing, after })
    expect(files.length).toBeLessThanOrEqual(listing.limit)
    shown.push(...files)
    // Else a page that begins where it should not would have this go on for ever.
    expect(shown.length).toBeLessThan(1000)
    if (next === undefined) return shown
    after = next
    await between()
  }
}

interface Wanted {
  readonly audience: Audience
  readonly order: FileOrder
  readonly prefix: string
}

const SEEN = {
  owner: VISIBILITIES,
  users: ['users', 'public'],
  anyone: ['public'],
} as const satisfies Record<Audience, readonly Visibility[]>

/** The rule, written the long way. */
function sorted(files: readonly File[], { audience, order, prefix }: Wanted): File[] {
  const seen: readonly Visibility[] = SEEN[audience]
  return files
    .filter(({ name, visibility }) => name.startsWith(prefix) && seen.includes(visibility))
    .sort(compare(order))
}

function compare(order: FileOrder): (a: File, b: File) => number {
  const sign = order.startsWith('-') ? -1 : 1
  return (a, b) => {
    const byValue = positionOf(a, order).value - positionOf(b, order).value
    return (
      sign * (byValue === 0 ? Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) : byValue)
    )
  }
}
