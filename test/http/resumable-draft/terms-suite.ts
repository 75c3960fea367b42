import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  pathOf,
  placeFile,
  SHORT_LINGER,
  upload as put,
} from '../fixture.ts'
import * as tus from '../resumable/tus-requests.ts'
import {
  append,
  begin,
  create,
  createUpload,
  DRAFT,
  expectAppended,
  expectOffset,
  expectRefused,
  expectStored,
  head,
  PARTIAL_TYPE,
} from './draft-requests.ts'

const APP = 'https://app.example.com'

const FAILED = { status: 412, code: 'precondition_failed' } as const
const MISMATCH = { status: 400, code: 'digest_mismatch' } as const

/** What a file that comes by the draft has in common with any other. */
export function draftTermsSuite(open: OpenService): void {
  describe('the file that an upload by the IETF draft makes', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ ...SHORT_LINGER, allowedOrigins: [APP] })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    it('gets the visibility of the query', async () => {
      const query = '?visibility=users'
      const upload = await createUpload(service, { user, query })
      const reply = await append(service, upload, { complete: '?1', body: 'x' })
      expect(jsonOf(reply)['visibility']).toBe('users')
      const wrong = await create(service, { user, query: '?visibility=all' })
      expectRefused(wrong, { status: 400, code: 'invalid_parameter' })
    })

    it('must meet its precondition', async () => {
      const placed = await placeFile(service)
      const headers = { 'If-None-Match': '*' }
      expectRefused(await create(service, { ...placed, body: 'four', headers }), FAILED)
      await tus.expectOldFile(service, placed)
    })

    it('is refused as a whole (?1) if only its commit fails, and stays until it can be stored', async () => {
      const headers = { 'If-None-Match': '*' }
      const upload = await createUpload(service, { user, length: 9, headers })
      const last = begin(service, {
        user,
        start: `PATCH ${upload.path}`,
        headers: { ...PARTIAL_TYPE, 'Upload-Offset': '0', 'Upload-Complete': '?1' },
        first: 'four',
        rest: 'teen!',
      })
      await expect.poll(() => tus.stateOf(service, upload), tus.POLL).toBe('receiving')
      const { name } = upload
      expect((await put(service, { user, method: 'PUT', name, content: 'x' })).status).toBe(200)
      last.goOn()
      expectRefused(await last.reply, { ...FAILED, complete: '?1' })
      expect((await head(service, upload)).status).toBe(412)
      const earlier = await append(service, upload, { offset: 4, complete: '?1', body: 'teen!' })
      const mismatch = { status: 409, code: 'offset_mismatch' } as const
      expectRefused(earlier, { ...mismatch, type: 'mismatching-upload-offset' })
      expect(earlier.headers['upload-offset']).toBe('9')
      await ask(service, { user, method: 'DELETE', path: pathOf(name) })
      expect(await head(service, upload)).toMatchObject({
        status: 204,
        headers: { 'upload-complete': '?1', 'upload-offset': '9' },
      })
      await tus.expectFile(service, upload, 'fourteen!')
    })

    describe('Integrity Digests', () => {
      const digestOf = (text: string) =>
        `sha-256=:${createHash('sha256').update(text).digest('base64')}:`

      it('does not keep content that its Content-Digest is not of', async () => {
        const upload = await createUpload(service, { user, length: 8 })
        const send = (offset: number, body: string, of: string) =>
          append(service, upload, { offset, body, headers: { 'Content-Digest': digestOf(of) } })
        expectAppended(await send(0, 'four', 'four'), 4)
        expectRefused(await send(4, 'teen', 'five'), MISMATCH)
        await expectOffset(service, upload, 4)
      })

      it('fails as a whole (?1) if its Repr-Digest is of another', async () => {
        const headers = { 'Repr-Digest': digestOf('fifteen') }
        const upload = await createUpload(service, { user, body: 'four', headers })
        const reply = await append(service, upload, { offset: 4, complete: '?1', body: 'teen' })
        expectRefused(reply, { ...MISMATCH, complete: '?1' })
        expect((await head(service, upload)).status).toBe(410)
      })

      it('ignores a digest of an algorithm that it does not know', async () => {
        const headers = { 'Content-Digest': 'sha-512=:AAAA:', 'Repr-Digest': 'md5=:AAAA:' }
        const reply = await create(service, {
          user,
          method: 'POST',
          complete: '?1',
          body: 'x',
          headers,
        })
        await expectStored(service, reply, { user, name: 'file.bin', content: 'x' })
      })
    })

    describe('with tus at the same URL', () => {
      const content = randomBytes(6 * MIB)
      const [first, rest] = [content.subarray(0, 5_500_000), content.subarray(5_500_000)]

      it('goes on by tus what the draft began', async () => {
        const { length } = content
        const upload = await createUpload(service, { user, length, body: first })
        expect(await tus.offsetOf(service, upload)).toBe(first.length)
        await tus.appended(service, upload, { offset: first.length, body: rest })
        await tus.expectFile(service, upload, content)
        const replayed = await append(service, upload, { offset: length, complete: '?1' })
        await expectStored(service, replayed, { ...upload, content })
      })

      it.each([content.length, 'deferred'])(
        'goes on by the draft what tus began (length %s)',
        async (length) => {
          const upload = await tus.createUpload(service, { user, length })
          await tus.appended(service, upload, { body: first })
          await expectOffset(service, upload, first.length)
          const last = { offset: first.length, complete: '?1', body: rest }
          await expectStored(service, await append(service, upload, last), { ...upload, content })
          expect(await tus.offsetOf(service, upload)).toBe(content.length)
        },
      )

      it('serves a request that speaks both as tus', async () => {
        const upload = await createUpload(service, { user, length: 9 })
        const { status, headers } = await tus.head(service, upload, { ...tus.TUS, ...DRAFT })
        expect({ status, tus: headers['tus-resumable'] }).toEqual({ status: 200, tus: '1.0.0' })
      })
    })

    describe('for a page of another origin', () => {
      const headers = { Origin: APP, 'Sec-Fetch-Site': 'cross-site' }
      const split = (text = '') => text.split(', ')

      it('is granted all methods and headers by the preflight', async () => {
        const { path } = await createUpload(service, { user })
        for (const [target, method] of [
          [pathOf('x'), 'PUT'],
          [path, 'PATCH'],
          [path, 'HEAD'],
        ] as const) {
          const preflight = { Origin: APP, 'Access-Control-Request-Method': method }
          const reply = await ask(service, { method: 'OPTIONS', path: target, headers: preflight })
          expect(reply.status).toBe(204)
          expect(split(reply.headers['access-control-allow-methods'])).toContain(method)
          expect(split(reply.headers['access-control-allow-headers'])).toEqual(
            expect.arrayContaining([
              'Content-Digest',
              'Upload-Complete',
              'Upload-Draft-Interop-Version',
              'Upload-Length',
              'Upload-Offset',
            ]),
          )
        }
      })

      it('can be read by it, and not be made by a page of a stranger', async () => {
        const created = await create(service, { user, length: 9, headers })
        const upload = tus.uploadOf(created, { user })
        const replies = [
          created,
          await append(service, upload, { body: 'four', headers }),
          await append(service, upload, { body: 'four', headers }),
        ]
        expect(replies.map(({ status }) => status)).toEqual([201, 204, 409])
        for (const { headers: answer } of replies) {
          expect(answer['access-control-allow-origin']).toBe(APP)
          expect(split(answer['access-control-expose-headers'])).toEqual(
            expect.arrayContaining([
              'Location',
              'Upload-Complete',
              'Upload-Limit',
              'Upload-Offset',
            ]),
          )
        }
        const stranger = { ...headers, Origin: 'https://evil.example' }
        const refusal = { status: 403, code: 'cross_site_request' } as const
        expectRefused(await create(service, { user, headers: stranger }), refusal)
      })
    })

    describe('of a request that the draft does not cover', () => {
      it.each([
        ['a whole file without interim responses', { complete: '?1' }],
        [
          'a whole file of another version',
          { complete: '?1', headers: { 'Upload-Draft-Interop-Version': '6' } },
        ],
        ['a whole file of tus', { complete: '?1', headers: tus.TUS }],
        ['no word on completeness', { complete: '' }],
      ])('is uploaded as ever: %s', async (_what, creation) => {
        const reply = await create(service, { user, body: 'whole', ...creation })
        expect(reply.status).toBe(200)
        expect(reply.headers['upload-draft-interop-version']).toBeUndefined()
        expect(reply.all).toHaveLength(1)
        await tus.expectFile(service, { user, name: 'file.bin' }, 'whole')
        expect(await tus.listed(service, user)).toEqual([])
      })

      it('is uploaded as ever: a whole form', async () => {
        const headers = { ...DRAFT, 'Upload-Complete': '?1' }
        expect((await put(service, { user, name: 'a', content: 'form', headers })).status).toBe(200)
        await tus.expectFile(service, { user, name: 'a' }, 'form')
      })

      it.each(['6', '9', '8.0', '', 'x', 'none'])(
        'is refused if it is a part in version "%s", which must not be stored as the file',
        async (version) => {
          const placed = await placeFile(service)
          const path = pathOf(placed.name)
          const told = version === 'none' ? {} : { 'Upload-Draft-Interop-Version': version }
          for (const protocol of [{}, tus.TUS]) {
            const headers = { 'Upload-Complete': '?0', ...told, ...protocol }
            const part = { ...placed, method: 'PUT', path, headers, body: 'part' }
            const reply = await ask(service, part)
            const problem = expectRefused(reply, { status: 400, code: 'invalid_parameter' })
            expect(problem['parameter']).toBe('Upload-Draft-Interop-Version')
          }
          await tus.expectOldFile(service, placed)
        },
      )

      it('takes a part for a part, whatever the request says of tus', async () => {
        const { user, name, content } = await placeFile(service)
        const part = { user, name, length: 100, body: 'first', headers: tus.TUS }
        const upload = await createUpload(service, part)
        await tus.expectFile(service, { user, name }, content)
        await expectOffset(service, upload, 5)
      })

      it('is refused for an upload if it speaks neither protocol', async () => {
        const upload = await createUpload(service, { user, length: 9 })
        const headers = { 'Upload-Draft-Interop-Version': '6' }
        const reply = await append(service, upload, { body: 'four', headers })
        expectProblem(reply, { status: 412, code: 'tus_version_unsupported' })
        await expectOffset(service, upload, 0)
      })
    })
  })
}
