import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

/** The rows of `test/FAULTS.md`. */
const DOCUMENTED = await readMatrix()

/** The files that have each row in a title. */
const TESTED = await testsByRow()

/** Rows that a request can reach: forms, names, access, capacity, connections, and some of resumable uploads. */
const ROWS = DOCUMENTED.filter(
  (row) =>
    /^[ABCDH]/.test(row) ||
    TESTED.get(row)?.some((name) => name.startsWith('http/resumable/')) === true,
)

/**
 * Rows that no database and no object store decides, so that they are tested once, on the embedded default: guesses (C08)
 * are counted in the memory of the process.
 */
const ABOVE_THE_PORTS = [
  ...rows('A', [1, 4]),
  ...rows('A', [7, 27]),
  ...rows('B', [1, 4]),
  'B08',
  'B11',
  'B12',
  'C01',
  'C04',
  ...rows('C', [7, 8]),
  'H04',
  'H09',
]

/** What both the embedded service and that on PostgreSQL and S3 are held against, by the files that do it. */
const EMBEDDED = [
  'connections',
  'instances',
  'quota',
  'reads',
  'refusals',
  'resumable',
  'writes',
].map((name) => `embedded/${name}.test.ts`)
const PRODUCTION = [
  ...['admin', 'changes', 'instances', 'quota', 'reads', 'resumable', 'writes'].map(
    (name) => `production/${name}.integration.test.ts`,
  ),
  'production/reads.proof.test.ts',
  'production/resumable.proof.test.ts',
]
const COMBINATIONS = [
  { name: 'SQLite and local files', files: [...EMBEDDED, './admin/embedded.test.ts'], except: [] },
  { name: 'PostgreSQL and S3', files: PRODUCTION, except: ABOVE_THE_PORTS },
]

function rows(group: string, [first, last]: readonly [number, number]): readonly string[] {
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return numbers.map((number) => `${group}${String(number).padStart(2, '0')}`)
}

describe('the matrix of bad input and faults', () => {
  it('numbers the rows of each group without a gap', () => {
    const numbers = Map.groupBy(DOCUMENTED, (row) => row.slice(0, 1))
    for (const [group, found] of numbers) expect(found).toEqual(rows(group, [1, found.length]))
    expect([...numbers.keys()].join('')).toBe('ABCDEFGHR')
  })

  it('has each row in the title of a test, and no title has another row', () => {
    expect([...TESTED.keys()]).toEqual(DOCUMENTED)
  })

  it.each(COMBINATIONS)(
    'has each row in the title of a test in the suites of $name',
    async ({ files, except }) => {
      const titles = (await Promise.all(files.map(titlesOfSuites))).flat()
      const named = new Set(titles.flatMap((title) => rowsOf(title)))
      expect(ROWS.filter((row) => !named.has(row))).toEqual(except)
    },
  )
})

async function readMatrix(): Promise<readonly string[]> {
  const text = await readFile(new URL('../FAULTS.md', import.meta.url), 'utf8')
  return Array.from(text.matchAll(/^\| ([A-Z]\d\d) \|/gm), ([, row = '']) => row)
}

/** The files of `test/`, without their extension, that have a row in a text between quotes. */
async function testsByRow(): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = new URL('../', import.meta.url)
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('http/fault-matrix'),
  )
  const found = new Map<string, Set<string>>()
  for (const name of names) {
    const text = await readFile(new URL(name, folder), 'utf8')
    for (const [, , title = ''] of text.matchAll(/(['"`])((?:(?!\1).)*?)\1/g)) {
      for (const [row] of title.matchAll(/(?<![\w#])[A-HR]\d\d(?![\w.])/g)) {
        found.set(row, (found.get(row) ?? new Set()).add(name.replace(/\.ts$/, '')))
      }
    }
  }
  const sorted = [...found].map(([row, tests]) => [row, [...tests]] as const)
  return new Map(sorted.toSorted(([a], [b]) => a.localeCompare(b)))
}

/**
 * The texts in quotes of the suites that a test file runs, of what they call, and of the tables of rows that these
 * import.
 */
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
