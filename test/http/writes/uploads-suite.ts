import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { digest } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  download,
  expectOnlyObjectsOf,
  jsonOf,
  MIB,
  type OpenService,
  pathOf,
  upload,
} from '../fixture.ts'

const SIZES = { '0 B': 0, '1 B': 1, '64 KiB': 65_536, '5 MiB + 1': 5 * MIB + 1, '20 MiB': 20 * MIB }

const VERSION = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** What an upload and a download are when nothing goes wrong. */
export function uploadsSuite(open: OpenService): void {
  describe('uploads and downloads', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    describe.each(Object.entries(SIZES))('of %s', (_, size) => {
      it.each([
        ['a Content-Length', false],
        ['chunks', true],
      ])('return every byte by `me` and by id, sent with %s (I1)', async (_how, chunked) => {
        const content = randomBytes(size)
        const reply = await upload(service, { user, content, chunked })
        expect(reply.status).toBe(200)
        expect(jsonOf(reply)).toMatchObject({ size, sha256: digest(content) })
        for (const owner of ['me', user.userId]) {
          const found = await download(service, { user, owner })
          expect(found).toMatchObject({ status: 200, headers: { 'content-length': `${size}` } })
          expect(found.body.equals(content)).toBe(true)
        }
      })
    })

    it('answers an upload with exactly the members of its reply', async () => {
      const reply = await upload(service, { user, name: 'a b.txt', content: 'hello' })
      expect(reply.headers['content-type']).toMatch(/^application\/json(;|$)/)
      const body = jsonOf(reply)
      expect(body).toEqual({
        name: 'a b.txt',
        user_id: user.userId,
        size: 5,
        sha256: digest(Buffer.from('hello')),
        etag: expect.any(String) as string,
        version: expect.stringMatching(VERSION) as string,
        visibility: 'private',
        replaced: false,
        created_at: expect.stringMatching(TIME) as string,
        updated_at: body['created_at'],
        expires_at: null,
        keep: false,
        device_id: null,
        media_type: 'text/plain',
        metadata: {},
        capacity: { capacity: 64 * MIB, used: 5, reserved: 0, available: 64 * MIB - 5 },
      })
    })

    it('replaces a file, keeps created_at and moves updated_at (I1)', async () => {
      const first = jsonOf(await upload(service, { user, content: 'old content' }))
      await delay(5)
      const second = jsonOf(await upload(service, { user, content: 'new' }))
      expect(second).toMatchObject({
        replaced: true,
        size: 3,
        created_at: first['created_at'],
        capacity: { used: 3 },
      })
      expect(Date.parse(String(second['updated_at']))).toBeGreaterThan(
        Date.parse(String(first['updated_at'])),
      )
      expect(second['version']).not.toBe(first['version'])
      expect((await download(service, { user })).body.toString()).toBe('new')
      await expectOnlyObjectsOf(service, { user, names: ['file.bin'] })
    })

    it('keeps the visibility of a file that is overwritten without one', async () => {
      await upload(service, { user, query: '?visibility=public', content: 'a' })
      const kept = jsonOf(await upload(service, { user, content: 'b' }))
      expect(kept).toMatchObject({ visibility: 'public', replaced: true })
      const changed = await upload(service, { user, query: '?visibility=private', content: 'c' })
      expect(jsonOf(changed)).toMatchObject({ visibility: 'private', replaced: true })
    })

    describe.each([
      ['private', { owner: 200, other: 404, nobody: 404 }],
      ['users', { owner: 200, other: 200, nobody: 404 }],
      ['public', { owner: 200, other: 200, nobody: 200 }],
    ])('of a %s file', (visibility, expected) => {
      it.each(['GET', 'HEAD'])('answer %s by who asks', async (method) => {
        const query = `?visibility=${visibility}`
        const stored = await upload(service, { user, query, content: 'a' })
        expect(jsonOf(stored)).toMatchObject({ visibility })
        const other = await service.createUser(0)
        const ask = { owner: user.userId, method }
        expect({
          owner: (await download(service, { ...ask, user })).status,
          other: (await download(service, { ...ask, user: other })).status,
          nobody: (await download(service, ask)).status,
        }).toEqual(expected)
      })
    })

    it('have headers under which a browser saves the file and never runs it', async () => {
      await upload(service, { user, name: 'page.html', content: '<script>' })
      const { headers } = await download(service, { user, name: 'page.html' })
      expect(headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-length': '8',
        'content-disposition': `attachment; filename="page.html"; filename*=UTF-8''page.html`,
        etag: expect.stringMatching(/^"[^"]+"$/) as string,
        'last-modified': expect.stringMatching(/ GMT$/) as string,
        'cache-control': 'private, no-cache, no-transform',
        vary: 'Cookie, Authorization, Want-Repr-Digest',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining('sandbox') as string,
      })
    })
  })

  realClients(open)
}

