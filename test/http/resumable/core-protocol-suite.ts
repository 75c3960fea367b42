import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ask, expectProblem, jsonOf, MIB, type OpenService } from '../fixture.ts'
import {
  append,
  appended,
  base64,
  cancel,
  create,
  createUpload,
  expectFile,
  expectOffset,
  head,
  listed,
  look,
  offsetOf,
  OFFSET_TYPE,
  stateOf,
  TUS,
  UPLOADS,
} from './tus-requests.ts'

const UNSUPPORTED = { status: 412, code: 'tus_version_unsupported' } as const

/** tus 1.0.0, section "Core Protocol". */
export function coreProtocolSuite(open: OpenService): void {
  describe('the core of tus 1.0.0', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    describe('HEAD', () => {
      it('tells offset, length, metadata and expiry, and is never cached', async () => {
        const metadata = `filename ${base64('a.bin')},note ${base64('x')},empty`
        const upload = await createUpload(service, { user, name: 'a.bin', length: 9, metadata })
        await appended(service, upload, { body: 'four' })
        const { status, headers } = await head(service, upload)
        expect({ status, headers }).toMatchObject({
          status: 200,
          headers: {
            'tus-resumable': '1.0.0',
            'upload-offset': '4',
            'upload-length': '9',
            'upload-metadata': metadata,
            'cache-control': 'no-store',
          },
        })
        expect(Date.parse(String(headers['upload-expires']))).toBeGreaterThan(Date.now())
        expect(headers['upload-defer-length']).toBeUndefined()
      })

      it('tells an offset of 0 of an upload that has nothing yet', async () => {
        expect(await offsetOf(service, await createUpload(service, { user, length: 9 }))).toBe(0)
      })

      it('tells offset = length of a finished upload, and no expiry (I12)', async () => {
        const upload = await createUpload(service, { user, length: 4 })
        await appended(service, upload, { body: 'four' })
        const { headers } = await head(service, upload)
        expect(headers).toMatchObject({ 'upload-offset': '4', 'upload-length': '4' })
        expect(headers['upload-expires']).toBeUndefined()
      })

      it.each(['11111111-1111-7111-8111-111111111111', 'x', '..%2f', 'a'.repeat(300)])(
        'answers 404 without an offset for the id %s',
        async (id) => {
          const { status, headers } = await head(service, { user, path: `${UPLOADS}/${id}` })
          expect(status).toBe(404)
          expect(headers).toMatchObject({ 'tus-resumable': '1.0.0', 'cache-control': 'no-store' })
          expect(headers['upload-offset']).toBeUndefined()
        },
      )

      it('answers 404 for the upload of another user, as do all methods', async () => {
        const upload = await createUpload(service, { user, length: 9 })
        const stranger = { ...upload, user: await service.createUser(MIB) }
        expect((await head(service, stranger)).status).toBe(404)
        const missing = { status: 404, code: 'not_found' } as const
        expectProblem(await look(service, stranger), missing)
        expectProblem(await append(service, stranger, { body: 'mine' }), missing)
        expectProblem(await cancel(service, stranger), missing)
        expect(await listed(service, stranger.user)).toEqual([])
        expect(await offsetOf(service, upload)).toBe(0)
      })
    })

    describe('PATCH', () => {
      it('appends at the offset and answers 204 with the next, until the file stands', async () => {
        const content = randomBytes(100_000)
        const upload = await createUpload(service, { user, length: content.length })
        for (const offset of [0, 33_000, 66_000]) {
          const end = offset === 66_000 ? content.length : offset + 33_000
          const body = content.subarray(offset, end)
          const reply = await appended(service, upload, { offset, body })
          expect(reply.headers).toMatchObject({ 'tus-resumable': '1.0.0' })
        }
        await expectFile(service, upload, content)
      })

      it.each([
        ['below', 3],
        ['above', 5],
        ['beyond the length', 100],
      ])(
        'a PATCH at an offset %s the own is 409 with it, and changes nothing',
        async (_where, offset) => {
          const upload = await createUpload(service, { user, length: 9 })
          await appended(service, upload, { body: 'four' })
          const reply = await append(service, upload, { offset, body: 'five!' })
          const problem = expectProblem(reply, { status: 409, code: 'offset_mismatch' })
          expect(problem).toMatchObject({ offset: 4, provided_offset: offset })
          expect(reply.headers['upload-offset']).toBe('4')
          await appended(service, upload, { offset: 4, body: 'five!' })
          await expectFile(service, upload, 'fourfive!')
        },
      )

      it('takes its type in any case and with parameters', async () => {
        const upload = await createUpload(service, { user, length: 4 })
        const headers = { 'Content-Type': 'Application/Offset+Octet-Stream; charset=binary' }
        expectOffset(await append(service, upload, { body: 'four', headers }), 4)
      })

      it('a PATCH of nothing at the offset is 204, and is no progress', async () => {
        const upload = await createUpload(service, { user, length: 9 })
        const before = jsonOf(await look(service, upload))
        await appended(service, upload, { body: '' })
        expect(jsonOf(await look(service, upload))).toEqual(before)
      })

      it('a PATCH of a finished upload is 409 unless it adds nothing, and leaves the file as it is', async () => {
        const upload = await createUpload(service, { user, length: 4 })
        await appended(service, upload, { body: 'four' })
        await appended(service, upload, { offset: 4, body: '' })
        const reply = await append(service, upload, { offset: 0, body: 'more' })
        expect(expectProblem(reply, { status: 409, code: 'offset_mismatch' })['offset']).toBe(4)
        expect(await offsetOf(service, upload)).toBe(4)
        await expectFile(service, upload, 'four')
      })
    })

    describe('OPTIONS', () => {
      it('OPTIONS describes the service without a token or a version', async () => {
        const { status, headers, body } = await ask(service, { method: 'OPTIONS', path: UPLOADS })
        expect({ status, body: body.toString() }).toEqual({ status: 204, body: '' })
        expect(headers).toMatchObject({
          'tus-resumable': '1.0.0',
          'tus-version': '1.0.0',
          'tus-max-size': `${64 * MIB}`,
          'tus-extension':
            'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
          'tus-checksum-algorithm': 'sha1,sha256',
        })
      })

      it('ignores any Tus-Resumable', async () => {
        const headers = { 'Tus-Resumable': '0.2.2' }
        const reply = await ask(service, { method: 'OPTIONS', path: UPLOADS, headers })
        expect(reply.status).toBe(204)
      })
    })

    describe('Tus-Resumable', () => {
      it.each([undefined, '0.2.2', '1.0.1', '2.0.0', '', '1.0.0, 1.0.0'])(
        'Tus-Resumable of %s is 412 with the version that is supported, and nothing happens',
        async (version) => {
          const upload = await createUpload(service, { user, length: 9 })
          const own = { 'Upload-Metadata': `filename ${base64('b')}`, 'Upload-Length': '1' }
          const more = { ...own, ...OFFSET_TYPE, 'Upload-Offset': '0' }
          const headers: Record<string, string> =
            version === undefined ? more : { ...more, 'Tus-Resumable': version }
          const { path } = upload
          const before = await listed(service, user)
          for (const request of [
            { method: 'POST', path: UPLOADS },
            { method: 'PATCH', path, body: 'four' },
            { method: 'DELETE', path },
            { method: 'POST', path, body: 'four' },
          ]) {
            const reply = await ask(service, { user, headers, ...request })
            expectProblem(reply, UNSUPPORTED)
            expect(reply.headers).toMatchObject({
              'tus-version': '1.0.0',
              'tus-resumable': '1.0.0',
            })
          }
          // Without a version a HEAD looks only.
          const refused = { status: 412, headers: { 'tus-version': '1.0.0' } }
          const reply = await head(service, upload, headers)
          expect(reply).toMatchObject(version === undefined ? { status: 200 } : refused)
          expect(await listed(service, user)).toEqual(before)
          expect(await offsetOf(service, upload)).toBe(0)
        },
      )

      it('is in the answer to every refusal, also of a method or a token', async () => {
        const { path } = await createUpload(service, { user, length: 9 })
        const wrong = { headers: { ...TUS, Cookie: 'access_token=wrong' } }
        for (const request of [
          { method: 'PATCH', path, headers: TUS },
          { method: 'DELETE', path: `${UPLOADS}/none`, user, headers: TUS },
          { method: 'POST', path: UPLOADS, ...wrong },
          { method: 'PUT', path, user, headers: TUS },
          { method: 'PATCH', path: UPLOADS, user, headers: TUS },
          {
            method: 'POST',
            path: UPLOADS,
            user,
            headers: { ...TUS, Origin: 'https://evil.example' },
          },
        ]) {
          const reply = await ask(service, request)
          expect({ ...request, status: Math.floor(reply.status / 100) }).toMatchObject({
            status: 4,
          })
          expect({ ...request, tus: reply.headers['tus-resumable'] }).toMatchObject({
            tus: '1.0.0',
          })
        }
      })
    })

    describe('X-HTTP-Method-Override', () => {
      const method = 'POST'

      it.each(['PATCH', 'patch'])(
        'X-HTTP-Method-Override of %s makes a POST an append',
        async (override) => {
          const upload = await createUpload(service, { user, length: 4 })
          const headers = { 'X-HTTP-Method-Override': override }
          expectOffset(await append(service, upload, { method, body: 'four', headers }), 4)
          await expectFile(service, upload, 'four')
        },
      )

      it('X-HTTP-Method-Override of DELETE makes a POST a cancellation', async () => {
        const upload = await createUpload(service, { user, length: 4 })
        const headers = { 'X-HTTP-Method-Override': 'DELETE' }
        expect((await append(service, upload, { method, headers })).status).toBe(204)
        expect((await head(service, upload)).status).toBe(404)
      })

      it.each([undefined, 'PUT', 'GET', 'PATCH, DELETE'])(
        'X-HTTP-Method-Override of %s leaves a POST of an upload a 405',
        async (override) => {
          const upload = await createUpload(service, { user, length: 4 })
          const headers: Record<string, string> =
            override === undefined ? {} : { 'X-HTTP-Method-Override': override }
          const reply = await append(service, upload, { method, body: 'four', headers })
          expectProblem(reply, { status: 405, code: 'method_not_allowed' })
          expect(reply.headers['allow']).toBe('GET, HEAD, PATCH, DELETE')
          expect(await stateOf(service, upload)).toBe('open')
        },
      )
    })

    it('takes the path of the creation with a slash at its end, too', async () => {
      const headers = { ...TUS, 'Upload-Length': '0', 'Upload-Metadata': `filename ${base64('/')}` }
      const refused = await ask(service, { user, method: 'POST', path: `${UPLOADS}/`, headers })
      expectProblem(refused, { status: 400, code: 'invalid_file_name' })
      const reply = await create(service, { user, length: 4 })
      expect(reply.headers['location']).toMatch(/^\/users\/me\/uploads\/[0-9a-f-]{36}$/)
    })
  })
}
