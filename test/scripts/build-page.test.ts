import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service/program.ts'

const execute = promisify(execFile)

const all = new AsyncDisposableStack()
/** The sources, and what was built of them. */
let template: string
let opened: AsyncDisposableStack
let root: string
let built: string
beforeAll(async () => {
  await buildIn('.')
  template = await temporaryFolder(all)
  const copied = ['package-lock.json', 'tsconfig.json', 'scripts', 'web', 'api']
  await execute('cp', ['-a', ...copied, template])
  for (const [parent, folder] of [
    ['client', 'client/src'],
    ['dist', 'dist/web'],
  ] as const) {
    await mkdir(join(template, parent))
    await execute('cp', ['-a', folder, join(template, parent)])
  }
  await replaceVite()
})
afterAll(() => all.disposeAsync())
beforeEach(async () => {
  opened = new AsyncDisposableStack()
  root = await temporaryFolder(opened)
  built = join(root, 'dist', 'web')
  await execute('cp', ['-a', `${template}/.`, root])
})
afterEach(() => opened.disposeAsync())

const buildIn = (folder: string) =>
  execute(process.execPath, [join(folder, 'scripts', 'build-page.mjs')])
const build = () => buildIn(root)

/**
 * Has each build take what is built already, in as much time as a build takes and little of the processor's, and leave
 * a line in a file, where nothing else tells how many there were.
 */
async function replaceVite(): Promise<void> {
  await writeFile(join(template, 'builds'), '')
  const folder = join(template, 'node_modules', 'vite', 'bin')
  await mkdir(folder, { recursive: true })
  const program = `
    const { appendFileSync, cpSync } = require('node:fs')
    appendFileSync('builds', 'build\\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    const folder = process.argv[process.argv.indexOf('--outDir') + 1]
    cpSync(${JSON.stringify(join(template, 'dist', 'web'))}, folder, { recursive: true })`
  await writeFile(join(folder, 'vite.js'), program)
}

async function builds(): Promise<number> {
  return (await readFile(join(root, 'builds'), 'utf8')).split('\n').length - 1
}

/** Makes a source newer than what was built. */
async function touch(source: string): Promise<void> {
  const later = new Date((await stat(join(built, 'index.html'))).mtimeMs + 1)
  await utimes(join(root, source), later, later)
}

describe('what builds the page', () => {
  it('builds once, however many want it at once, and leaves nothing else', async () => {
    await rm(join(root, 'dist'), { recursive: true })
    await Promise.all([build(), build(), build()])
    expect(await builds()).toBe(1)
    expect(await readdir(join(root, 'dist'))).toEqual(['web'])
  })

  it('has the documents say that they are in English, and no source name another language', async () => {
    for (const name of ['index.html', 'operator.html', 'links/link.html']) {
      expect(await readFile(join(built, name), 'utf8')).toContain('<html lang="en">')
    }
    const entries = await readdir('web', { recursive: true, withFileTypes: true })
    // What describes the API is English, as are its documents.
    const sources = entries.filter((entry) => entry.isFile() && !entry.parentPath.endsWith('docs'))
    const named = await Promise.all(
      sources.map(async ({ parentPath, name }) => {
        const text = await readFile(join(parentPath, name), 'utf8')
        return /\bIntl\.\w+\(['"[]|\btoLocale\w+\(/.test(text) ? name : []
      }),
    )
    expect(named.flat()).toEqual([])
  })

  it('builds again what was cut: a compressed form that is missing', async () => {
    await build()
    expect(await builds()).toBe(0)
    const assets = await readdir(join(built, 'assets'))
    const form = assets.find((name) => name.endsWith('.br')) ?? ''
    for (const cut of [join('assets', form), 'index.html.gz', 'index.html']) {
      await rm(join(built, cut))
      await build()
      await stat(join(built, cut))
    }
    expect(await builds()).toBe(3)
  })

  it.each(['api/openapi.json', 'client/src/client.ts'])(
    'builds again when %s is newer',
    async (source) => {
      await touch(source)
      await build()
      expect(await builds()).toBe(1)
    },
  )

  it('compresses each file once, also where another build writes nothing', async () => {
    await rm(join(root, 'node_modules'), { recursive: true })
    await symlink(resolve('node_modules'), join(root, 'node_modules'))
    const script = `import { build } from 'vite'
      await build({ configFile: 'web/vite.config.ts', build: { write: false } })`
    await execute(process.execPath, ['--input-type=module', '--eval', script], { cwd: root })
    const names = await readdir(built, { recursive: true })
    expect(names.filter((name) => /\.(br|gz)\.(br|gz)$/.test(name))).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['docs.html.br', 'admin-docs.html.gz']))
  })

  it('puts what is new into the folder that is read, which is never away, and takes out what is old', async () => {
    const { ino } = await stat(built)
    await writeFile(join(built, 'assets', 'old.js'), '')
    await touch('web/index.html')
    await build()
    expect(await builds()).toBe(1)
    expect((await stat(built)).ino).toBe(ino)
    expect(await readdir(join(built, 'assets'))).not.toContain('old.js')
  })

  it('waits for no build that was killed, takes away what it left, and leaves alone what another is at', async () => {
    const gone = execute(process.execPath, ['--eval', ''])
    await gone
    const { pid = 0 } = gone.child
    const others = [`web-${process.pid}`, 'web-old', `web-${pid}.tar`]
    for (const name of [`web-${pid}`, ...others]) {
      await mkdir(join(root, 'dist', name, 'assets'), { recursive: true })
      await writeFile(join(root, 'dist', name, 'assets', 'cut.js'), '')
    }
    for (const name of ['web.lock', `web.lock-${pid}`]) {
      await writeFile(join(root, 'dist', name), String(pid))
    }
    await touch('web/index.html')
    await build()
    expect(await builds()).toBe(1)
    expect((await readdir(join(root, 'dist'))).toSorted()).toEqual(['web', ...others].toSorted())
  })
})
