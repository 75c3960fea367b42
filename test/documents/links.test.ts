import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allOf, blocksOf, filesIn, type Page, readPages } from './pages.ts'

const pages = await readPages()
const folders = [
  '.github',
  'src',
  'test',
  'bench',
  'packages',
  'deploy',
  'scripts',
  'web',
  'api',
  'docs',
]
const found = await Promise.all(folders.map((folder) => filesIn(folder)))
const files = [...(await readdir('.')), ...found.flat()]

/** What is there on other machines, or after a run. */
const MADE = new Set([
  'docker-compose.override.yml',
  'alertmanagers.yml',
  'nodes.yml',
  'data/bench.md',
  'data/bench.json',
  'sbom.json',
])

describe.each(pages)('the links of $path', (page) => {
  it('lead to what is there, or by https elsewhere', async () => {
    const faults: string[] = []
    for (const target of targetsOf(page)) {
      if ((await faultOf(target, page)) !== undefined) faults.push(target)
    }
    expect(faults).toEqual([])
  })

  it('the files that a page names exist', async () => {
    const missing = pathsIn(page).filter(
      (path) => !MADE.has(path) && !files.some((file) => `/${file}`.endsWith(`/${path}`)),
    )
    expect(missing).toEqual([])
  })
})

describe("the last column of SECURITY.md's table", () => {
  it('names tests that are there', () => {
    const text = pages.find(({ path }) => path === 'SECURITY.md')?.text ?? ''
    const [, table = ''] = text.split('| shown by |\n')
    const [rows = ''] = table.split('\n\n')
    const cells = rows.split('\n').map((row) => row.split(' | ').at(-1))
    const named = allOf(/`([^`]+)`/g, cells.join('\n'))
    expect(named.length).toBeGreaterThan(20)
    const missing = named.filter((name) => !files.some((file) => file.startsWith(`test/${name}`)))
    expect(missing).toEqual([])
  })
})

/** Where the links and pictures of a page lead, but not what its blocks show. */
function targetsOf(page: Page): string[] {
  const prose = proseOf(page)
  return [...allOf(/\]\(\s*<?([^)\s>]*)/g, prose), ...allOf(/^\[[^\]]+\]: (\S+)/gm, prose)]
}

async function faultOf(target: string, page: Page): Promise<string | undefined> {
  if (/^[a-z]+:/i.test(target)) {
    const isSound = URL.canParse(target) && target.startsWith('https://')
    return isSound ? undefined : target
  }
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page.path : join(dirname(page.path), path)
  if (!(await isThere(file))) return target
  if (anchor === undefined) return undefined
  const found = pages.find((other) => other.path === file)
  return found !== undefined && anchorsOf(found).includes(anchor) ? undefined : target
}

/** The anchors that GitHub gives to headings. */
function anchorsOf(page: Page): string[] {
  const slugs = allOf(/^#+ (.*)$/gm, proseOf(page)).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
  return slugs.map((slug, at) => {
    const before = slugs.slice(0, at).filter((other) => other === slug).length
    return before === 0 ? slug : `${slug}-${before}`
  })
}

function proseOf(page: Page): string {
  return blocksOf(page).reduce((text, block) => text.replace(block.text, ''), page.text)
}

/** What looks like a file of the repository between two backticks. */
function pathsIn(page: Page): string[] {
  const pattern = /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|md|yml|json|conf|sh|py|go))`/g
  return [...new Set(allOf(pattern, page.text))]
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
