import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { blocksOf } from '../../documents/pages.ts'
import { secretOf } from '../../http/fixture.ts'
import { startHttpProxy } from '../../support/faults/http-proxy.ts'
import { startBrowser, whyNoBrowser } from '../../support/http/browser.ts'
import { isSkipped } from '../../support/servers/needs.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { expectMirror, expectMirrorWithin } from '../mirror.ts'
import { clientOf, createContent } from './fixture.ts'
import { type EmptyProject, machinePath, NODES } from './installed-package.ts'

const execute = promisify(execFile)

const FRONT = 'README.md'
const README = 'packages/js/README.md'
const CLIENTS = 'docs/clients.md'
const GUIDE = 'docs/camera-product.md'
const MIRROR = await readFile('docs/examples/mirror.ts', 'utf8')
const GALLERY = await readFile('docs/examples/gallery/src/gallery.ts', 'utf8')

const ADMIN_TOKEN = 'the-admin-token-of-the-samples'
const CAPACITY = 1000

const skipped = isSkipped(await whyNoBrowser())

const pages = await Promise.all(
  [FRONT, README, CLIENTS, GUIDE].map(async (path) => ({
    path,
    text: await readFile(path, 'utf8'),
  })),
)
const blocks = pages.flatMap((page) => blocksOf(page))
const samples = [
  ...blocks.filter(({ language }) => language === 'ts').map(({ text }) => text),
  MIRROR,
  GALLERY,
]

/** The sample of a page that has these words. */
function sampleOf(page: string, words: string): string {
  const sample = blocks.find((block) => block.page === page && block.text.includes(words))
  if (sample === undefined) throw new Error(`${page} has no sample with "${words}".`)
  return sample.text
}

