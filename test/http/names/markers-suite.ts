import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileBody, httpChunk, uploadHead } from '../../support/http/multipart-body.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { batchOf } from '../batch/batch-requests.ts'
import { change, namesOf, remove } from '../file-requests.ts'
import {
  ask,
  download,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  type Reply,
  secretOf,
  upload,
  usageOf,
} from '../fixture.ts'
import { createLink } from '../links/link-requests.ts'
import {
  append,
  create,
  createUpload,
  creationHeaders,
  headText,
} from '../resumable/tus-requests.ts'

const REFUSED = { status: 400, code: 'invalid_file_name' } as const

/** A name that ends in a slash is a file like any other, but for its content: it has none, whatever way it came. */
export function markersSuite(open: OpenService): void {
  describe('the marker of a folder', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 3_600_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    const put = (name: string, content = '') =>
      upload(service, { method: 'PUT', user, name, content })

    it('is stored without content, listed, renamed, deleted and counted', async () => {
      expect(jsonOf(await put('photos/'))).toMatchObject({ name: 'photos/', size: 0 })
      const form = await upload(service, { user, name: 'photos/2026/', content: '' })
      expect(jsonOf(form)).toMatchObject({ name: 'photos/2026/', size: 0 })
      await put('photos', 'a file beside it')
      await put('photos/a.jpg', 'below')
      expect(await namesOf(service, { user })).toEqual([
        'photos',
        'photos/',
        'photos/2026/',
        'photos/a.jpg',
      ])
      expect(await usageOf(service, user)).toMatchObject({ fileCount: 4 })
      const moved = await change(service, { user, name: 'photos/', body: { name: 'pictures/' } })
      expect(jsonOf(moved)).toMatchObject({ name: 'pictures/' })
      expect((await remove(service, { user, name: 'photos' })).status).toBe(204)
      expect((await remove(service, { user, name: 'pictures/' })).status).toBe(204)
      expect(await namesOf(service, { user })).toEqual(['photos/2026/', 'photos/a.jpg'])
      const { status, body } = await download(service, { user, name: 'photos/2026/' })
      expect({ status, bytes: body.length }).toEqual({ status: 200, bytes: 0 })
      // The empty file may be one of another name, and the other way round.
      const plain = await change(service, { user, name: 'photos/2026/', body: { name: '2026' } })
      expect(jsonOf(plain)).toMatchObject({ name: '2026' })
      const back = await change(service, { user, name: '2026', body: { name: '2026/' } })
      expect(jsonOf(back)).toMatchObject({ name: '2026/' })
    })

    const withContent: readonly (readonly [string, (name: string) => Promise<Reply>])[] = [
      ['a body', (name) => put(name, 'x')],
      ['a form', (name) => upload(service, { user, name, content: 'x' })],
      [
        'a body in chunks',
        (name) => upload(service, { method: 'PUT', user, name, content: 'x', chunked: true }),
      ],
      ['a form in chunks', (name) => upload(service, { user, name, content: 'x', chunked: true })],
      ['a large body', (name) => put(name, 'x'.repeat(200_000))],
      [
        'a large body in chunks',
        (name) =>
          upload(service, {
            method: 'PUT',
            user,
            name,
            content: 'x'.repeat(200_000),
            chunked: true,
          }),
      ],
      ['a length of tus', (name) => create(service, { user, name, length: 1 })],
      [
        'content at the creation of tus',
        (name) => create(service, { user, name, length: 1, body: 'x' }),
      ],
      [
        'a deferred length and content of tus',
        (name) => create(service, { user, name, length: 'deferred', body: 'x' }),
      ],
    ]

    it.each(withContent)('is refused with %s, and nothing is left', async (_, send) => {
      await put('photos/')
      const seen = async () => {
        const { files } = jsonOf(await ask(service, { user, path: '/users/me/repo?limit=9' }))
        return { files, keys: await service.storedKeys(user) }
      }
      const before = await seen()
      for (const name of ['photos/', 'other/', 'a/b/']) {
        const problem = expectProblem(await send(name), REFUSED)
        expect(problem['detail']).toMatch(/content/)
      }
      expect(await seen()).toEqual(before)
      expect(await usageOf(service, user)).toMatchObject({ reserved: 0, used: 0 })
    })

    it('gets no content from an append', async () => {
      const created = await createUpload(service, { user, name: 'late/', length: 'deferred' })
      const declared = { 'Upload-Length': '1' }
      for (const sent of [
        { body: 'x' },
        { body: 'x', headers: declared },
        { body: '', headers: declared },
      ]) {
        expectProblem(await append(service, created, sent), REFUSED)
      }
      expect(await namesOf(service, { user })).toEqual([])
    })

    it.each([
      ['known/', 'upload_length_exceeded'],
      ['chunked/', 'invalid_file_name'],
    ])('is not made of a body beyond a length of 0: %s gets %s', async (name, code) => {
      const headers = { ...creationHeaders({ name, length: 0, body: 'x' }), Cookie: user.cookie }
      const isChunked = name === 'chunked/'
      const framing = isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': '1' }
      const head = headText('POST /users/me/uploads', { ...headers, ...framing })
      const body = isChunked ? [httpChunk('x'), httpChunk('')] : ['x']
      const reply = await rawRequest({ port: service.port, send: [head, ...body] })
      expect({ name, ...jsonOf(reply) }).toMatchObject({ name, code })
      expect(await namesOf(service, { user })).toEqual([])
    })

    it('comes by tus if its length is 0', async () => {
      const created = await createUpload(service, { user, name: 'tus/', length: 0 })
      expect(jsonOf(await ask(service, { user, path: created.path }))).toMatchObject({
        state: 'finished',
      })
      expect(await namesOf(service, { user })).toEqual(['tus/'])
    })

    it('is refused by a link with content, and taken without', async () => {
      const token = secretOf(user)
      const { secret } = await createLink(service, { token, kind: 'drop', prefix: 'in/' })
      const path = `/links/${secret}/a/`
      expectProblem(await ask(service, { method: 'PUT', path, body: 'x' }), REFUSED)
      const head = uploadHead({ path, length: fileBody('x').length })
      const form = await rawRequest({ port: service.port, send: [head, fileBody('x')] })
      expectProblem(form, REFUSED)
      const chunked = [uploadHead({ method: 'PUT', path }), httpChunk('x'), httpChunk('')]
      expectProblem(await rawRequest({ port: service.port, send: chunked }), REFUSED)
      expect(await namesOf(service, { user })).toEqual([])
      const taken = await ask(service, { method: 'PUT', path, body: '' })
      expect(jsonOf(taken)).toMatchObject({ name: 'a/', size: 0 })
      expect(await namesOf(service, { user })).toEqual(['in/a/'])
    })

    it('is no name for a file that has content, by a rename, a batch or a restore', async () => {
      await put('file', 'content')
      await put('gone', 'content')
      await remove(service, { user, name: 'gone' })
      const past = jsonOf(await ask(service, { user, path: '/users/me/history?name=gone' }))
      const [{ version } = { version: '' }] = past['versions'] as { readonly version: string }[]
      const restore = { 'Content-Type': 'application/json' }
      const json = (body: object) => JSON.stringify(body)
      const path = `/users/me/history/${version}/restore`
      const batch = (operation: object) => batchOf(service, { user, operations: [operation] })
      const inBatch = { ...REFUSED, more: ['operation'] }
      for (const overwrite of [false, true]) {
        const renamed = { name: 'folder/', overwrite }
        expectProblem(await change(service, { user, name: 'file', body: renamed }), REFUSED)
        const restored = { method: 'POST', path, headers: restore, body: json(renamed) }
        expectProblem(await ask(service, { user, ...restored }), REFUSED)
        const terms = { new_name: 'folder/', overwrite }
        expectProblem(await batch({ op: 'rename', name: 'file', ...terms }), inBatch)
        expectProblem(await batch({ op: 'restore', version, ...terms }), inBatch)
      }
      expect(await namesOf(service, { user })).toEqual(['file'])
      expect((await download(service, { user, name: 'file' })).body.toString()).toBe('content')
    })
  })
}
