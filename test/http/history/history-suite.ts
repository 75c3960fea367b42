import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { change, list, remove } from '../file-requests.ts'
import {
  ask,
  download,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  type Reply,
  upload,
} from '../fixture.ts'

const HISTORY = '/users/me/history'
const LIFETIME_MS = 3_600_000
const TIME = expect.stringMatching(/^20\d\d-.*Z$/) as string

interface Past {
  readonly version: string
  readonly name: string
  readonly ended_at: string
  readonly expires_at: string
}

interface Page {
  readonly versions: readonly Past[]
  readonly next_cursor: string | null
}

/** `/users/me/history`: what was replaced and deleted, and how it comes back. */
export function historySuite(open: OpenService): void {
  describe('the history of a user', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: LIFETIME_MS, maxFiles: 5 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    const put = async (name: string, content: string | Uint8Array, of = user) =>
      jsonOf(await upload(service, { user: of, name, content })) as { readonly version: string }
    const page = async (query = '', of = user): Promise<Page> => {
      const reply = await ask(service, { user: of, path: `${HISTORY}${query}` })
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      return jsonOf(reply) as unknown as Page
    }
    const past = async (query = '') => (await page(query)).versions
    const at = (version: string): string => `${HISTORY}/${version}`
    const content = (version: string, headers = {}, method = 'GET') =>
      download(service, { user, path: at(version), headers, method })
    const purge = (version: string): Promise<Reply> =>
      ask(service, { user, method: 'DELETE', path: at(version) })
    const restore = (version: string, body?: object, headers = {}): Promise<Reply> =>
      ask(service, {
        user,
        method: 'POST',
        path: `${at(version)}/restore`,
        headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
    const capacity = async () => jsonOf(await ask(service, { user, path: '/users/me/capacity' }))

    it('has what was replaced and deleted, newest end first', async () => {
      const first = await put('a', 'one')
      const second = await put('a', 'second')
      await remove(service, { user, name: 'a' })
      const versions = await past()
      const times = { created_at: TIME, ended_at: TIME, expires_at: TIME }
      const content = { device_id: null, media_type: 'application/octet-stream', metadata: {} }
      const common = { name: 'a', visibility: 'private', ...content, ...times }
      const digest = (text: string) => createHash('sha256').update(text).digest('hex')
      expect(versions).toEqual([
        {
          ...common,
          version: second.version,
          size: 6,
          sha256: digest('second'),
          ended_as: 'deleted',
        },
        { ...common, version: first.version, size: 3, sha256: digest('one'), ended_as: 'replaced' },
      ])
      const [{ ended_at: ended, expires_at: expires } = { ended_at: '', expires_at: '' }] = versions
      expect(Date.parse(expires) - Date.parse(ended)).toBe(LIFETIME_MS)
      expect(await capacity()).toMatchObject({
        used: 0,
        history: { used: 9 + 2 * 4096, allowance: MIB / 2, count: 2, oldest_at: TIME },
      })
    })

    it('is empty at first', async () => {
      expect(await page()).toEqual({ versions: [], next_cursor: null })
      const history = { used: 0, allowance: MIB / 2, count: 0, oldest_at: null }
      expect(await capacity()).toMatchObject({ history })
    })

    it('comes in pages, by name and by prefix', async () => {
      for (const name of ['a', 'b', 'ab', 'a']) {
        await put(name, name)
        await remove(service, { user, name })
      }
      const names = ({ versions }: Page) => versions.map(({ name }) => name)
      const first = await page('?limit=3')
      expect(names(first)).toEqual(['a', 'ab', 'b'])
      const rest = await page(`?limit=3&cursor=${first.next_cursor ?? ''}`)
      expect(names(rest)).toEqual(['a'])
      expect(rest.next_cursor).toBeNull()
      expect(names(await page('?name=a'))).toEqual(['a', 'a'])
      expect(names(await page('?prefix=a'))).toEqual(['a', 'ab', 'a'])
      expect(names(await page('?name=c'))).toEqual([])
    })

    it.each<[string, number, ErrorCode]>([
      ['limit=0', 400, 'invalid_parameter'],
      ['cursor=x', 400, 'invalid_parameter'],
      ['cursor=WzEsIngiXQ', 400, 'invalid_parameter'],
      [
        'cursor=WzEsIjAxOWFiMWMyLTdiMWUtN2MzYS05YTU3LTBkNmY2ZDFjMmIzYSIsMV0',
        400,
        'invalid_parameter',
      ],
      ['name=', 400, 'invalid_file_name'],
      ['name=a%2F%2Fb', 400, 'invalid_file_name'],
      ['prefix=a%2F%2Fb', 400, 'invalid_parameter'],
      ['prefix=%FF', 400, 'invalid_parameter'],
      ['other=1', 400, 'invalid_parameter'],
    ])('refuses to be listed with %s', async (query, status, code) => {
      expectProblem(await ask(service, { user, path: `${HISTORY}?${query}` }), { status, code })
    })

    it('gives its content as a download does', async () => {
      const { version } = await put('a', 'content')
      await remove(service, { user, name: 'a' })
      const whole = await content(version)
      expect(whole).toMatchObject({
        status: 200,
        headers: {
          etag: `"${version}"`,
          'content-type': 'application/octet-stream',
          'content-disposition': expect.stringContaining('attachment') as string,
        },
      })
      expect(whole.body.toString()).toBe('content')
      const part = await content(version, { Range: 'bytes=1-3' })
      expect([part.status, part.body.toString()]).toEqual([206, 'ont'])
      const match = { 'If-None-Match': `"${version}"` }
      expect(await content(version, match)).toMatchObject({ status: 304 })
      const head = await content(version, {}, 'HEAD')
      expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '7', 0])
      expectProblem(await content(version, { Range: 'bytes=9-' }), {
        status: 416,
        code: 'range_not_satisfiable',
      })
    })

    it('gives large contents too', async () => {
      const large = Buffer.alloc(300_000, 'abc')
      const { version } = await put('a', large)
      await put('a', 'x')
      expect((await content(version)).body.equals(large)).toBe(true)
    })

    it('restores a file without a copy: the same version, ETag and content', async () => {
      const { version } = await put('a', 'content')
      await change(service, { user, name: 'a', body: { visibility: 'public' } })
      await remove(service, { user, name: 'a' })
      const reply = await restore(version)
      expect(reply.status).toBe(200)
      expect(jsonOf(reply)).toMatchObject({
        name: 'a',
        version,
        etag: version,
        visibility: 'public',
        replaced: false,
        capacity: { used: 7 },
      })
      const { headers, body } = await download(service, { user, name: 'a' })
      expect([headers['etag'], body.toString()]).toEqual([`"${version}"`, 'content'])
      expect(await past()).toEqual([])
      expectProblem(await restore(version), { status: 404, code: 'not_found' })
    })

    it('restores under another name, or over a file that then is past', async () => {
      const old = await put('a', 'old')
      const current = await put('a', 'current')
      expectProblem(await restore(old.version), { status: 409, code: 'file_exists' })
      const taken = await restore(old.version, { overwrite: true })
      expect(jsonOf(taken)).toMatchObject({ version: old.version, replaced: true })
      expect(await past()).toMatchObject([{ version: current.version, ended_as: 'replaced' }])
      const beside = await restore(current.version, { name: 'b ü' })
      expect(jsonOf(beside)).toMatchObject({ name: 'b ü', version: current.version })
      const files = jsonOf(await list(service, { user }))['files']
      expect(files).toMatchObject([{ name: 'a' }, { name: 'b ü' }])
    })

    it('restores under the preconditions of the current file', async () => {
      const old = await put('a', 'old')
      const current = await put('a', 'current')
      const none = await restore(old.version, {}, { 'If-None-Match': '*' })
      expectProblem(none, { status: 412, code: 'precondition_failed' })
      const body = { overwrite: true }
      const wrong = await restore(old.version, body, { 'If-Match': `"${old.version}"` })
      expectProblem(wrong, { status: 412, code: 'precondition_failed' })
      const right = await restore(old.version, body, { 'If-Match': `"${current.version}"` })
      expect(right.status).toBe(200)
    })

    it.each<[object, ErrorCode]>([
      [{ name: 'a//b' }, 'invalid_file_name'],
      [{ name: 1 }, 'invalid_parameter'],
      [{ overwrite: 'yes' }, 'invalid_parameter'],
      [{ other: 1 }, 'invalid_parameter'],
      [[], 'format_error'],
    ])('refuses to restore with %j, and changes nothing', async (body, code) => {
      const { version } = await put('a', 'x')
      await remove(service, { user, name: 'a' })
      expectProblem(await restore(version, body), { status: 400, code })
      expect(await past()).toHaveLength(1)
    })

    it('never restores past the capacity or the number of files', async () => {
      const { version } = await put('a', Buffer.alloc(MIB / 4 + 1))
      await remove(service, { user, name: 'a' })
      await put('b', Buffer.alloc(MIB - MIB / 4))
      const refused = await restore(version)
      expectProblem(refused, { status: 403, code: 'capacity_exceeded' })
      expect(jsonOf(refused)).toMatchObject({ requested: MIB / 4 + 1, available: MIB / 4 })
      await remove(service, { user, name: 'b' })
      for (const name of ['1', '2', '3', '4', '5']) await put(name, name)
      expectProblem(await restore(version), { status: 403, code: 'file_count_exceeded' })
      expect((await content(version)).status).toBe(200)
    })

    it('forgets a version for good, and says so while its object waits', async () => {
      const { version } = await put('a', 'x')
      await remove(service, { user, name: 'a' })
      expect((await purge(version)).status).toBe(204)
      expectProblem(await content(version), { status: 410, code: 'version_gone' })
      expectProblem(await restore(version), { status: 410, code: 'version_gone' })
      expect((await purge(version)).status).toBe(204)
      await service.sweep()
      expectProblem(await content(version), { status: 404, code: 'not_found' })
      expectProblem(await purge(version), { status: 404, code: 'not_found' })
    })

    it('forgets all versions at once', async () => {
      for (let each = 0; each < 130; each += 1) await put('a', String(each))
      expect(await past('?limit=200')).toHaveLength(129)
      const cleared = await ask(service, { user, method: 'DELETE', path: HISTORY })
      expect(cleared.status).toBe(204)
      expect(await past()).toEqual([])
      expect(await capacity()).toMatchObject({ history: { used: 0, count: 0 } })
      expect((await download(service, { user, name: 'a' })).body.toString()).toBe('129')
    })

    it('is nobody else’s, and needs a token', async () => {
      const { version } = await put('a', 'x')
      await change(service, { user, name: 'a', body: { visibility: 'public' } })
      await remove(service, { user, name: 'a' })
      const stranger = await service.createUser(MIB)
      for (const request of [
        { path: at(version) },
        { path: at(version), method: 'DELETE' },
        { path: `${at(version)}/restore`, method: 'POST' },
      ]) {
        const other = await ask(service, { user: stranger, ...request })
        expectProblem(other, { status: 404, code: 'not_found' })
        const none = await ask(service, request)
        expectProblem(none, { status: 403, code: 'access_token_missing' })
      }
      const none = await ask(service, { path: HISTORY })
      expectProblem(none, { status: 403, code: 'access_token_missing' })
      expect(await past()).toHaveLength(1)
    })

    it('knows no version of a current file, and no other text', async () => {
      const { version } = await put('a', 'x')
      for (const unknown of [version, createVersion(), 'x', '..%2F..']) {
        expectProblem(await content(unknown), { status: 404, code: 'not_found' })
        expectProblem(await purge(unknown), { status: 404, code: 'not_found' })
      }
    })

    it('frees what exceeds the allowance with the next sweep, the oldest end first', async () => {
      const quarter = MIB / 4
      const versions = []
      for (const less of [0, 1, 2]) {
        versions.push((await put('a', Buffer.alloc(quarter - less))).version)
      }
      await remove(service, { user, name: 'a' })
      await service.sweep()
      expect((await past()).map(({ version }) => version)).toEqual([versions[2]])
      expect(await capacity()).toMatchObject({ history: { count: 1 } })
      // Objects that a sweep makes garbage are due by the safe time of the next one.
      await service.sweep()
      const objects = versions.map((version) => `users/${user.userId}/${version}`)
      const stored = await service.storedKeys(user)
      expect(stored.filter((key) => objects.includes(key))).toEqual(objects.slice(2))
    })

    it('keeps nothing of a deleted user', async () => {
      await put('a', 'x')
      await remove(service, { user, name: 'a' })
      await service.sweep()
      await service.users.deleteUser(user.userId)
      await service.sweep()
      expect(await service.users.findUser(user.userId)).toBeUndefined()
    })

    it('tells those who follow', async () => {
      const changes = '/users/me/changes'
      const start = jsonOf(await ask(service, { user, path: changes }))['next_cursor']
      const { version } = await put('a', 'x')
      await remove(service, { user, name: 'a' })
      await restore(version)
      const told = jsonOf(await ask(service, { user, path: `${changes}?cursor=${String(start)}` }))
      expect(told['changes']).toMatchObject([
        { type: 'file.created' },
        { type: 'file.deleted' },
        { type: 'file.restored', name: 'a', version, visibility: 'private' },
      ])
    })
  })
}