/** What the documents show of the package, in a project that has only that. */
export function samplesSuite({ open }: { readonly open: () => EmptyProject }): void {
  const opened = new AsyncDisposableStack()
  let project: EmptyProject
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    project = open()
    service = await openEmbedded({ adminToken: ADMIN_TOKEN, baseCapacity: CAPACITY })
    opened.defer(() => service.stop())
  })
  afterAll(() => opened.disposeAsync())
  beforeEach(async () => {
    user = await service.createUser(0)
  })

  /** Runs a program with Node 24, which takes TypeScript. */
  async function run(program: string): Promise<unknown> {
    const env = { ADMIN_TOKEN, URL: service.url }
    const { stdout } = await execute(process.execPath, [program], { cwd: project.folder, env })
    return JSON.parse(stdout)
  }

  const withAdmin = (text: string): string =>
    text.replace('http://127.0.0.1:3001', `http://127.0.0.1:${service.adminPort}`)

  describe.each([
    ['Node.js', ['--lib', 'esnext'], (text: string) => !text.includes('document.')],
    ['a page', [], () => true],
  ] as const)(
    'with the settings of "tsc --init" for %s, TypeScript accepts',
    (kind, words, fits) => {
      const named = samples.filter(fits)
      const tsc = resolve('node_modules/.bin/tsc')
      let folder: string
      beforeAll(async () => {
        folder = join(project.folder, kind)
        await mkdir(folder)
        await execute(tsc, ['--init'], { cwd: folder })
      })

      it('all samples', async () => {
        expect(named.length).toBeGreaterThanOrEqual(7)
        for (const [at, text] of named.entries()) {
          await project.write(join(kind, `sample-${at}.ts`), text)
        }
        expect(await complaintsOf(words)).toBe('')
      })

      it('no mistake in them', async () => {
        const wrong = named.find((text) => text.includes('file.size'))
        await project.write(join(kind, 'wrong.ts'), `${wrong?.replace('file.size', 'file.length')}`)
        expect(await complaintsOf(words)).toMatch(/^wrong\.ts\(.*'length' does not exist/)
      })

      async function complaintsOf(words: readonly string[]): Promise<string> {
        // Where the packages of this machine are, in place of `npm install -D @types/node`.
        const typeRoots = resolve('node_modules/@types')
        const args = ['-p', '.', '--noEmit', '--typeRoots', typeRoots, '--types', 'node', ...words]
        return execute(tsc, args, { cwd: folder }).then(
          ({ stdout }) => stdout,
          (error: unknown) => (error as { readonly stdout: string }).stdout,
        )
      }
    },
  )

  it('the program of the package README runs', async () => {
    const content = createContent(900)
    const program = sampleOf(README, 'copy.mov').replace('http://127.0.0.1:3000', service.url)
    // No Node.js before 22.18 runs TypeScript, but this program has no types.
    await project.write('first.js', program)
    await project.write('film.mov', content.bytes)
    const env = { PATH: machinePath(), ACCESS_TOKEN: secretOf(user) }
    const [{ node, words }] = NODES
    const { stdout } = await execute(node, [...words, 'first.js'], { cwd: project.folder, env })
    expect(stdout).toBe(
      `films/2026/sea.mov: 900 bytes, SHA-256 ${content.sha256}\nfilms/2026/sea.mov 900\n`,
    )
    const copy = await readFile(join(project.folder, 'copy.mov'))
    expect(copy.equals(content.bytes)).toBe(true)
  })

  it('the program of README.md creates a user, adds a device, uploads a file and removes the device', async () => {
    const program = withAdmin(sampleOf(FRONT, 'devices.put'))
    await project.write('device.ts', program.replace('http://127.0.0.1:3000', service.url))
    expect(await run('device.ts')).toBe(CAPACITY + 1_000_000)
    const authorization = `Bearer ${ADMIN_TOKEN}`
    const url = `http://127.0.0.1:${service.adminPort}/admin/users/alice`
    const user = await fetch(url, { headers: { authorization } })
    expect(await user.json()).toMatchObject({ capacity: { capacity: CAPACITY, used: 9 } })
  })

  it('the functions of the package README do what they say', async () => {
    await project.write('back-up.ts', sampleOf(README, 'function backUp'))
    await project.write('save.ts', sampleOf(README, 'function save'))
    await project.write('issue-token.ts', withAdmin(sampleOf(README, 'function issueToken')))
    await project.write(
      'functions.ts',
      `import { createClient } from '@cloud-repository/client'
      import { backUp } from './back-up.ts'
      import { issueToken } from './issue-token.ts'
      import { save } from './save.ts'
      const client = createClient({ url: process.env.URL, token: await issueToken('ann') })
      await backUp(client, new Uint8Array(9), 'Monday')
      const names = await Array.fromAsync(client.files.list(), ({ name }) => name)
      const { etag } = await client.files.upload('notes.txt', new Blob(['one']))
      console.log(JSON.stringify([
        names, await save(client, 'two', etag), await save(client, 'three', etag),
        await save(client, 'x'.repeat(2000), (await client.files.get('notes.txt')).etag),
      ]))`,
    )
    expect(await run('functions.ts')).toEqual([
      ['backup.tar'],
      'Saved.',
      'The file has changed since you opened it.',
      'Only 988 bytes are free.',
    ])
  })

  it('the back end signs a user in with a cookie', async () => {
    await project.write('session.ts', withAdmin(sampleOf(CLIENTS, 'function sessionCookie')))
    await project.write(
      'sign-in.ts',
      `import { sessionCookie } from './session.ts'
      console.log(JSON.stringify([await sessionCookie('bob'), await sessionCookie('bob')]))`,
    )
    const cookies = (await run('sign-in.ts')) as readonly string[]
    for (const header of cookies) {
      expect(header).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
      const [cookie = ''] = header.split(';')
      const reply = await fetch(`${service.url}/session`, { headers: { cookie } })
      expect(await reply.json()).toMatchObject({ user_id: 'bob' })
    }
  })

  it('the commands for curl upload, list and download', async () => {
    const commands = sampleOf(CLIENTS, '-T film.mov')
    await project.write('film.mov', 'film')
    const env = { PATH: machinePath(), BASE_URL: service.url, ACCESS_TOKEN: secretOf(user) }
    const options = { cwd: project.folder, env }
    const { stdout } = await execute(
      'sh',
      ['-euc', commands.replaceAll('curl ', 'curl -sS ')],
      options,
    )
    const [uploaded, listed] = stdout
      .split(/(?<=\})(?=\{)/)
      .map((text) => JSON.parse(text) as object)
    expect(uploaded).toMatchObject({ name: 'films/2026/film.mov', size: 4 })
    expect(listed).toMatchObject({ files: [], prefixes: ['films/2026/'] })
    expect(await readFile(join(project.folder, 'copy.mov'), 'utf8')).toBe('film')
  })

  it('the mirror keeps its folder equal to the repository, also over a restart', async () => {
    await project.write('mirror.ts', MIRROR)
    const folder = join(project.folder, 'mirrored')
    const env = { BASE_URL: service.url, ACCESS_TOKEN: secretOf(user) }
    const start = () =>
      spawn(process.execPath, ['mirror.ts', folder], { cwd: project.folder, env, stdio: 'inherit' })
    await expectMirror({ service, user, folder, start })
  })

  it('the mirror stays within its folder, whatever the names are', async () => {
    await project.write('mirror.ts', MIRROR)
    await expectMirrorWithin(({ url, folder }) => {
      const env = { BASE_URL: url, ACCESS_TOKEN: 'crt_' }
      return spawn(process.execPath, ['mirror.ts', folder], {
        cwd: project.folder,
        env,
        stdio: 'ignore',
      })
    })
  })

  it.skipIf(skipped)('the gallery works in Chromium', async () => {
    const html = await readFile('docs/examples/gallery/index.html', 'utf8')
    const [chunk, ...lazy] = await project.bundle(GALLERY)
    await using running = new AsyncDisposableStack()
    const front = await startHttpProxy(service)
    running.defer(() => front.stop())
    const content = html.replace('/src/gallery.ts', '/entry.js')
    front.pages.set('/gallery', { type: 'text/html', content })
    for (const { fileName, code } of [chunk, ...lazy].filter((one) => one !== undefined)) {
      front.pages.set(`/${fileName}`, { type: 'text/javascript', content: code })
    }
    const browser = await startBrowser()
    running.defer(() => browser.close())
    const page = await browser.newPage()
    const { files } = clientOf(user, service.url)
    const picture = Buffer.from(PICTURE, 'base64')
    await files.upload('pictures/first.gif', picture)
    const [name = '', value = ''] = user.cookie.split('=')
    await page.context().addCookies([{ name, value, url: front.url }])
    await page.goto(`${front.url}/gallery`)
    const shown = () => page.evaluate('Array.from(document.images, ({ alt }) => alt)')
    await expect.poll(shown).toEqual(['pictures/first.gif'])
    const mimeType = 'image/gif'
    await page.locator('input').setInputFiles({ name: 'own.gif', mimeType, buffer: picture })
    await expect.poll(shown).toEqual(['pictures/first.gif', 'pictures/own.gif'])
    expect(await page.evaluate('document.querySelector("progress").value')).toBe(1)
    await files.rename('pictures/first.gif', 'pictures/renamed.gif')
    await expect.poll(shown).toEqual(['pictures/own.gif', 'pictures/renamed.gif'])
    await files.delete('pictures/own.gif')
    await expect.poll(shown).toEqual(['pictures/renamed.gif'])
    const buffer = Buffer.alloc(2000)
    await page.locator('input').setInputFiles({ name: 'large.gif', mimeType, buffer })
    const free = CAPACITY - picture.length
    await expect
      .poll(() => page.locator('p').textContent())
      .toBe(`Your repository is full: ${free} bytes are free.`)
  })
}

/** One pixel. */
const PICTURE = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
