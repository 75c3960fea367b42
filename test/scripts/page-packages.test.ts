import { execFile, spawnSync } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildPage } from '../support/http/page.ts'
import { temporaryFolder } from '../support/service/program.ts'

const execute = promisify(execFile)

/** What a page cannot do without: what `web/` imports, and what that pulls in. */
const IN_PAGES = ['@preact/signals', '@preact/signals-core', 'preact']

interface Bill {
  readonly components: readonly {
    readonly name: string
    readonly version: string
    readonly purl: string
    readonly scope: string
    readonly properties: readonly { readonly name: string }[]
    readonly licenses: readonly unknown[]
    readonly hashes: readonly { readonly alg: string; readonly content: string }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

let opened: AsyncDisposableStack
beforeEach(() => {
  opened = new AsyncDisposableStack()
})
afterEach(() => opened.disposeAsync())

let bill: Bill
let notice: string
beforeAll(async () => {
  await buildPage()
  bill = JSON.parse(await outputOf('scripts/sbom.mjs')) as Bill
  notice = await outputOf('scripts/notice.mjs')
}, 60_000)

async function outputOf(script: string): Promise<string> {
  return (await execute(process.execPath, [script], { maxBuffer: 2 ** 24 })).stdout
}

const idOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`

/** What `build.license` says that the pages have been made of. */
async function bundledPackages(): Promise<readonly string[]> {
  const list = await readFile('dist/web/licenses.json', 'utf8')
  return (JSON.parse(list) as { name: string; version: string }[]).map(idOf)
}

describe('the list of what the image holds', () => {
  it('has the packages of the pages, with version, licence and hash, and none that only builds them', () => {
    const { components } = bill
    const names = components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['pg', ...IN_PAGES]))
    for (const name of ['vite', 'vitest', 'typescript']) expect(names).not.toContain(name)
    const signals = components.find(({ name }) => name === '@preact/signals-core')
    expect(signals).toMatchObject({
      purl: `pkg:npm/%40preact/signals-core@${signals?.version}`,
      scope: 'required',
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) as string }],
    })
    expect(JSON.stringify(components)).not.toContain('development')
  })

  it('has what is installed for production and what is in the pages, each once, and nothing else', async () => {
    const lockfile = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
      readonly packages: Record<
        string,
        { readonly version: string; readonly dev?: boolean; readonly link?: boolean }
      >
    }
    const installed = Object.entries(lockfile.packages).flatMap(([path, one]) => {
      const { version, dev, link } = one
      const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? []
      // A link is to the workspace, which is no part of the image.
      return name === undefined || dev === true || link === true ? [] : [`${name}@${version}`]
    })
    const expected = new Set([...installed, ...(await bundledPackages())])
    expect(bill.components.map(idOf).toSorted()).toEqual([...expected].toSorted())
  })

  it('says what needs what, and names nothing that it does not have', () => {
    const { components, dependencies } = bill
    const preact = `preact@${components.find(({ name }) => name === 'preact')?.version}`
    const signals = dependencies.find(({ ref }) => ref.startsWith('@preact/signals@'))
    expect(signals?.dependsOn).toEqual(
      expect.arrayContaining([preact, expect.stringMatching(/^@preact\/signals-core@/)]),
    )
    const [service, ...others] = dependencies
    expect(service?.dependsOn).toEqual(expect.arrayContaining([preact]))
    const known = new Set(components.map(idOf))
    expect(new Set(others.map(({ ref }) => ref))).toEqual(known)
    for (const ref of dependencies.flatMap(({ dependsOn }) => dependsOn))
      expect(known).toContain(ref)
  })

  it('has every package of which the pages are built', { timeout: 60_000 }, async () => {
    const bundled = new Set<string>()
    await build({
      configFile: 'web/vite.config.ts',
      build: { write: false },
      plugins: [
        {
          name: 'names what is bundled',
          generateBundle(_options, bundle) {
            for (const chunk of Object.values(bundle)) {
              if (chunk.type !== 'chunk') continue
              for (const id of Object.keys(chunk.modules)) {
                const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id) ?? []
                if (name !== undefined) bundled.add(name)
              }
            }
          },
        },
      ],
    })
    expect([...bundled]).toEqual(expect.arrayContaining(IN_PAGES))
    const listed = (await bundledPackages()).map((id) => id.slice(0, id.lastIndexOf('@')))
    expect(new Set(listed)).toEqual(bundled)
  })
})

describe('the notice of the image', () => {
  it('has the licence of each package of the pages', async () => {
    for (const id of await bundledPackages()) {
      const [, text = ''] = notice.split(`\n${id.replace(/(?<=.)@/, ' ')}: `)
      const [whole = ''] = text.split('-'.repeat(80))
      expect({ id, hasText: whole.length > 500 }).toEqual({ id, hasText: true })
    }
  })
})

describe('the audit', () => {
  it.each([
    ['the service', 'fastify', 1],
    ['a page', 'preact', 1],
    ['what a page pulls in', '@preact/signals-core', 1],
    ['development alone', 'vitest', 0],
  ])('of a vulnerability in %s, %s, ends with %i', async (_where, name, code) => {
    const vulnerability = { severity: 'high', range: '*', nodes: [`node_modules/${name}`] }
    const report = { metadata: { vulnerabilities: {} }, vulnerabilities: { [name]: vulnerability } }
    const folder = await temporaryFolder(opened)
    await writeFile(join(folder, 'report'), JSON.stringify(report))
    await writeFile(join(folder, 'npm'), `#!/bin/sh\ncat '${join(folder, 'report')}'\n`)
    await chmod(join(folder, 'npm'), 0o755)
    const env = { ...process.env, PATH: folder + delimiter + (process.env['PATH'] ?? '') }
    const audit = spawnSync(process.execPath, ['scripts/audit.mjs'], { env, encoding: 'utf8' })
    expect(audit.status).toBe(code)
    expect(audit.stdout.includes(`${name} *: severity high`)).toBe(code === 1)
  })
})
