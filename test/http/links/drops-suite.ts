import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { commitUnsent } from '../file-requests.ts'
import {
  download,
  expectProblem,
  FORM_TYPE,
  MIB,
  type OpenService,
  pauseUpload,
  secretOf,
  upload,
  usageOf,
} from '../fixture.ts'
import { base64, OFFSET_TYPE, TUS } from '../resumable/tus-requests.ts'
import { problemOf, send } from '../scopes/scoped-requests.ts'
import { basic, createLink, JSON_TYPE, type Made, visit } from './link-requests.ts'

const LINKS = '/users/me/links'

export function dropsSuite(open: OpenService): void {
  describe('a link that takes files', () => {
    let service: TestService
    let user: TestUser
    let token: string
    beforeAll(async () => {
      service = await open({ maxFileSize: MIB })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(100_000)
      token = secretOf(user)
    })

    const make = (terms = {}): Promise<Made> =>
      createLink(service, { token, kind: 'drop', prefix: 'in-', ...terms })
    const drop = (secret: string, { path = '/f', body = 'content', headers = {} } = {}) =>
      visit(service, { secret, path, method: 'PUT', body, headers })
    const refusal = async (response: Promise<Response>) => await problemOf(await response)
    const stored = async (name: string) => {
      const { status, body } = await download(service, { user, name })
      return status === 200 ? body.toString() : status
    }
    const file = (name: string) =>
      service.ledger.findFile({ userId: user.userId, name: parseFileName(name), audience: 'owner' })
    const sha256 = 'ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73'
    const gone = { status: 404, code: 'not_found' }

    it('takes bodies and forms, and answers without a figure of the owner', async () => {
      const { secret } = await make()
      const answer = await drop(secret)
      expect([answer.status, await answer.json()]).toEqual([200, { name: 'f', size: 7, sha256 }])
      const form = await visit(service, {
        secret,
        path: '/g?visibility=public',
        method: 'POST',
        headers: { 'Content-Type': FORM_TYPE },
        body: fileBody('content'),
      })
      expect([form.status, await form.json()]).toEqual([200, { name: 'g', size: 7, sha256 }])
      expect([await stored('in-f'), await stored('in-g')]).toEqual(['content', 'content'])
      expect(await file('in-g')).toMatchObject({ visibility: 'private' })
      expect(await usageOf(service, user)).toMatchObject({ used: 14, reserved: 0, fileCount: 2 })
    })

    it('takes files named like its uploads', async () => {
      const { secret } = await make()
      const headers = { 'Content-Type': FORM_TYPE }
      const form = { secret, path: '/uploads', method: 'POST', headers, body: fileBody('form') }
      expect(await refusal(visit(service, form))).toBeUndefined()
      expect(await stored('in-uploads')).toBe('form')
      const { secret: other } = await make({ prefix: 'other-' })
      expect(await refusal(drop(other, { path: '/uploads' }))).toBeUndefined()
      expect(await stored('other-uploads')).toBe('content')
    })

    it('never replaces a file, shows none, and gives none', async () => {
      await upload(service, { user, name: 'in-f', content: 'old' })
      const { secret } = await make()
      for (const headers of [{}, { 'If-Match': '*' }, { 'If-None-Match': '"x"' }]) {
        expect(await refusal(drop(secret, { headers }))).toMatchObject({
          status: 409,
          code: 'file_exists',
        })
      }
      expect(await stored('in-f')).toBe('old')
      const seen = (await (await visit(service, { secret })).json()) as object
      expect(seen).toMatchObject({ kind: 'drop', files: [] })
      expect(await refusal(visit(service, { secret, path: '/f' }))).toMatchObject(gone)
    })

    it('refuses what does not fit, without figures', async () => {
      const { secret } = await make()
      const problem = await refusal(drop(secret, { body: 'x'.repeat(100_001) }))
      expect(problem).toEqual({
        type: 'urn:cloud-repository:problem:capacity_exceeded',
        title: 'Forbidden',
        status: 403,
        detail: 'There is no room for this file.',
        code: 'capacity_exceeded',
      })
      const long = await refusal(drop(secret, { path: `/${'x'.repeat(253)}` }))
      expect(long).toMatchObject({ status: 400, code: 'invalid_file_name' })
      const digest = `sha-256=:${Buffer.alloc(32).toString('base64')}:`
      expect(await refusal(drop(secret, { headers: { 'Repr-Digest': digest } }))).toMatchObject({
        code: 'digest_mismatch',
      })
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 0 })
    })

    it('stores no part of a file as the whole file', async () => {
      const { secret } = await make()
      const part = { 'Upload-Complete': '?0' }
      expect(await refusal(drop(secret, { headers: part }))).toMatchObject({ status: 400 })
      expect(await refusal(drop(secret, { headers: { 'Upload-Complete': '?1' } }))).toBeUndefined()
    })

    it('leaves its owner places for uploads', async () => {
      const { secret } = await make({ max_uses: 1 })
      const path = `/links/${secret}/slow`
      const content = Buffer.alloc(80_000)
      const paused = await pauseUpload(service, { user, method: 'PUT', path, content })
      const busy = { status: 429, code: 'too_many_requests' }
      expect(await refusal(drop(secret))).toMatchObject(busy)
      paused.resume()
      expect((await paused.reply).status).toBe(200)
      expect(await refusal(drop(secret))).toMatchObject(gone)
    })

    it('counts finished drops alone', async () => {
      const { secret } = await make({ max_uses: 2 })
      expect(await refusal(drop(secret, { body: 'x'.repeat(100_001) }))).toMatchObject({
        status: 403,
      })
      expect(await refusal(drop(secret))).toBeUndefined()
      expect(await refusal(drop(secret))).toMatchObject({ status: 409 })
      expect(await refusal(drop(secret, { path: '/g' }))).toBeUndefined()
      expect(await refusal(drop(secret, { path: '/h' }))).toMatchObject(gone)
      expect(await usageOf(service, user)).toMatchObject({ used: 14, reserved: 0 })
    })

    it('ends a drop that is on its way when it is revoked, or its owner suspended', async () => {
      for (const end of [
        (id: string) => send(service, { method: 'DELETE', path: `${LINKS}/${id}`, token }),
        () => service.users.setUserStatus(user.userId, 'suspended'),
      ]) {
        const { secret, link_id: id } = await make()
        const path = `/links/${secret}/slow`
        const paused = await pauseUpload(service, {
          user,
          method: 'PUT',
          path,
          content: Buffer.alloc(80_000),
        })
        await end(id)
        paused.resume()
        expectProblem(await paused.reply, { status: 404, code: 'not_found' })
        expect(await file('in-slow')).toBeUndefined()
      }
    })

    describe('by tus', () => {
      const filename = (name: string) => `filename ${base64(name)},visibility ${base64('public')}`
      const create = (
        secret: string,
        {
          name = 'f',
          length = 7,
          ...init
        }: { name?: string; length?: number; headers?: object; body?: string } = {},
      ) =>
        visit(service, {
          secret,
          path: '/uploads/',
          method: 'POST',
          ...init,
          headers: {
            ...TUS,
            'Upload-Metadata': filename(name),
            'Upload-Length': `${length}`,
            ...init.headers,
          },
        })
      const pathOf = (response: Response, secret: string) => {
        const location = response.headers.get('location') ?? ''
        expect(location).toMatch(new RegExp(`^/links/${secret}/uploads/[0-9a-f-]{36}$`))
        return location.slice(`/links/${secret}`.length)
      }
      const append = (secret: string, path: string, [offset, body]: [number, string]) =>
        visit(service, {
          secret,
          path,
          method: 'PATCH',
          body,
          headers: { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': `${offset}` },
        })

      it('takes a file in parts', async () => {
        const { secret } = await make({ max_uses: 1 })
        const created = await create(secret)
        expect(created.status).toBe(201)
        const path = pathOf(created, secret)
        const first = await append(secret, path, [0, 'con'])
        expect([first.status, first.headers.get('upload-offset')]).toEqual([204, '3'])
        const head = await visit(service, { secret, path, method: 'HEAD', headers: TUS })
        expect(head.headers.get('upload-offset')).toBe('3')
        expect(
          Buffer.from(
            (head.headers.get('upload-metadata') ?? '').split(/[ ,]/)[1] ?? '',
            'base64',
          ).toString(),
        ).toBe('f')
        expect((await append(secret, path, [3, 'tent'])).status).toBe(204)
        expect(await stored('in-f')).toBe('content')
        expect(await file('in-f')).toMatchObject({ visibility: 'private' })
        expect(await refusal(create(secret, { name: 'g' }))).toMatchObject(gone)
      })

      it('takes one with its creation, and an empty one', async () => {
        const { secret } = await make()
        const whole = await create(secret, { headers: OFFSET_TYPE, body: 'content' })
        expect([whole.status, whole.headers.get('upload-offset')]).toEqual([201, '7'])
        expect(await refusal(create(secret, { name: 'empty', length: 0 }))).toBeUndefined()
        expect([await stored('in-f'), await stored('in-empty')]).toEqual(['content', ''])
      })

      it('refuses as a body does', async () => {
        const { secret } = await make()
        const problem = await refusal(create(secret, { length: 100_001 }))
        expect(problem).toMatchObject({ status: 403, code: 'capacity_exceeded' })
        expect(problem).not.toHaveProperty('capacity')
        await upload(service, { user, name: 'in-f', content: 'old' })
        expect(await refusal(create(secret))).toMatchObject({ status: 409, code: 'file_exists' })
      })

      it('leaves its owner room for garbage', async () => {
        const size = 40 * MIB
        const owner = await service.createUser(size)
        const { secret } = await createLink(service, {
          token: secretOf(owner),
          kind: 'drop',
          prefix: '',
        })
        const replace = (bytes: number) => commitUnsent(service, owner, { name: 'a', size: bytes })
        await replace(size - 5000)
        await replace(0)
        expect(await refusal(drop(secret, { path: '/b' }))).toBeUndefined()
        const path = pathOf(await create(secret), secret)
        await replace(size / 2)
        await replace(0)
        const busy = { status: 429, code: 'too_many_requests', retry_after: 60 }
        expect(await refusal(drop(secret, { path: '/c' }))).toMatchObject(busy)
        expect(await refusal(append(secret, path, [0, 'content']))).toMatchObject(busy)
        await upload(service, { user: owner, name: 'c', content: 'own' })
      })

      it('leaves its owner unfinished uploads, however many links there are', async () => {
        const links = await Promise.all([make(), make()])
        for (let count = 0; count < 25; count += 1) {
          for (const { secret } of links) {
            const problem = await refusal(create(secret, { name: `${count}`, length: 1 }))
            expect(problem).toBeUndefined()
          }
        }
        for (const { secret } of links) {
          expect(await refusal(create(secret, { length: 1 }))).toMatchObject({ status: 429 })
        }
      })

      it('has as many unfinished ones as it has uses, at most', async () => {
        const { secret } = await make({ max_uses: 1 })
        const path = pathOf(await create(secret), secret)
        expect(await refusal(create(secret, { name: 'g' }))).toMatchObject({ status: 429 })
        const whole = await append(secret, path, [0, 'content'])
        expect(whole.status).toBe(204)
        // For a client that has not got the answer.
        const again = await visit(service, { secret, path, method: 'HEAD', headers: TUS })
        expect([again.status, again.headers.get('upload-offset')]).toEqual([200, '7'])
      })

      it('releases what unfinished ones have reserved once the link has ended', async () => {
        const { secret, link_id: id } = await make()
        const path = pathOf(await create(secret, { length: 80_000 }), secret)
        await append(secret, path, [0, 'x'.repeat(40_000)])
        await service.sweep()
        expect((await usageOf(service, user)).reserved).toBeGreaterThanOrEqual(40_000)
        await send(service, { method: 'DELETE', path: `${LINKS}/${id}`, token })
        await service.sweep()
        expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
        const left = await send(service, { path: '/users/me/uploads', token })
        expect(await left.json()).toMatchObject({ uploads: [] })
      })

      it('ignores what of its metadata is for the owner alone', async () => {
        const { secret } = await make()
        const metadata = `filename ${base64('f')},visibility ${base64('nonsense')}`
        const headers = { 'Upload-Metadata': metadata, 'Upload-Length': '0' }
        expect(await refusal(create(secret, { headers }))).toBeUndefined()
      })

      it('is continued by its link alone', async () => {
        const { secret } = await make()
        const { secret: other } = await make()
        const path = pathOf(await create(secret), secret)
        const tus = { headers: TUS, token }
        const own = await send(service, {
          ...tus,
          method: 'POST',
          path: '/users/me/uploads',
          headers: { ...TUS, 'Upload-Metadata': filename('in-own'), 'Upload-Length': '7' },
        })
        const ownPath = `/uploads/${(own.headers.get('location') ?? '').split('/').at(-1)}`
        for (const [by, at] of [
          [other, path],
          [secret, ownPath],
        ] as const) {
          expect(await refusal(append(by, at, [0, 'x']))).toMatchObject(gone)
          const removed = visit(service, { secret: by, path: at, method: 'DELETE', headers: TUS })
          expect(await refusal(removed)).toMatchObject(gone)
        }
        await append(secret, path, [0, 'con'])
        await send(service, {
          ...tus,
          method: 'PATCH',
          path: `/users/me${ownPath}`,
          headers: { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': '0' },
          body: 'x',
        })
        await send(service, { ...tus, method: 'DELETE', path: `/users/me${ownPath}` })
        expect(await refusal(append(secret, ownPath, [1, 'x']))).toMatchObject(gone)
        const removed = visit(service, { secret, path, method: 'DELETE', headers: TUS })
        expect(await refusal(removed)).toBeUndefined()
      })
    })
  })

  describe('a link under a base path', () => {
    it('has it in its address, in its cookie and in the paths of its uploads', async () => {
      const service = await open({ basePath: '/api' })
      try {
        const at = { ...service, url: `${service.url}/api` }
        const token = secretOf(await service.createUser(MIB))
        const { secret, url } = await createLink(at, {
          token,
          kind: 'drop',
          prefix: '',
          password: 'p',
        })
        expect(url).toBe(`${at.url}/links/${secret}`)
        const opened = await visit(at, {
          secret,
          method: 'POST',
          headers: JSON_TYPE,
          body: '{"password":"p"}',
        })
        expect(opened.headers.getSetCookie()[0]).toContain(`; Path=/api/links/${secret};`)
        const headers = {
          ...TUS,
          ...basic('p'),
          'Upload-Metadata': `filename ${base64('f')}`,
          'Upload-Length': '1',
        }
        const created = await visit(at, { secret, path: '/uploads/', method: 'POST', headers })
        expect(created.headers.get('location')).toMatch(
          new RegExp(`^/api/links/${secret}/uploads/`),
        )
      } finally {
        await service.stop()
      }
    })
  })
}
