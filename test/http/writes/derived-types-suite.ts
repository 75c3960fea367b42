import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ask, download, jsonOf, MIB, type OpenService, pathOf, secretOf } from '../fixture.ts'
import { createLink, visit } from '../links/link-requests.ts'
import * as tus from '../resumable/tus-requests.ts'

/** The media types of files whose uploads state none. */
export function derivedTypesSuite(open: OpenService): void {
  describe('a file whose upload states no media type', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({})
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    const put = (name: string, headers: Readonly<Record<string, string>> = {}) =>
      ask(service, { user, method: 'PUT', path: pathOf(name), headers, body: 'x' })
    const patch = (name: string, body: object) =>
      ask(service, {
        user,
        method: 'PATCH',
        path: pathOf(name),
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
    const listed = async () => {
      const { files } = jsonOf(await ask(service, { user, path: '/users/me/repo' }))
      const found = files as readonly { readonly name: string; readonly media_type: string }[]
      return Object.fromEntries(found.map(({ name, media_type }) => [name, media_type]))
    }

    it.each([
      ['nothing', {}],
      ['what every program sends', { 'Content-Type': 'application/octet-stream' }],
      ['what curl --data-binary sends', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      ['what axios sends', { 'Content-Type': 'application/x-www-form-urlencoded;charset=utf-8' }],
      ['nonsense', { 'Content-Type': 'jpeg' }],
    ])('a file sent as a body with %s as its type has that of its name', async (_what, headers) => {
      expect(jsonOf(await put('a.jpg', headers))).toMatchObject({ media_type: 'image/jpeg' })
      await put('b', headers)
      await put('c.unknown', headers)
      const other = 'application/octet-stream'
      expect(await listed()).toEqual({ 'a.jpg': 'image/jpeg', b: other, 'c.unknown': other })
    })

    it.each(['', '\r\nContent-Type: application/octet-stream'])(
      'a file sent in a form with the part head %j has the type of its name in the path',
      async (type) => {
        const head = `Content-Disposition: form-data; name="file"; filename="b.png"${type}`
        const reply = await ask(service, {
          user,
          method: 'POST',
          path: pathOf('a.jpg'),
          headers: { 'Content-Type': 'multipart/form-data; boundary=X' },
          body: `--X\r\n${head}\r\n\r\nx\r\n--X--`,
        })
        expect(jsonOf(reply)).toMatchObject({ media_type: 'image/jpeg' })
      },
    )

    it('a file sent with tus has the type of its name', async () => {
      for (const metadata of ['', `,filetype ${tus.base64('application/octet-stream')}`]) {
        const named = `filename ${tus.base64('a.jpg')}${metadata}`
        await tus.createUpload(service, { user, name: 'a.jpg', length: 0, metadata: named })
        expect(await listed()).toEqual({ 'a.jpg': 'image/jpeg' })
      }
    })

    it('a file that a visitor drops has the type of its name, however it is sent', async () => {
      const token = secretOf(user)
      const { secret } = await createLink(service, { token, kind: 'drop', prefix: 'in/' })
      const form = new FormData()
      form.append('file', new Blob(['x']))
      const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const tusHeaders = {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '0',
        'Upload-Metadata': `filename ${tus.base64('c.jpg')}`,
      }
      await visit(service, { secret, path: '/a.jpg', method: 'PUT', headers: type, body: 'x' })
      await visit(service, { secret, path: '/b.jpg', method: 'POST', body: form })
      await visit(service, { secret, path: '/uploads/', method: 'POST', headers: tusHeaders })
      const jpeg = 'image/jpeg'
      expect(await listed()).toEqual({ 'in/a.jpg': jpeg, 'in/b.jpg': jpeg, 'in/c.jpg': jpeg })
    })

    it('has the type that is stated, any but these', async () => {
      await put('a.jpg', { 'Content-Type': 'text/x-log' })
      await put('b.jpg', { 'Content-Type': 'binary/octet-stream' })
      await patch('a.jpg', { name: 'a.png' })
      expect(await listed()).toEqual({ 'a.png': 'text/x-log', 'b.jpg': 'binary/octet-stream' })
    })

    it('has another one after a rename, unless one is set', async () => {
      await put('a.jpg')
      const renamed = await patch('a.jpg', { name: 'a.txt' })
      expect(jsonOf(renamed)).toMatchObject({ media_type: 'text/plain' })
      const set = await patch('a.txt', { media_type: 'application/octet-stream' })
      expect(jsonOf(set)).toMatchObject({ media_type: 'application/octet-stream' })
      await patch('a.txt', { name: 'a.jpg' })
      expect(await listed()).toEqual({ 'a.jpg': 'application/octet-stream' })
    })

    it('is shown to visitors and in place as its type says, and downloaded as before', async () => {
      await put('a.jpg')
      await put('a.svg')
      const { secret } = await createLink(service, {
        token: secretOf(user),
        kind: 'download',
        prefix: '',
      })
      expect(await (await visit(service, { secret })).json()).toMatchObject({
        files: [{ media_type: 'image/jpeg' }, { media_type: 'image/svg+xml' }],
      })
      const typeOf = async (name: string, query: string) =>
        (await download(service, { user, path: pathOf(name) + query })).headers['content-type']
      expect(await typeOf('a.jpg', '?inline=true')).toBe('image/jpeg')
      expect(await typeOf('a.svg', '?inline=true')).toBe('application/octet-stream')
      expect(await typeOf('a.jpg', '')).toBe('application/octet-stream')
    })
  })
}
