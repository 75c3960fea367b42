import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** The versions in which the known faults of these packages are mended; older ones lose files, hang or crash. */
const FLOORS: Readonly<Record<string, string>> = {
  fastify: '5.12.1',
  '@fastify/multipart': '10.1.9',
  '@fastify/busboy': '3.2.6',
  node: '24.18.1',
}

interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version?: string; readonly integrity?: string; readonly link?: boolean }
    >
  >
}

const lockfile = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lockfile

/** Those of the registry: without this repository and its workspace. */
const packages = Object.entries(lockfile.packages).filter(
  ([path, { link = false }]) => path !== '' && path !== 'packages/js' && !link,
)

describe('the dependencies', () => {
  it.each(Object.entries(FLOORS))('hold no %s older than %s', (name, floor) => {
    const found = packages.filter(([path]) => path.endsWith(`node_modules/${name}`))
    expect(found).not.toEqual([])
    for (const [, { version = '' }] of found)
      expect(compare(version, floor)).toBeGreaterThanOrEqual(0)
  })

  it('are held against the hash of what they were', () => {
    const unknown = packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    expect(unknown).toEqual([])
  })

  it('are pinned to one version by package.json', () => {
    const loose = Object.entries(wanted).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    )
    expect(loose).toEqual([])
  })

  it('each have a line in docs/development/dependencies.md that says why they are here, and nothing else has one', () => {
    expect(explainedPackages()).toEqual(Object.keys(wanted).toSorted())
  })
})

const manifests = ['package.json', 'packages/js/package.json'].map(
  (path) =>
    JSON.parse(readFileSync(path, 'utf8')) as Partial<
      Record<'dependencies' | 'devDependencies' | 'overrides', Readonly<Record<string, string>>>
    >,
)

const wanted = Object.assign(
  {},
  ...manifests.flatMap(({ dependencies, devDependencies, overrides }) => [
    dependencies,
    devDependencies,
    overrides,
  ]),
) as Readonly<Record<string, string>>

/** Those of the first column of the table; one without a scope may be of the scope before it. */
function explainedPackages(): readonly string[] {
  const [, table = ''] = readFileSync('docs/development/dependencies.md', 'utf8').split(
    '| package | why it is here |',
  )
  const cells = [...table.matchAll(/^\| ((?:@?[a-z0-9][\w./@-]*(?:, )?)+)/gm)]
  const names = cells.flatMap(([, cell = '']) => {
    const words = cell.split(', ')
    const [scope] = (words[0] ?? '').split('/')
    return words.map((word) => (`${scope}/${word}` in wanted ? `${scope}/${word}` : word))
  })
  return names.toSorted()
}

function compare(version: string, floor: string): number {
  return version.localeCompare(floor, 'en', { numeric: true })
}
