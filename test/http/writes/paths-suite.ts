import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { change, list, namesOf, pageOf, remove } from '../file-requests.ts'
import { download, expectProblem, jsonOf, MIB, type OpenService, upload } from '../fixture.ts'
import { create } from '../resumable/tus-requests.ts'

const INVALID_NAME = { status: 400, code: 'invalid_file_name' } as const

/** Folders, which names imply, and their markers. */
export function pathsSuite(open: OpenService): void {
  describe('a name that is a path', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    const put = (name: string, content = 'x') =>
      upload(service, { method: 'PUT', user, path: `/users/me/repo/${name}`, content })

    it.each(['POST', 'PUT'] as const)(
      'is the same with a slash as with its code, by %s',
      async (method) => {
        const send = (path: string, content: string) =>
          upload(service, { method, user, path: `/users/me/repo/${path}`, content })
        await send('photos/2026/a.jpg', 'old')
        expect(jsonOf(await send('photos%2F2026%2fa.jpg', 'new'))).toMatchObject({
          name: 'photos/2026/a.jpg',
          replaced: true,
        })
        for (const path of ['photos/2026/a.jpg', 'photos%2F2026/a%2Ejpg']) {
          const owner = user.userId
          const found = await download(service, { user, path: `/users/${owner}/repo/${path}` })
          expect(found.body.toString()).toBe('new')
          expect(found.headers['content-disposition']).toContain('filename="a.jpg"')
        }
        expect((await remove(service, { user, name: 'photos/2026/a.jpg' })).status).toBe(204)
      },
    )

    it('is listed by folder, with the marker of the folder itself', async () => {
      for (const name of ['a', 'a/1', 'a/b/2', 'a/b/c/3', 'ab']) await put(name)
      await put('a/', '')
      const page = pageOf(await list(service, { user, query: { prefix: 'a/', delimiter: '/' } }))
      expect(page.files.map(({ name }) => name)).toEqual(['a/', 'a/1'])
      expect(page).toMatchObject({ prefixes: ['a/b/'] })
    })

    it('can be that of a marker, which is a file without content', async () => {
      const { status, body } = await put('photos/', '')
      expect([status, JSON.parse(body.toString())]).toMatchObject([
        200,
        { name: 'photos/', size: 0 },
      ])
      expect(await namesOf(service, { user })).toEqual(['photos/'])
      const found = await download(service, { user, path: '/users/me/repo/photos/' })
      expect([found.status, found.body.length]).toEqual([200, 0])
      expect(found.headers['content-disposition']).toContain('filename="photos"')
      const renamed = await change(service, { user, name: 'photos/', body: { name: 'films/' } })
      expect(jsonOf(renamed)).toMatchObject({ name: 'films/' })
      expect((await remove(service, { user, name: 'films/' })).status).toBe(204)
    })

    it.each([
      ['PUT', false],
      ['PUT', true],
      ['POST', false],
      ['POST', true],
    ] as const)(
      'is refused to a marker with content, by %s, chunked: %j',
      async (method, chunked) => {
        for (const content of ['x', 'x'.repeat(300_000)]) {
          const sent = { method, user, path: '/users/me/repo/a/', content, chunked }
          expectProblem(await upload(service, { ...sent }), INVALID_NAME)
        }
        expect(await service.storedKeys(user)).toEqual([])
        expect(await namesOf(service, { user })).toEqual([])
      },
    )

    it('is refused to content by a rename and by tus, of a length that is known or not', async () => {
      await put('file')
      const refused = await change(service, { user, name: 'file', body: { name: 'folder/' } })
      expectProblem(refused, INVALID_NAME)
      for (const length of [1, 'deferred']) {
        const created = await create(service, { user, name: 'folder/', length, body: 'x' })
        expectProblem(created, INVALID_NAME)
      }
      expect(await namesOf(service, { user })).toEqual(['file'])
    })
  })
}
