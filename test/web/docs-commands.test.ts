import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sample, string } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseUserId } from '../../src/core/users/user-id.ts'
import { shellWord } from '../../web/docs/curl.ts'
import { MIB, upload } from '../http/fixture.ts'
import { buildDocs, NO_BUILD } from '../support/http/page.ts'
import { createFolder } from '../support/servers/local-server.ts'
import { openEmbedded } from '../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../support/service/test-service.ts'

const ADMIN_TOKEN = 'the-admin-token-of-the-commands'

const execute = promisify(execFile)

describe.skipIf(spawnSync('curl', ['--version']).status !== 0)('the commands of the pages', () => {
  let service: TestService
  let user: TestUser
  let folder: Awaited<ReturnType<typeof createFolder>>
  const commands = new Map<string, { readonly text: string; readonly token: string }>()

  beforeAll(async () => {
    folder = await createFolder('commands')
    // Also tells the status, after what the command itself tells.
    const settings = 'silent\nshow-error\nwrite-out = "%{stderr}%{http_code}"\nmax-time = 20\n'
    await writeFile(join(folder.path, '.curlrc'), settings)
    await writeFile(join(folder.path, 'README.md'), 'content')
    service = await openEmbedded({
      adminToken: ADMIN_TOKEN,
      baseCapacity: 64 * MIB,
      page: NO_BUILD,
      operatorPage: NO_BUILD,
      ...(await buildDocs()),
    })
    const adminUrl = `http://127.0.0.1:${service.adminPort}`
    const userId = parseUserId('alice')
    await service.users.createUser(userId)
    const terms = { userId, label: '', expiresInSeconds: undefined }
    const { secret } = await service.accessTokens.issue(terms)
    user = { userId, cookie: `access_token=${secret}` }
    const authorization = `Bearer ${ADMIN_TOKEN}`
    const own = await (await fetch(`${service.url}/docs`)).text()
    const admin = await (await fetch(`${adminUrl}/docs`, { headers: { authorization } })).text()
    for (const [id, text] of commandsOf(own, service.url)) commands.set(id, { text, token: secret })
    for (const [id, text] of commandsOf(admin, adminUrl)) {
      if (!commands.has(id)) commands.set(id, { text, token: ADMIN_TOKEN })
    }
  })
  afterAll(async () => {
    await service?.stop()
    await folder?.remove()
  })

  async function run(id: string): Promise<{ readonly status: number; readonly output: string }> {
    const { text = '', token = '' } = commands.get(id) ?? {}
    const { stdout, stderr } = await execute('sh', ['-c', text], {
      cwd: folder.path,
      env: { PATH: process.env['PATH'], CURL_HOME: folder.path, TOKEN: token },
    })
    return { status: Number(stderr.slice(-3)), output: stdout }
  }

  const json = async (id: string) => {
    const { status, output } = await run(id)
    return { status, ...(JSON.parse(output) as object) }
  }

  it('upload, list and download, and send JSON', async () => {
    expect(await json('uploadFile')).toMatchObject({ status: 200, name: 'README.md', size: 7 })
    await writeFile(join(folder.path, 'README.md'), 'other content')
    expect(await json('putFile')).toMatchObject({ status: 200, size: 13, replaced: true })
    // Its example is a prefix, which README.md has not.
    await upload(service, { user, name: 'photos/beach.jpg', content: 'x' })
    const listed = { status: 200, files: [{ name: 'photos/beach.jpg' }] }
    expect(await json('listFiles')).toMatchObject(listed)
    await writeFile(join(folder.path, 'README.md'), '')
    expect(await run('downloadFile')).toEqual({ status: 200, output: '' })
    expect(await readFile(join(folder.path, 'README.md'), 'utf8')).toBe('other content')
    // Not into a file, although the link can also answer with an archive.
    expect(await json('getLink')).toMatchObject({ status: 404, code: 'not_found' })
    expect(await json('putDevice')).toMatchObject({ status: 201, device_id: 'camera-17' })
    expect(await json('createAccessToken')).toMatchObject({ status: 201, label: 'phone' })
    const { status, output } = await run('createUpload')
    expect({ status, hasPlace: /^location: /im.test(output) }).toEqual({
      status: 201,
      hasPlace: true,
    })
  })

  it('are all understood, if only to be told that their example does not exist', async () => {
    expect(commands.size).toBeGreaterThan(70)
    const refused: unknown[] = []
    for (const id of commands.keys()) {
      const { status, output } = await run(id)
      if (status >= 500 || [0, 400, 405, 411, 413, 415].includes(status)) {
        refused.push({ id, status, output })
      }
    }
    expect(refused).toEqual([])
  })
})

it('quote every word for the shell', async () => {
  const word = string({ unit: 'binary' }).filter((text) => !text.includes('\0'))
  const words = ["it's", '', '$HOME `id` \\', '-n', '!!', ...sample(word, 100)]
  const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`
  const { stdout } = await execute('sh', ['-c', script])
  expect(stdout.split('\0').slice(0, -1)).toEqual(words.map((text) => text.toWellFormed()))
})

/** The commands by the ids of their operations, for the service at `url`. */
function commandsOf(page: string, url: string): readonly (readonly [string, string])[] {
  const found = page.matchAll(
    /<section class="view operation" id="(\w+)">.*?<pre class="command"[^>]*><code>(.*?)<\/code>/gs,
  )
  return [...found].map(([, id = '', markup = '']) => {
    const text = markup
      .replaceAll(/<span class="address">[^<]*<\/span>/g, url)
      .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))
    return [id, text] as const
  })
}
