import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { download, expectProblem, type OpenService } from '../fixture.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, call, done, newCookie, newUser } from './fixture.ts'
import { beginUpload } from '../../support/http/tus-client.ts'

const TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const UNKNOWN = '019ab1c2-7d3e-7c41-9a55-0f6d1b2c3d4e'

/** The unfinished uploads of a user, as operators list and cancel them. */
export function adminUploadsSuite(open: OpenService): void {
  describe('admin: unfinished uploads', () => {
    let service: TestService
    let path: string
    let cookie: string
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      path = await newUser(service)
      cookie = await newCookie(service, path)
    })

    const begin = (name: string, length: number, content?: string) =>
      beginUpload(service, { cookie, name, length, ...(content !== undefined && { content }) })
    const list = async (): Promise<unknown> =>
      (await done(service, { method: 'GET', path: `${path}/uploads`, status: 200 }))['uploads']
    const cancel = (id: string) =>
      call(service, { method: 'DELETE', path: `${path}/uploads/${id}` })

    async function reserved(): Promise<unknown> {
      const { capacity } = await done(service, { method: 'GET', path, status: 200 })
      return (capacity as { reserved: number }).reserved
    }

    async function offsetOf(id: string) {
      const headers = { cookie, 'tus-resumable': '1.0.0' }
      const url = `${service.url}/users/me/uploads/${id}`
      const { status, headers: answer } = await fetch(url, { method: 'HEAD', headers })
      return { status, offset: answer.get('upload-offset') }
    }

    it('are listed oldest first, without those that are finished', async () => {
      const first = await begin('film.mov', 10, 'hello')
      const second = await begin('b', 20)
      await begin('c', 2, 'ok')
      const common = {
        state: 'open',
        refusal: null,
        created_at: TIME,
        updated_at: TIME,
        expires_at: TIME,
      }
      expect(await list()).toEqual([
        { upload_id: first, name: 'film.mov', offset: 5, length: 10, ...common },
        { upload_id: second, name: 'b', offset: 0, length: 20, ...common },
      ])
    })

    it('are those of this user alone, and still of one who is suspended', async () => {
      const id = await begin('a', 10, 'hello')
      const other = await newUser(service)
      const empty = { method: 'GET', path: `${other}/uploads`, status: 200 }
      expect(await done(service, empty)).toEqual({ uploads: [], next_cursor: null })
      expectProblem(await call(service, { method: 'DELETE', path: `${other}/uploads/${id}` }), {
        status: 404,
        code: 'not_found',
      })
      await call(service, { method: 'PATCH', path, body: { status: 'suspended' } })
      expect(await list()).toMatchObject([{ upload_id: id, offset: 5 }])
      expect((await cancel(id)).status).toBe(204)
      expect(await list()).toEqual([])
    })

    it('are cancelled as often as is asked, which frees what they have reserved', async () => {
      const id = await begin('a', 1000, 'hello')
      const kept = await offsetOf(id)
      expect(kept).toEqual({ status: 200, offset: '5' })
      expect(await reserved()).toBe(1000)
      for (let times = 0; times < 2; times += 1) expect((await cancel(id)).status).toBe(204)
      expect(await reserved()).toBe(0)
      expect(await list()).toEqual([])
      expect((await offsetOf(id)).status).toBe(410)
      await service.sweep()
      const user = { userId: path.slice(1), cookie } as TestUser
      // A store can keep what is a piece of the content for a while, under another key.
      expect((await service.storedKeys(user)).filter((key) => key.endsWith(id))).toEqual([])
    })

    it('are not cancelled once they are files', async () => {
      const id = await begin('a', 2, 'ok')
      const problem = expectProblem(await cancel(id), {
        status: 410,
        code: 'upload_gone',
        more: ['outcome'],
      })
      expect(problem['outcome']).toBe('finished')
      const user = { userId: path.slice(1), cookie } as TestUser
      const reply = await download(service, { user, path: '/users/me/repo/a' })
      expect({ status: reply.status, body: reply.body.toString() }).toEqual({
        status: 200,
        body: 'ok',
      })
    })

    it('are not found under an id that was never one', async () => {
      expectProblem(await cancel(UNKNOWN), { status: 404, code: 'not_found' })
    })
  })
}
