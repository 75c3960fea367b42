import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

/** The last number of each group of rows: forms, names, access, capacity, connections. */
const LAST_ROWS = { A: 27, B: 13, C: 9, D: 13, H: 12 } as const

/** Rows of which no suite has a test yet. */
const AWAITED: readonly string[] = []

/** Rows that no database and no object store decides, so that they are tested once, on the embedded default. */
const ABOVE_THE_PORTS = [
  ...rows('A', [1, 4]),
  ...rows('A', [7, 27]),
  ...rows('B', [1, 4]),
  'B08',
  'B11',
  'B12',
  'C01',
  'C04',
  'C07',
  'H04',
  'H09',
]

/** What both the embedded service and that on PostgreSQL and S3 are held against, by the files that do it. */
const EMBEDDED = ['connections', 'instances', 'quota', 'reads', 'refusals', 'writes'].map(
  (name) => `embedded/${name}.test.ts`,
)
const PRODUCTION = ['admin', 'changes', 'instances', 'quota', 'reads', 'writes'].map(
  (name) => `production/${name}.integration.test.ts`,
)
const COMBINATIONS = [
  { name: 'SQLite and local files', files: [...EMBEDDED, './admin/embedded.test.ts'], except: [] },
  { name: 'PostgreSQL and S3', files: PRODUCTION, except: ABOVE_THE_PORTS },
]

const ROWS = Object.entries(LAST_ROWS).flatMap(([group, last]) => rows(group, [1, last]))

function rows(group: string, [first, last]: readonly [number, number]): readonly string[] {
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return numbers.map((number) => `${group}${String(number).padStart(2, '0')}`)
}

describe('the matrix of bad input and faults', () => {
  it.each(COMBINATIONS)(
    'has each row in the title of a test in the suites of $name',
    async ({ files, except }) => {
      const titles = (await Promise.all(files.map(titlesOfSuites))).flat()
      const named = new Set(titles.flatMap((title) => rowsOf(title)))
      expect(ROWS.filter((row) => !named.has(row) && !AWAITED.includes(row))).toEqual(except)
    },
  )

  it('awaits no row that is none', () => {
    expect(AWAITED.filter((row) => !ROWS.includes(row))).toEqual([])
  })

  it('is named by no row that is none', async () => {
    const titles = (
      await Promise.all(COMBINATIONS.flatMap(({ files }) => files).map(titlesOfSuites))
    ).flat()
    const known = titles.flatMap(rowsOf).filter((row) => row.slice(0, 1) in LAST_ROWS)
    expect(known.filter((row) => !ROWS.includes(row))).toEqual([])
  })
})

/** The texts in quotes of the suites that a test file runs, of what they call, and of the tables of rows that these import. */
async function titlesOfSuites(file: string): Promise<string[]> {
  const read = new Set<string>()
  const titles: string[] = []
  async function visit(url: URL, name: string): Promise<void> {
    if (read.has(`${url.href} ${name}`)) return
    read.add(`${url.href} ${name}`)
    const text = await readFile(url, 'utf8')
    const body = name === '' ? text : definitionOf(name, text)
    titles.push(
      ...[...body.matchAll(/(['"`])([A-Z]\d\d\b.*?)\1/g)].map(([, , title = '']) => title),
    )
    const used = new Set(body.match(/\b\w+\b/g))
    for (const [, names = '', path = ''] of text.matchAll(/import \{([^}]*)\} from '(\.[^']*)'/g)) {
      if (!/(-suites?|broken-forms)\.ts$/.test(path)) continue
      for (const imported of names.match(/\w+/g) ?? [])
        if (used.has(imported)) await visit(new URL(path, url), imported)
    }
    for (const other of used)
      if (other !== name && definitionOf(other, text) !== '') await visit(url, other)
  }
  await visit(new URL(file, import.meta.url), '')
  return titles
}

/** A function or a constant at the top of a file, with all that is in it; empty when there is none of that name. */
function definitionOf(name: string, text: string): string {
  const [first = '', ...rest] =
    new RegExp(`^(export )?(async )?(function|const) ${name}\\b[^]*`, 'm')
      .exec(text)?.[0]
      .split('\n') ?? []
  const end = rest.findIndex((line) => /^[^ )]/.test(line))
  return [first, ...rest.slice(0, end)].join('\n')
}

/** The rows that a title begins with: `A05 A06 at any byte`, `H01: the client goes away`. */
function rowsOf(title: string): string[] {
  const [rows = ''] = /^([A-Z]\d\d[:,]?( |$))+/.exec(`${title} `) ?? []
  return rows.match(/[A-Z]\d\d/g) ?? []
}
