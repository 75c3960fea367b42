import { execFile, spawnSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from './support/program.ts'

const execute = promisify(execFile)

/** What `web/` imports and what that pulls in, as far as a page cannot do without it. */
const IN_PAGES = ['@preact/signals', '@preact/signals-core', '@uppy/core', 'lodash', 'preact']

interface Bill {
  readonly components: readonly {
    readonly name: string
    readonly version: string
    readonly purl: string
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

function addPages(components: readonly object[]): Bill {
  const input = JSON.stringify({ components, dependencies: [] })
  const { stdout } = spawnSync(process.execPath, ['scripts/sbom.mjs'], { input, encoding: 'utf8' })
  return JSON.parse(stdout) as Bill
}

describe('the list of what the image holds', () => {
  it('has the packages of the pages, with version, licence and hash, and none that only builds them', () => {
    const { components } = addPages([{ 'bom-ref': 'pg@8.0.0', name: 'pg' }])
    const names = components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['pg', ...IN_PAGES]))
    for (const name of ['vite', 'vitest', 'typescript']) expect(names).not.toContain(name)
    const signals = components.find(({ name }) => name === '@preact/signals-core')
    expect(signals).toMatchObject({
      purl: `pkg:npm/%40preact/signals-core@${signals?.version}`,
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) as string }],
    })
  })

  it('has each once, and says what needs what', () => {
    const { components, dependencies } = addPages([])
    const preact = components.find(({ name }) => name === 'preact')
    const ref = `preact@${preact?.version}`
    expect(addPages([{ 'bom-ref': ref }]).components).toHaveLength(components.length)
    const signals = dependencies.find((one) => one.ref.startsWith('@preact/signals@'))
    expect(signals?.dependsOn).toEqual(
      expect.arrayContaining([ref, expect.stringMatching(/^@preact\/signals-core@/)]),
    )
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
    const names = addPages([]).components.map(({ name }) => name)
    for (const name of bundled) expect(names).toContain(name)
  })
})

describe('the notice of the image', () => {
  it('has the licence of each package of the pages', async () => {
    const { stdout } = await execute(process.execPath, ['scripts/notice.mjs'])
    for (const { name, version } of addPages([]).components) {
      const [, text = ''] = stdout.split(`\n${name} ${version}: `)
      const [whole = ''] = text.split('-'.repeat(80))
      expect({ name, hasText: whole.length > 500 }).toEqual({ name, hasText: true })
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
    expect(audit.stdout.includes(`high in ${name}`)).toBe(code === 1)
  })
})