function realClients(open: OpenService): void {
  describe('a real client', () => {
    const content = randomBytes(3 * MIB)
    let service: TestService
    let user: TestUser
    let folder: string
    beforeAll(async () => {
      service = await open()
      user = await service.createUser(64 * MIB)
      folder = await mkdtemp(join(tmpdir(), 'cloud-repository-clients-'))
      await writeFile(join(folder, 'local.bin'), content)
    })
    afterAll(async () => {
      await service.stop()
      await rm(folder, { recursive: true })
    })

    it('uploads and downloads with fetch and FormData', async () => {
      const form = new FormData()
      form.append('note', 'a field before the file')
      form.append('file', new Blob([content]), 'what ever.bin')
      const url = service.url + pathOf('fetched')
      const headers = { cookie: user.cookie }
      const stored = await fetch(url, { method: 'POST', headers, body: form })
      expect(await stored.json()).toMatchObject({ name: 'fetched', sha256: digest(content) })
      const found = await fetch(url, { headers })
      expect(Buffer.from(await found.arrayBuffer()).equals(content)).toBe(true)
    })

    it('reads its refusal with fetch', async () => {
      const form = new FormData()
      form.append('file', new Blob([content]), 'a')
      const refused = await fetch(service.url + pathOf('x'), { method: 'POST', body: form })
      expect(refused.status).toBe(403)
      expect(await refused.json()).toMatchObject({ code: 'access_token_missing' })
    })

    const withoutCurl = spawnSync('curl', ['--version']).status !== 0

    it.skipIf(withoutCurl)('uploads and downloads with curl', async () => {
      const url = service.url + pathOf('curled')
      const file = join(folder, 'local.bin')
      const stored = await curl(['--cookie', user.cookie, '-F', `file=@${file}`, url])
      expect(JSON.parse(stored)).toMatchObject({ name: 'curled', sha256: digest(content) })
      await curl(['--cookie', user.cookie, '-o', join(folder, 'found'), url])
      expect((await readFile(join(folder, 'found'))).equals(content)).toBe(true)
    })

    it.skipIf(withoutCurl)('uploads in chunks with curl', async () => {
      const url = service.url + pathOf('piped')
      const file = join(folder, 'local.bin')
      const chunked = ['-H', 'Transfer-Encoding: chunked']
      const stored = await curl(['--cookie', user.cookie, ...chunked, '-F', `file=@${file}`, url])
      expect(JSON.parse(stored)).toMatchObject({ name: 'piped', sha256: digest(content) })
    })

    it.skipIf(withoutCurl)('uploads a file as it is with curl, under its own name', async () => {
      const folderUrl = service.url + pathOf('')
      const file = join(folder, 'local.bin')
      const stored = await curl(['--cookie', user.cookie, '-T', file, folderUrl])
      expect(JSON.parse(stored)).toMatchObject({ name: 'local.bin', sha256: digest(content) })
      const piped = ['-H', 'Transfer-Encoding: chunked', '-T', file, `${folderUrl}piped`]
      expect(JSON.parse(await curl(['--cookie', user.cookie, ...piped]))).toMatchObject({
        name: 'piped',
        sha256: digest(content),
      })
    })

    it.skipIf(withoutCurl)('reads its refusal with curl', async () => {
      const url = service.url + pathOf('refused')
      const file = join(folder, 'local.bin')
      const answer = await curl(['--cookie', 'access_token=wrong', '-F', `file=@${file}`, url])
      expect(JSON.parse(answer)).toMatchObject({ status: 403, code: 'access_token_invalid' })
    })
  })
}

async function curl(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('curl', ['-sS', '--noproxy', '*', ...args])
  return stdout
}
