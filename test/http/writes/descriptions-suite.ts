import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { descriptionIn } from '../../../src/core/files/object-metadata.ts'
import { objectKey, type Version } from '../../../src/core/objects/object-key.ts'
import { never } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  download,
  expectProblem,
  expectUntouched,
  FORM_TYPE,
  jsonOf,
  MIB,
  type OpenService,
  pathOf,
  placeFile,
  type Reply,
  secretOf,
} from '../fixture.ts'
import { createLink, visit } from '../links/link-requests.ts'
import * as tus from '../resumable/tus-requests.ts'
import { issue, problemOf, send } from '../scopes/scoped-requests.ts'

const DEFAULT = { media_type: 'application/octet-stream', metadata: {} }
const PNG = { 'Content-Type': 'image/png' }
const FRONT = { camera: 'front', place: 'Köln' }
const FRONT_HEADER = { 'File-Metadata': String.raw`{"camera":"front", "place":"K\u00f6ln"}` }

/** What clients say of a content: media types, metadata, and whether browsers may show it. */
export function descriptionsSuite(open: OpenService): void {
  describe('the media type and the metadata of a file', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 3_600_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    const put = (headers: Readonly<Record<string, string>> = {}, body: string | Uint8Array = 'x') =>
      ask(service, { user, method: 'PUT', path: pathOf('a'), headers, body })
    /** The parts stand as they are, between boundary lines. */
    const post = (parts: readonly string[], headers: Readonly<Record<string, string>> = {}) =>
      ask(service, {
        user,
        method: 'POST',
        path: pathOf('a'),
        headers: { 'Content-Type': FORM_TYPE, ...headers },
        body: `${parts.map((part) => `--XBOUNDARY\r\n${part}\r\n`).join('')}--XBOUNDARY--`,
      })
    const filePart = (type: string, content = 'x') =>
      `Content-Disposition: form-data; name="file"; filename="f"\r\n${type}\r\n${content}`
    const field = (name: string, value: string) =>
      `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`
    const patch = (body: object) =>
      ask(service, {
        user,
        method: 'PATCH',
        path: pathOf('a'),
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
    const pick = ({ media_type, metadata }: Record<string, unknown>) => ({ media_type, metadata })
    const of = (reply: Reply) => {
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      return pick(jsonOf(reply))
    }
    const listed = async () => {
      const { files } = jsonOf(await ask(service, { user, path: '/users/me/repo' }))
      return (files as Record<string, unknown>[]).map(pick)
    }
    /** What a rebuild would find. */
    const recorded = async ({ body }: Reply) => {
      const { version } = JSON.parse(body.toString()) as { readonly version: Version }
      const head = await service.objects.head({
        key: objectKey(user.userId, version),
        signal: never(),
      })
      const { mediaType, metadata } = descriptionIn(head?.metadata ?? {})
      return { mediaType, metadata }
    }

    const bad = { status: 400, code: 'invalid_parameter' } as const

    it('are answered as they are recorded, whatever the names and the characters', async () => {
      const members = {
        toJSON: '',
        '2': '"\\\n\u0000',
        '1': '\u2028😀',
        constructor: 'é',
        '': '</script>',
      }
      const text = JSON.stringify(members)
      const form = [field('metadata', text), filePart('Content-Type: text/plain\r\n')]
      const listing = () => ask(service, { user, path: '/users/me/repo' })
      for (const reply of [await post(form), await listing()]) {
        expect(reply.body.toString()).toContain(`"metadata":${text}`)
      }
    })

    describe('are those of an upload', () => {
      it('an upload as a body states both', async () => {
        const reply = await put({ ...PNG, ...FRONT_HEADER })
        expect(of(reply)).toEqual({ media_type: 'image/png', metadata: FRONT })
        expect(await listed()).toEqual([{ media_type: 'image/png', metadata: FRONT }])
        expect(await recorded(reply)).toEqual({
          mediaType: 'image/png',
          metadata: JSON.stringify(FRONT),
        })
        expect(of(await put({ 'File-Metadata': '{"place":"Köln"}' }))).toMatchObject({
          metadata: { place: 'Köln' },
        })
      })

      it('an upload as a form states both, in fields before and after the file', async () => {
        const json = `Content-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n`
        const described = { media_type: 'text/plain; charset=utf-8', metadata: { a: 'b' } }
        const file = filePart('Content-Type: text/plain; charset=utf-8\r\n')
        for (const parts of [
          [field('metadata', '{"a": "b"}'), file],
          [file, field('metadata', '{"a": "b"}')],
          [`${json}{"a": "b"}`, file],
          [field('metadata', `${' '.repeat(12_000)}{"\\u0061": "b"}`), file],
        ]) {
          const reply = await post(parts)
          expect(of(reply)).toEqual(described)
          expect(await recorded(reply)).toEqual({
            mediaType: described.media_type,
            metadata: '{"a":"b"}',
          })
        }
        const large = filePart('Content-Type: image/png\r\n', 'x'.repeat(100_000))
        const late = await post([large, field('metadata', '{"c":"d"}')])
        expect(of(late)).toEqual({ media_type: 'image/png', metadata: { c: 'd' } })
        expect(await recorded(late)).toEqual({ mediaType: 'image/png', metadata: null })
        const early = await post([field('metadata', '{"c":"d"}'), large])
        expect(await recorded(early)).toMatchObject({ metadata: '{"c":"d"}' })
        const both = await post([field('metadata', '{"c":"d"}'), file], {
          'File-Metadata': '{ "c": "d" }',
        })
        expect(of(both)).toMatchObject({ metadata: { c: 'd' } })
      })

      it('an upload by tus states both', async () => {
        const pairs = { filename: 'a', filetype: 'image/png', metadata: JSON.stringify(FRONT) }
        const metadata = Object.entries(pairs)
          .map(([key, value]) => `${key} ${tus.base64(value)}`)
          .join(',')
        for (const content of ['', 'hello', randomBytes(6 * MIB)]) {
          const length = Buffer.byteLength(content)
          const created = await tus.createUpload(service, { user, name: 'a', length, metadata })
          if (length > 0) {
            await tus.append(service, created, { body: content })
          }
          expect(await listed()).toEqual([{ media_type: 'image/png', metadata: FRONT }])
          expect(
            await recorded({ body: Buffer.from(JSON.stringify({ version: created.id })) } as Reply),
          ).toEqual({
            mediaType: 'image/png',
            metadata: JSON.stringify(FRONT),
          })
        }
      })
    })

    it.each([
      ['none', {}],
      ['a malformed one', { 'Content-Type': 'image' }],
      ['an empty one', { 'Content-Type': '' }],
      ['one that is too long', { 'Content-Type': `image/${'x'.repeat(250)}` }],
    ])('are the default after %s', async (_case, headers) => {
      expect(of(await put(headers))).toEqual(DEFAULT)
      expect(of(await post([filePart('')]))).toEqual(DEFAULT)
    })

    it('a replaced file has the default type and the old metadata, unless the upload states its own', async () => {
      await put({ ...PNG, ...FRONT_HEADER })
      const replaced = await put()
      expect(of(replaced)).toEqual({ ...DEFAULT, metadata: FRONT })
      expect(await recorded(replaced)).toEqual({ mediaType: null, metadata: null })
      expect(of(await put({ 'File-Metadata': '{}' }))).toEqual(DEFAULT)
    })

    it('belong to the version: the history keeps them, and a restore brings them back', async () => {
      const first = jsonOf(await put({ ...PNG, ...FRONT_HEADER }, 'first'))
      await put({ 'File-Metadata': '{"b":"c"}' }, 'second')
      const history = jsonOf(await ask(service, { user, path: '/users/me/history' }))
      expect(history).toMatchObject({
        versions: [{ media_type: 'image/png', metadata: FRONT }],
      })
      const path = `/users/me/history/${String(first['version'])}/restore`
      const restored = await ask(service, {
        user,
        method: 'POST',
        path,
        headers: { 'Content-Type': 'application/json' },
        body: '{"overwrite":true}',
      })
      expect(of(restored)).toEqual({ media_type: 'image/png', metadata: FRONT })
    })

    describe('change', () => {
      const feed = async () => {
        const page = jsonOf(await ask(service, { user, path: '/users/me/repo' }))
        return String(page['changes_cursor'])
      }
      const since = async (cursor: string) => {
        const path = `/users/me/changes?cursor=${cursor}`
        const { changes } = jsonOf(await ask(service, { user, path }))
        return (changes as { readonly type: string }[]).map(({ type }) => type)
      }

      it('a PATCH changes both, keeps the version and is one change', async () => {
        const { etag } = jsonOf(await put({ ...PNG, ...FRONT_HEADER }))
        const cursor = await feed()
        const changed = await patch({ media_type: 'image/jpeg', metadata: { place: null, b: 'c' } })
        expect(of(changed)).toEqual({
          media_type: 'image/jpeg',
          metadata: { camera: 'front', b: 'c' },
        })
        expect(jsonOf(changed)).toMatchObject({ etag, version: etag })
        expect(await since(cursor)).toEqual(['file.updated'])
        const again = await patch({ media_type: 'image/jpeg', metadata: { place: null, b: 'c' } })
        expect(of(again)).toEqual(of(changed))
        expect(await since(cursor)).toEqual(['file.updated'])
        expect(of(await patch({ metadata: null }))).toMatchObject({ metadata: {} })
        expect((await listed())[0]).toMatchObject({ media_type: 'image/jpeg', metadata: {} })
      })

      it('a token that may replace changes both, and no other', async () => {
        await put()
        const body = JSON.stringify({ metadata: { a: 'b' } })
        const change = async (actions: readonly string[], text: string) => {
          const token = await issue(service, user, { actions })
          return await problemOf(
            await send(service, {
              token,
              method: 'PATCH',
              path: pathOf('a'),
              headers: { 'Content-Type': 'application/json' },
              body: text,
            }),
          )
        }
        const refused = { status: 403, code: 'scope_insufficient', required: 'replace' }
        expect(await change(['share', 'delete', 'create'], body)).toMatchObject(refused)
        expect(await change(['share'], '{"media_type":"a/b"}')).toMatchObject(refused)
        expect(await change(['replace'], body)).toBeUndefined()
        expect(await listed()).toEqual([{ ...DEFAULT, metadata: { a: 'b' } }])
      })

      it.each([
        ['a malformed type', { media_type: 'image' }],
        ['a type that is too long', { media_type: `a/${'b'.repeat(254)}` }],
        ['no type', { media_type: null }],
        ['too much metadata', { metadata: { a: 'x'.repeat(2048) } }],
        ['metadata that are a text', { metadata: 'a' }],
        ['metadata that are a list', { metadata: [] }],
        ['a number', { metadata: { a: 1 } }],
        ['an object inside', { metadata: { a: { b: 'c' } } }],
      ])('a PATCH with %s changes nothing', async (_case, body) => {
        await put({ ...PNG, ...FRONT_HEADER })
        expectProblem(await patch({ ...body, visibility: 'public' }), bad)
        const { files } = jsonOf(await ask(service, { user, path: '/users/me/repo' }))
        expect(files).toMatchObject([
          { media_type: 'image/png', metadata: FRONT, visibility: 'private' },
        ])
      })
    })

    describe('that are malformed store nothing:', () => {
      it.each([
        ['no JSON', 'a'],
        ['no object', '["a"]'],
        ['a number', '{"a":1}'],
        ['more than 2 KiB', JSON.stringify({ a: 'x'.repeat(2041) })],
        ['a lone surrogate', String.raw`{"a":"\ud800"}`],
      ])('%s', async (_case, text) => {
        const placed = await placeFile(service)
        const { user: owner } = placed
        const metadata = `filename YQ==,metadata ${tus.base64(text)}`
        const path = pathOf('a')
        expectProblem(await tus.create(service, { user: owner, length: 1, metadata }), bad)
        const headers = { 'File-Metadata': text }
        expectProblem(
          await ask(service, { user: owner, method: 'PUT', path, headers, body: 'x' }),
          bad,
        )
        user = owner
        const [sent, none] = [field('metadata', text), field('metadata', '{}')]
        for (const parts of [
          [sent, filePart('')],
          [filePart(''), sent],
          [none, none, filePart('')],
        ]) {
          expectProblem(await post(parts), bad)
        }
        const other = { 'File-Metadata': '{"a":"b"}' }
        expectProblem(await post([none, filePart('')], other), bad)
        await expectUntouched(service, placed)
      })
    })

    it.each([
      ['bytes that are not UTF-8', '{"a":"\xff"}'],
      ['what a parser would cut to good metadata', `{"a":"b"}${' '.repeat(16 * 1024)}x`],
    ])('are not read from a form that has %s', async (_case, value) => {
      const placed = await placeFile(service)
      const parts = [field('metadata', value), filePart('')]
      for (const order of [parts, parts.toReversed()]) {
        const body = order.map((part) => `--XBOUNDARY\r\n${part}\r\n`).join('')
        const reply = await ask(service, {
          user: placed.user,
          method: 'POST',
          path: pathOf('a'),
          headers: { 'Content-Type': FORM_TYPE },
          body: Buffer.from(`${body}--XBOUNDARY--`, 'latin1'),
        })
        expectProblem(reply, bad)
      }
      await expectUntouched(service, placed)
    })

    it('a file that comes by a link has its type, and no metadata', async () => {
      const { secret } = await createLink(service, {
        token: secretOf(user),
        kind: 'drop',
        prefix: 'in-',
      })
      const headers = { ...PNG, 'File-Metadata': 'no JSON' }
      const body = { method: 'PUT', headers, body: 'x' }
      expect((await visit(service, { secret, path: '/a', ...body })).status).toBe(200)
      const pairs = `filename Yg==,filetype ${tus.base64('image/png')},metadata ${tus.base64('{"a":"b"}')}`
      const created = await visit(service, {
        secret,
        path: '/uploads/',
        method: 'POST',
        headers: { ...tus.TUS, 'Upload-Length': '0', 'Upload-Metadata': pairs },
      })
      expect(created.status).toBe(201)
      const dropped = { media_type: 'image/png', metadata: {} }
      expect(await listed()).toEqual([dropped, dropped])
    })

    it('a linked file shows its visitors the type alone', async () => {
      await put({ ...PNG, ...FRONT_HEADER })
      const link = { token: secretOf(user), kind: 'download' }
      for (const target of [{ name: 'a' }, { prefix: '' }]) {
        const { secret } = await createLink(service, { ...link, ...target })
        const shown = (await (await visit(service, { secret })).json()) as object
        expect(shown).toMatchObject({ files: [{ name: 'a', size: 1, media_type: 'image/png' }] })
        expect(JSON.stringify(shown)).not.toContain('front')
      }
    })

    describe('of a download', () => {
      const ATTACHED = {
        'content-type': 'application/octet-stream',
        'content-disposition': expect.stringMatching(/^attachment; /) as string,
      }
      const SAFE = {
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining('sandbox') as string,
      }
      const shownAs = (type: string) => ({
        'content-type': type,
        'content-disposition': expect.stringMatching(/^inline; filename="a"/) as string,
      })
      const read = (query: string, method = 'GET') =>
        download(service, { user, method, path: `${pathOf('a')}${query}` })

      it('are not those of the file, unless they are asked for and run nothing', async () => {
        await put(PNG)
        for (const query of ['', '?inline=false', '?other=1']) {
          expect((await read(query)).headers).toMatchObject({ ...ATTACHED, ...SAFE })
        }
        for (const method of ['GET', 'HEAD']) {
          const reply = await read('?inline=true', method)
          expect(reply.headers).toMatchObject({ ...shownAs('image/png'), ...SAFE })
        }
        await patch({ media_type: 'text/plain' })
        expect((await read('?inline=true')).headers).toMatchObject(
          shownAs('text/plain; charset=utf-8'),
        )
        for (const type of ['text/html', 'image/svg+xml', 'text/plain; charset=utf-7', 'a/b']) {
          await patch({ media_type: type })
          expect((await read('?inline=true')).headers).toMatchObject({ ...ATTACHED, ...SAFE })
        }
        for (const query of ['?inline=1', '?inline=', '?inline=true&inline=true']) {
          expectProblem(await read(query), { status: 400, code: 'invalid_parameter' })
        }
      })

      it('are shown of ranges, shared files, past versions and linked files, too', async () => {
        const { version } = jsonOf(await put(PNG, 'hello'))
        await patch({ visibility: 'public' })
        const range = await ask(service, {
          user,
          path: `${pathOf('a')}?inline=true`,
          headers: { Range: 'bytes=1-2' },
        })
        expect(range).toMatchObject({ status: 206, headers: shownAs('image/png') })
        const path = `${pathOf('a', user.userId)}?inline=true`
        expect((await ask(service, { path })).headers).toMatchObject(shownAs('image/png'))
        const { secret } = await createLink(service, {
          token: secretOf(user),
          kind: 'download',
          name: 'a',
        })
        const linked = await visit(service, { secret, path: '/a?inline=true' })
        expect(linked.headers.get('content-type')).toBe('image/png')
        expect(linked.headers.get('x-content-type-options')).toBe('nosniff')
        expect(linked.headers.get('content-security-policy')).toContain('sandbox')
        await linked.arrayBuffer()
        await ask(service, { user, method: 'DELETE', path: pathOf('a') })
        const past = `/users/me/history/${String(version)}?inline=true`
        expect((await ask(service, { user, path: past })).headers).toMatchObject(
          shownAs('image/png'),
        )
      })
    })
  })
}
