import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_BYTES } from '../../../src/core/byte-size.ts'
import { download, expectProblem, jsonOf, type OpenService, upload } from '../fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, allPages, type Call, call, done, newCookie, newUser } from './fixture.ts'

const TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Access tokens, devices and grants of the admin API, and the capacity that their user sees. */
export function adminGrantsSuite(open: OpenService): void {
  describe('admin: access tokens, devices and grants', () => {
    let service: TestService
    let path: string
    let user: TestUser
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      path = await newUser(service)
      const cookie = await newCookie(service, path)
      user = { userId: path.slice(1) as TestUser['userId'], cookie }
    })

    const make = (what: Call & { status: number }) =>
      done(service, { ...what, path: `${path}${what.path ?? ''}` })
    const put = (below: string, body?: unknown) =>
      call(service, { method: 'PUT', path: `${path}${below}`, body })
    const drop = (below: string) => make({ method: 'DELETE', path: below, status: 204 })

    async function capacity(): Promise<Record<string, unknown>> {
      const reply = await download(service, { user, path: '/users/me/capacity' })
      expect({ status: reply.status, cache: reply.headers['cache-control'] }).toEqual({
        status: 200,
        cache: 'no-store',
      })
      const report = jsonOf(reply)
      const bytes = (report['grants'] as { bytes: number }[]).map((grant) => BigInt(grant.bytes))
      const sum = bytes.reduce((total, each) => total + each, 0n)
      expect(report['capacity']).toBe(Number(sum > MAX_BYTES ? BigInt(MAX_BYTES) : sum))
      return report
    }

    describe('access tokens', () => {
      const list = '/access-tokens'

      it('are issued with their terms, shown once, and work', async () => {
        const body = { label: 'phone ☎', expires_in: 60 }
        const issued = await make({ method: 'POST', path: list, body, status: 201 })
        expect(issued).toEqual({
          token_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
          access_token: expect.stringMatching(/^crt_[\w-]{43}$/) as string,
          label: 'phone ☎',
          scope: null,
          created_at: TIME,
          expires_at: TIME,
        })
        const lifetime =
          Date.parse(String(issued['expires_at'])) - Date.parse(String(issued['created_at']))
        expect(lifetime).toBe(60_000)
        const cookie = `access_token=${String(issued['access_token'])}`
        expect((await upload(service, { user: { ...user, cookie }, content: 'a' })).status).toBe(
          200,
        )
        const { access_tokens } = await make({ method: 'GET', path: list, status: 200 })
        expect(access_tokens).toMatchObject([{ label: '' }, { label: 'phone ☎', revoked_at: null }])
        expect(JSON.stringify(access_tokens)).not.toContain('crt_')
      })

      it('tokens without terms have no label and no end', async () => {
        const issued = await make({ method: 'POST', path: list, status: 201 })
        expect(issued).toMatchObject({ label: '', expires_at: null })
      })

      it('are revoked, as often as is asked, and then let nobody in', async () => {
        const { access_tokens } = await make({ method: 'GET', path: list, status: 200 })
        const [{ token_id } = { token_id: '' }] = access_tokens as { token_id: string }[]
        await drop(`${list}/${token_id}`)
        await drop(`${list}/${token_id}`)
        expect((await upload(service, { user, content: 'a' })).status).toBe(403)
        const after = await make({ method: 'GET', path: list, status: 200 })
        expect(after['access_tokens']).toMatchObject([{ token_id, revoked_at: TIME }])
      })

      it('tokens that the user never had are not found', async () => {
        const other = await newUser(service)
        const { token_id } = await make({ method: 'POST', path: list, status: 201 })
        for (const unknown of [`${path}${list}/unknown`, `${other}${list}/${String(token_id)}`]) {
          const reply = await call(service, { method: 'DELETE', path: unknown })
          expectProblem(reply, { status: 404, code: 'not_found' })
        }
      })

      it('are listed page by page, oldest first', async () => {
        for (const label of ['a', 'b', 'c', 'd']) {
          await make({ method: 'POST', path: list, body: { label }, status: 201 })
        }
        const all = await allPages(service, {
          path: path + list,
          member: 'access_tokens',
          limit: 2,
        })
        const times = all.map(({ created_at }) => String(created_at))
        expect(times).toEqual([...times].sort())
        expect(all.map(({ label }) => String(label)).sort()).toEqual(['', 'a', 'b', 'c', 'd'])
      })
    })

    describe('devices', () => {
      it('join with 201, are there with 200 and their last terms, and count once', async () => {
        const joined = await put('/devices/cam-1', { model: 'camera' })
        expect(joined.status).toBe(201)
        const terms = { label: null, model: 'camera', bytes: 200, share: 'all' }
        const cam = { device_id: 'cam-1', ...terms, created_at: TIME }
        expect(jsonOf(joined)).toEqual(cam)
        const replayed = await put('/devices/cam-1', { model: 'camera' })
        expect([replayed.status, jsonOf(replayed)]).toEqual([200, jsonOf(joined)])
        expect(jsonOf(await put('/devices/cam-1', { model: 'camera', bytes: 7 }))).toMatchObject({
          bytes: 7,
        })
        expect(await capacity()).toMatchObject({ capacity: 1007 })
        const { devices } = await make({ method: 'GET', path: '/devices', status: 200 })
        expect(devices).toEqual([{ ...cam, bytes: 7 }])
      })

      it.each(['all', 'own', 0, MAX_BYTES])('have a label and the share %s', async (share) => {
        const terms = { label: 'Front door ☎', share }
        const joined = await put('/devices/cam', terms)
        expect(jsonOf(joined)).toMatchObject(terms)
        const { devices } = await make({ method: 'GET', path: '/devices', status: 200 })
        expect(devices).toEqual([jsonOf(joined)])
        expect(jsonOf(await put('/devices/cam', { label: null }))).toMatchObject({
          label: null,
          share: 'all',
        })
        const { grants } = await make({ method: 'GET', path: '/grants', status: 200 })
        expect(grants).toEqual([
          {
            source: 'device',
            reference: 'cam',
            bytes: 100,
            starts_at: null,
            ends_at: null,
            created_at: TIME,
          },
        ])
      })

      it('join at once many times and are made once', async () => {
        const replies = await Promise.all(Array.from({ length: 8 }, () => put('/devices/cam')))
        expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
        expect(replies.filter(({ status }) => status === 200)).toHaveLength(7)
        expect(await capacity()).toMatchObject({ capacity: 1100 })
      })

      it('leave with 204, also twice and when they never were, and are new when they come back', async () => {
        await put('/devices/cam')
        for (const id of ['cam', 'cam', 'never']) await drop(`/devices/${id}`)
        expect(await capacity()).toMatchObject({ capacity: 1000 })
        expect((await put('/devices/cam')).status).toBe(201)
      })

      it('have ids of which the path is decoded once', async () => {
        expect((await put('/devices/urn%3Adev%3A1')).status).toBe(201)
        const { devices } = await make({ method: 'GET', path: '/devices', status: 200 })
        expect(devices).toMatchObject([{ device_id: 'urn:dev:1', model: null, bytes: 100 }])
        expect((await put('/devices/a%2541')).status).toBe(400)
      })

      it('are listed page by page', async () => {
        const ids = ['a', 'b', 'c', 'd', 'e']
        for (const id of ids) await put(`/devices/${id}`)
        const list = { path: `${path}/devices`, member: 'devices', limit: 2 }
        expect((await allPages(service, list)).map(({ device_id }) => device_id)).toEqual(ids)
      })
    })

    describe('grants', () => {
      const grant = '/grants/promotion/spring'

      it('are put with 201, then 200, with their last terms', async () => {
        const period = { starts_at: '2026-01-01T00:00:00Z', ends_at: '2099-01-01T01:00:00+01:00' }
        const first = await put(grant, { bytes: 50, ...period })
        expect([first.status, jsonOf(first)]).toEqual([
          201,
          {
            source: 'promotion',
            reference: 'spring',
            bytes: 50,
            starts_at: '2026-01-01T00:00:00.000Z',
            ends_at: '2099-01-01T00:00:00.000Z',
            created_at: TIME,
          },
        ])
        const second = await put(grant, { bytes: 30 })
        expect(second.status).toBe(200)
        expect(jsonOf(second)).toMatchObject({ bytes: 30, starts_at: null, ends_at: null })
        expect(await capacity()).toMatchObject({ capacity: 1030 })
      })

      it('are revoked with 204, also twice, and are new when they come back', async () => {
        await put(grant, { bytes: 50 })
        for (const _ of [1, 2]) await drop(grant)
        expect(await capacity()).toMatchObject({ capacity: 1000 })
        expect((await put(grant, { bytes: 50 })).status).toBe(201)
      })

      it('are listed page by page, devices included', async () => {
        await put('/devices/cam', { model: 'camera' })
        for (const key of ['a/1', 'a/2', 'z/1']) await put(`/grants/${key}`, { bytes: 1 })
        const list = { path: `${path}/grants`, member: 'grants', limit: 2 }
        const all = await allPages(service, list)
        const keys = all.map(({ source, reference }) => `${String(source)}/${String(reference)}`)
        expect(keys).toEqual(['a/1', 'a/2', 'device/cam', 'z/1'])
        expect(all[2]).toMatchObject({ model: 'camera' })
        expect(all[0]).not.toHaveProperty('model')
      })

      it('do not touch the base or a device by the name of its source', async () => {
        await put('/devices/cam')
        for (const [method, source] of [
          ['PUT', 'base'],
          ['PUT', 'device'],
          ['DELETE', 'device'],
          ['DELETE', 'base'],
        ] as const) {
          const body = method === 'PUT' ? { body: { bytes: 5 } } : {}
          const what = { method, path: `${path}/grants/${source}/cam`, ...body }
          const reply = await call(service, what)
          const problem = expectProblem(reply, { status: 400, code: 'invalid_parameter' })
          expect(problem['parameter']).toBe('source')
        }
        expect(await capacity()).toMatchObject({ capacity: 1100 })
      })
    })

    describe('GET /users/me/capacity', () => {
      it('shows the figures and the grants in force that make them, the base first', async () => {
        const always = { starts_at: null, ends_at: null }
        await put('/devices/cam', { model: 'camera' })
        await put('/grants/promotion/spring', { bytes: 50, starts_at: '2026-01-01T00:00:00Z' })
        await put('/grants/promotion/later', { bytes: 50, starts_at: '2098-01-01T00:00:00Z' })
        await put('/grants/promotion/over', { bytes: 50, ends_at: '2025-01-01T00:00:00Z' })
        await upload(service, { user, content: Buffer.alloc(300) })
        expect(await capacity()).toEqual({
          user_id: user.userId,
          capacity: 1250,
          used: 300,
          reserved: 0,
          available: 950,
          file_count: 1,
          max_files: 1000,
          unfinished_uploads: { count: 0, bytes: 0 },
          history: { used: 0, allowance: 0, count: 0, oldest_at: null },
          state: 'normal',
          grants: [
            { source: 'base', reference: 'base', bytes: 1000, ...always },
            { source: 'device', reference: 'cam', bytes: 200, model: 'camera', ...always },
            {
              source: 'promotion',
              reference: 'spring',
              bytes: 50,
              starts_at: '2026-01-01T00:00:00.000Z',
              ends_at: null,
            },
          ],
          devices: [
            {
              device_id: 'cam',
              label: null,
              model: 'camera',
              bytes: 200,
              share: 'all',
              used: 0,
              reserved: 0,
              file_count: 0,
              newest_at: null,
            },
          ],
        })
      })
    })
  })
}
