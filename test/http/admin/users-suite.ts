import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { download, expectProblem, type OpenService, upload } from '../fixture.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ADMIN_OPTIONS,
  ADMIN_TOKEN,
  allPages,
  call,
  done,
  expectFault,
  newCookie,
  newUser,
} from './fixture.ts'

const TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const NOT_FOUND = { status: 404, code: 'not_found' } as const

const EMPTY = { capacity: 1000, used: 0, reserved: 0, available: 1000, file_count: 0 }

/** The users of the admin API, and what their users notice of it. */
export function adminUsersSuite(open: OpenService): void {
  describe('admin: users', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())

    /** A user as the public listener knows them. */
    async function signIn(path: string): Promise<TestUser> {
      return { userId: path.slice(1) as TestUser['userId'], cookie: await newCookie(service, path) }
    }

    it('PUT makes a user of that id, once', async () => {
      const path = `/${randomUUID()}`
      const account = {
        user_id: path.slice(1),
        status: 'active',
        created_at: TIME,
        capacity: { ...EMPTY, state: 'normal' },
      }
      const made = await done(service, { method: 'PUT', path, status: 201 })
      expect(made).toEqual(account)
      expect(await done(service, { method: 'PUT', path, status: 200 })).toEqual(made)
      const shown = await done(service, { method: 'GET', path, status: 200 })
      expect(shown).toEqual({ ...made, devices: [] })
    })

    it.each([
      [ADMIN_TOKEN, [100, 201]],
      ['wrong', [401]],
    ])('a caller who expects 100-continue and shows %s gets %j', async (token, statuses) => {
      const head = [
        'POST /admin/users HTTP/1.1',
        'Host: admin',
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        'Content-Length: 2',
        'Expect: 100-continue',
      ]
      const send = [`${head.join('\r\n')}\r\n\r\n`, { pauseMs: 200 }, '{}']
      const { all } = await rawRequest({ port: service.adminPort, send })
      expect(all.map(({ status }) => status)).toEqual(statuses)
    })

    it('PUT of many at once makes one', async () => {
      const path = `/${randomUUID()}`
      const calls = Array.from({ length: 8 }, () => call(service, { method: 'PUT', path }))
      const statuses = (await Promise.all(calls)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 201)).toHaveLength(1)
      expect(statuses.filter((status) => status === 200)).toHaveLength(7)
    })

    it('POST makes users with ids of their own', async () => {
      const [one, other] = [await newUser(service), await newUser(service)]
      expect(one).not.toBe(other)
      expect(one).toMatch(/^\/[0-9a-f-]{36}$/)
    })

    it.each([
      ['an empty object', { body: {} }],
      ['no bytes of JSON', { raw: '', headers: { 'content-type': 'application/json' } }],
    ])('PUT and POST take %s for no body', async (_what, body) => {
      const path = `/${randomUUID()}`
      expect((await call(service, { method: 'POST', ...body })).status).toBe(201)
      expect((await call(service, { method: 'PUT', path, ...body })).status).toBe(201)
    })

    it('answers are kept by no cache', async () => {
      const reply = await call(service, { method: 'GET' })
      expect(reply.headers['cache-control']).toBe('no-store')
    })

    it('GET shows what is used', async () => {
      const path = await newUser(service)
      await upload(service, { user: await signIn(path), content: Buffer.alloc(901) })
      expect(await done(service, { method: 'GET', path, status: 200 })).toMatchObject({
        capacity: { used: 901, reserved: 0, available: 99, file_count: 1, state: 'nearing' },
      })
    })

    it('GET lists users page by page, each once, in the order of their ids', async () => {
      const made: string[] = []
      for (let users = 0; users < 5; users++) made.push((await newUser(service)).slice(1))
      const all = await allPages(service, { path: '', member: 'users', limit: 2 })
      const ids = all.map(({ user_id }) => String(user_id))
      expect(ids).toEqual([...new Set(ids)].sort())
      expect(ids).toEqual(expect.arrayContaining(made))
      const whole = await done(service, { method: 'GET', path: '?limit=1000', status: 200 })
      expect(whole).toEqual({ users: all, next_cursor: null })
    })

    it('GET lists users whose ids begin so, page by page', async () => {
      const begin = `list-${randomUUID().slice(0, 8)}`
      const ids = ['', '-a', '-aa', '-b', 'a'].map((end) => begin + end)
      for (const id of ids) await done(service, { method: 'PUT', path: `/${id}`, status: 201 })
      const idsUnder = async (prefix: string): Promise<readonly unknown[]> => {
        const path = `?prefix=${prefix}`
        const all = await allPages(service, { path, member: 'users', limit: 2 })
        return all.map(({ user_id }) => user_id)
      }
      expect(await idsUnder(begin)).toEqual(ids)
      expect(await idsUnder(`${begin}-a`)).toEqual([`${begin}-a`, `${begin}-aa`])
      expect(await idsUnder(`${begin}-A`)).toEqual([])
      const whole = await done(service, { method: 'GET', path: '?limit=1000', status: 200 })
      expect(
        await done(service, { method: 'GET', path: '?prefix=&limit=1000', status: 200 }),
      ).toEqual(whole)
    })

    it('GET finds users by a part of their id, and of the id and label of a device', async () => {
      const begin = randomUUID().slice(0, 8)
      const [kitchen, cam] = [`/${begin}-b`, `/${begin}-c`]
      const put = (path: string, body = {}) => call(service, { method: 'PUT', path, body })
      for (const end of ['-a', '-b', '-c']) await put(`/${begin}${end}`)
      await put(`${kitchen}/devices/x1`, { label: `KÜCHE ${begin}` })
      await put(`${cam}/devices/cam-${begin}`)
      const find = async (contains: string, more = '') => {
        const path = `?contains=${encodeURIComponent(contains)}${more}`
        return await allPages(service, { path, member: 'users', limit: 1 })
      }
      const ids = async (contains: string) =>
        (await find(contains)).map(({ user_id }) => String(user_id))
      expect(await ids(begin.toUpperCase())).toEqual(['-a', '-b', '-c'].map((end) => begin + end))
      expect(await ids(`${begin}-b`)).toEqual([`${begin}-b`])
      const [byLabel, ...others] = await find(`küche ${begin}`)
      expect(others).toEqual([])
      const shown = await done(service, { method: 'GET', path: kitchen, status: 200 })
      const { devices: _, ...account } = shown
      const matched_device = { device_id: 'x1', label: `KÜCHE ${begin}` }
      expect(byLabel).toEqual({ ...account, matched_device })
      expect(await find(`m-${begin}`)).toMatchObject([
        { user_id: `${begin}-c`, matched_device: { device_id: `cam-${begin}`, label: null } },
      ])
      expect(await find(begin, `&prefix=${begin}-c`)).toHaveLength(1)
      expect(await find(begin, '&prefix=other-')).toEqual([])
      expect(await find('nobody has this')).toEqual([])
      const [all, unsearched] = await Promise.all([find(''), find('', '&order=user_id')])
      expect(all).toEqual(unsearched)
    })

    it.each([
      ['contains=%00', 'contains'],
      [`contains=${'a'.repeat(201)}`, 'contains'],
      ['contains=a&order=created_at', 'order'],
      ['contains=a&cursor=WzFd', 'cursor'],
      ['contains=a&prefix=%C3%BC', 'prefix'],
    ])('GET refuses %s', async (query, parameter) => {
      expectFault(await call(service, { method: 'GET', path: `?${query}` }), parameter)
    })

    it('GET lists users by their creation, page by page, of a prefix only by id', async () => {
      const made: string[] = []
      for (let users = 0; users < 5; users++) made.push((await newUser(service)).slice(1))
      const idsIn = async (order: string): Promise<readonly string[]> => {
        const list = { path: `?order=${order}`, member: 'users', limit: 2 }
        return (await allPages(service, list)).map(({ user_id }) => String(user_id))
      }
      const oldestFirst = await idsIn('created_at')
      expect(oldestFirst.filter((id) => made.includes(id))).toEqual(made)
      expect(await idsIn('-created_at')).toEqual(oldestFirst.toReversed())
      expect(await idsIn('user_id')).toEqual([...oldestFirst].sort())
      const mixed = { method: 'GET', path: '?order=created_at&prefix=a' }
      expectFault(await call(service, mixed), 'order')
      expectFault(await call(service, { method: 'GET', path: '?order=used' }), 'order')
      const { next_cursor: byId } = await done(service, {
        method: 'GET',
        path: '?limit=1',
        status: 200,
      })
      const crossed = { method: 'GET', path: `?order=created_at&cursor=${String(byId)}` }
      expectFault(await call(service, crossed), 'cursor')
    })

    it('PATCH suspends and activates, which the very next request finds', async () => {
      const path = await newUser(service)
      const user = await signIn(path)
      await upload(service, { user, name: 'open', query: '?visibility=public', content: 'a' })
      const status = async () => [
        (await upload(service, { user, content: 'b' })).status,
        (await download(service, { user, name: 'open' })).status,
        (await download(service, { owner: user.userId, name: 'open' })).status,
      ]
      const set = (status: string) =>
        done(service, { method: 'PATCH', path, body: { status }, status: 200 })
      for (let rounds = 0; rounds < 2; rounds++) {
        expect(await set('suspended')).toMatchObject({ status: 'suspended' })
        expect(await set('suspended')).toMatchObject({ status: 'suspended' })
        expect(await status()).toEqual([403, 403, 404])
        expect(await set('active')).toMatchObject({ status: 'active' })
        expect(await status()).toEqual([200, 200, 200])
      }
    })

    it('PUT leaves a suspended user suspended', async () => {
      const path = await newUser(service)
      await done(service, { method: 'PATCH', path, body: { status: 'suspended' }, status: 200 })
      const account = await done(service, { method: 'PUT', path, status: 200 })
      expect(account).toMatchObject({ status: 'suspended' })
    })

    it('DELETE ends all access at once; the sweeper purges files and rows, with progress to see', async () => {
      const path = await newUser(service)
      const user = await signIn(path)
      for (const name of ['a', 'b', 'c']) {
        await upload(service, { user, name, query: '?visibility=public', content: 'hello' })
      }
      expect((await call(service, { method: 'DELETE', path })).status).toBe(202)
      expect((await call(service, { method: 'DELETE', path })).status).toBe(202)
      expectProblem(await download(service, { owner: user.userId, name: 'a' }), NOT_FOUND)
      expect((await download(service, { user, name: 'a' })).status).toBe(403)
      expect((await upload(service, { user, content: 'd' })).status).toBe(403)

      const left = async () => await done(service, { method: 'GET', path, status: 200 })
      expect(await left()).toMatchObject({
        status: 'deleted',
        capacity: { used: 15, file_count: 3 },
      })
      const exists = await call(service, { method: 'PUT', path })
      expectProblem(exists, { status: 409, code: 'user_exists' })
      await service.ledger.purgeDeletedUsers({ limit: 2 })
      expect(await left()).toMatchObject({ capacity: { used: 5, file_count: 1 } })
      expect(await service.storedKeys(user)).toHaveLength(3)

      await expectPurged(path, user)
      const anew = await done(service, { method: 'PUT', path, status: 201 })
      expect(anew).toMatchObject({ status: 'active', capacity: EMPTY })
      expect((await download(service, { user, name: 'a' })).status).toBe(403)
    })

    async function expectPurged(path: string, user: TestUser): Promise<void> {
      await service.sweep()
      // What a sweep makes garbage, the next one removes.
      await service.sweep()
      for (const method of ['GET', 'DELETE']) {
        expectProblem(await call(service, { method, path }), NOT_FOUND)
      }
      expect(await service.storedKeys(user)).toEqual([])
    }
  })
}
