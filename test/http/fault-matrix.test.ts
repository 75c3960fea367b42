import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

/** The last number of each group of rows: forms, names, access, capacity, connections. */
const LAST_ROWS = { A: 27, B: 13, C: 9, D: 13, H: 12 } as const

/** Rows of which no suite has a test yet. */
const AWAITED: readonly string[] = []

/** What both the embedded service and that on PostgreSQL and S3 are held against, by the files that do it. */
const COMBINATIONS = [
  ['embedded.test.ts', '../admin/embedded.test.ts'],
  ['production.integration.test.ts'],
]

const ROWS = Object.entries(LAST_ROWS).flatMap(([group, last]) =>
  Array.from({ length: last }, (_, at) => `${group}${String(at + 1).padStart(2, '0')}`),
)

describe('the matrix of bad input and faults', () => {
  it.each(COMBINATIONS)(
    'has each row in the title of a test in the suites of %s',
    async (...files) => {
      const titles = (await Promise.all(files.map(titlesOfSuites))).flat()
      const named = new Set(titles.flatMap((title) => rowsOf(title)))
      expect(ROWS.filter((row) => !named.has(row) && !AWAITED.includes(row))).toEqual([])
    },
  )

  it('awaits no row that is none', () => {
    expect(AWAITED.filter((row) => !ROWS.includes(row))).toEqual([])
  })

  it('is named by no row that is none', async () => {
    const titles = (await Promise.all(COMBINATIONS.flat().map(titlesOfSuites))).flat()
    const known = titles.flatMap(rowsOf).filter((row) => row.slice(0, 1) in LAST_ROWS)
    expect(known.filter((row) => !ROWS.includes(row))).toEqual([])
  })
})

/** The texts in quotes of the suites that a test file runs, and of the tables of rows that those import. */
async function titlesOfSuites(file: string): Promise<string[]> {
  const read = new Set<string>()
  const titles: string[] = []
  async function visit(url: URL): Promise<void> {
    if (read.has(url.href)) return
    read.add(url.href)
    const text = await readFile(url, 'utf8')
    titles.push(
      ...[...text.matchAll(/(['"`])([A-Z]\d\d\b.*?)\1/g)].map(([, , title = '']) => title),
    )
    const imports = [...text.matchAll(/ from '(\.[^']*)'/g)].map(([, path = '']) => path)
    for (const path of imports)
      if (/(-suites?|broken-forms)\.ts$/.test(path)) await visit(new URL(path, url))
  }
  await visit(new URL(file, import.meta.url))
  return titles
}

/** The rows that a title begins with: `A05 A06 at any byte`, `H01: the client goes away`. */
function rowsOf(title: string): string[] {
  const [rows = ''] = /^([A-Z]\d\d[:,]?( |$))+/.exec(`${title} `) ?? []
  return rows.match(/[A-Z]\d\d/g) ?? []
}
