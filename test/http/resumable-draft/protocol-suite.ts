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
  usageOf,
} from '../fixture.ts'
import { finishElsewhere } from '../resumable/tus-requests.ts'
import {
  append,
  appendChunked,
  cancel,
  create,
  createUpload,
  DRAFT,
  expectAppended,
  expectOffset,
  expectRefused,
  expectStored,
  head,
} from './draft-requests.ts'

/** draft-ietf-httpbis-resumable-upload, interop version 8, by its section titles. */
export function draftProtocolSuite(open: OpenService): void {
  describe('the IETF draft, interop version 8', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ maxFileSize: 32 * MIB })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    describe('Upload Creation', () => {
      it('creates an upload without content, with its length reserved', async () => {
        const reply = await create(service, { user, name: 'a.bin', length: 9 })
        expect(reply).toMatchObject({
          status: 201,
          headers: {
            location: expect.stringMatching(/^\/users\/me\/uploads\/[0-9a-f-]{36}$/) as string,
            'upload-complete': '?0',
            'upload-offset': '0',
            'upload-limit': expect.stringMatching(
              /^max-size=33554432, max-age=(600|59\d)$/,
            ) as string,
            'upload-draft-interop-version': '8',
            'cache-control': 'no-store',
          },
        })
        expect(reply.headers['tus-resumable']).toBeUndefined()
        expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 9 })
      })

      it('takes the first part with it', async () => {
        const upload = await createUpload(service, { user, length: 9, body: 'four' })
        const { headers } = await expectOffset(service, upload, 4)
        expect(headers).toMatchObject({ 'upload-length': '9' })
        const reply = await append(service, upload, { offset: 4, complete: '?1', body: 'teen!' })
        await expectStored(service, reply, { ...upload, content: 'fourteen!' })
      })

      it.each(['POST', 'PUT'])(
        'takes a whole file by %s of a part and the rest',
        async (method) => {
          const upload = await createUpload(service, { user, method, body: 'four' })
          const reply = await append(service, upload, { offset: 4, complete: '?1', body: 'teen' })
          await expectStored(service, reply, { ...upload, content: 'fourteen' })
        },
      )

      it('takes a whole file by a raw POST', async () => {
        const reply = await create(service, { user, method: 'POST', complete: '?1', body: 'whole' })
        await expectStored(service, reply, { user, name: 'file.bin', content: 'whole' })
      })

      it('takes an empty file by a raw POST', async () => {
        const reply = await create(service, { user, method: 'POST', complete: '?1' })
        await expectStored(service, reply, { user, name: 'file.bin', content: '' })
      })

      it('ignores media type and disposition of the file', async () => {
        const headers = { 'Content-Type': '???', 'Content-Disposition': 'inline; filename="x"' }
        const upload = await createUpload(service, { user, name: 'a.txt', body: 'four', headers })
        const reply = await append(service, upload, { offset: 4, complete: '?1' })
        await expectStored(service, reply, { ...upload, content: 'four' })
      })

      it('refuses two lengths that differ, before the content', async () => {
        const creation = { user, method: 'POST', complete: '?1', length: 100, body: '12345' }
        const type = 'inconsistent-upload-length'
        expectRefused(await create(service, creation), {
          status: 400,
          code: 'invalid_parameter',
          type,
        })
        expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
      })

      it('refuses content beyond the length and keeps nothing', async () => {
        const reply = await create(service, { user, length: 3, body: '12345' })
        const type = 'inconsistent-upload-length'
        expectRefused(reply, { status: 400, code: 'invalid_parameter', type })
        expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
      })

      it('refuses a length above the largest file, and names the limit', async () => {
        const reply = await create(service, { user, length: 32 * MIB + 1 })
        expectRefused(reply, { status: 413, code: 'file_too_large' })
        expect(reply.headers['upload-limit']).toBe('max-size=33554432')
      })
    })

    describe('Offset Retrieval', () => {
      it('has no length while none was indicated', async () => {
        const upload = await createUpload(service, { user, body: 'four' })
        const { headers } = await expectOffset(service, upload, 4)
        expect(headers['upload-length']).toBeUndefined()
        expect(headers['upload-limit']).toMatch(/^max-size=33554432, max-age=\d+$/)
      })

      it('answers GET as HEAD, without content', async () => {
        const upload = await createUpload(service, { user, length: 9, body: 'four' })
        const reply = await ask(service, { user, path: upload.path, headers: DRAFT })
        expect(reply).toMatchObject({
          status: 204,
          headers: { 'upload-offset': '4', 'upload-complete': '?0', 'upload-length': '9' },
        })
      })

      it('tells of a finished upload that it is complete, without an age', async () => {
        const upload = await createUpload(service, { user })
        await append(service, upload, { complete: '?1', body: 'four' })
        expect(await head(service, upload)).toMatchObject({
          status: 204,
          headers: {
            'upload-offset': '4',
            'upload-length': '4',
            'upload-complete': '?1',
            'upload-limit': 'max-size=33554432',
          },
        })
      })

      it('tells the offset of an upload that another request is finishing', async () => {
        const upload = await createUpload(service, { user, length: 1 })
        await finishElsewhere(service, { user, version: upload.id })
        await expectOffset(service, upload, 1)
      })
    })

    describe('Upload Append', () => {
      it('refuses another offset, and tells the right one', async () => {
        const upload = await createUpload(service, { user, length: 9, body: 'four' })
        const reply = await append(service, upload, { offset: 2, body: 'r' })
        const refusal = { status: 409, code: 'offset_mismatch' } as const
        const problem = expectRefused(reply, { ...refusal, type: 'mismatching-upload-offset' })
        expect(problem).toMatchObject({ 'expected-offset': 4, 'provided-offset': 2, offset: 4 })
        expect(reply.headers['upload-offset']).toBe('4')
        await expectOffset(service, upload, 4)
      })

      it('refuses another offset of an upload that another request is finishing', async () => {
        const upload = await createUpload(service, { user, length: 1 })
        await finishElsewhere(service, { user, version: upload.id })
        for (const offset of [0, 1]) {
          const reply = await append(service, upload, { offset, complete: '?1' })
          const refusal = { status: 409, code: 'offset_mismatch' } as const
          const problem = expectRefused(reply, { ...refusal, type: 'mismatching-upload-offset' })
          expect(problem).toMatchObject({ 'expected-offset': 1, 'provided-offset': offset })
          expect(reply.headers['upload-offset']).toBe('1')
        }
      })

      it.each([
        ['a later length', { length: 8 }],
        ['the end of the content', { complete: '?1' }],
      ])('refuses %s that is not the length known', async (_what, more) => {
        const upload = await createUpload(service, { user, length: 9 })
        const reply = await append(service, upload, { body: 'four', ...more })
        const type = 'inconsistent-upload-length'
        expectRefused(reply, { status: 400, code: 'invalid_parameter', type })
        await expectOffset(service, upload, 0)
      })

      it('records a length that is indicated later', async () => {
        const upload = await createUpload(service, { user })
        expectAppended(await append(service, upload, { body: 'four', length: 9 }), 4)
        expect((await head(service, upload)).headers['upload-length']).toBe('9')
      })

      it.each(['known', 'chunked'])(
        'ends an upload whose content goes beyond the length (size %s)',
        async (size) => {
          const upload = await createUpload(service, { user, length: 3 })
          const send = size === 'known' ? append : appendChunked
          const reply = await send(service, upload, { body: '12345' })
          const type = 'inconsistent-upload-length'
          expectRefused(reply, { status: 400, code: 'invalid_parameter', type })
          // The head of a request of known size is refused before an append claims the upload.
          expect((await head(service, upload)).status).toBe(size === 'known' ? 404 : 410)
          expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
        },
      )

      it('learns the length from where chunked content ends', async () => {
        const upload = await createUpload(service, { user, body: 'four' })
        const reply = await appendChunked(service, upload, {
          offset: 4,
          complete: '?1',
          body: 'teen',
        })
        await expectStored(service, reply, { ...upload, content: 'fourteen' })
        expect((await head(service, upload)).headers['upload-length']).toBe('8')
      })

      it('refuses chunked content that ends the file short of its length, and keeps it', async () => {
        const upload = await createUpload(service, { user, length: 9 })
        const reply = await appendChunked(service, upload, { complete: '?1', body: 'four' })
        const type = 'inconsistent-upload-length'
        expectRefused(reply, { status: 400, code: 'invalid_parameter', type })
        await expectOffset(service, upload, 4)
      })

      it('takes an empty append, and none', async () => {
        const upload = await createUpload(service, { user, length: 4 })
        expectAppended(await append(service, upload, {}), 0)
        expectAppended(await append(service, upload, { body: 'four' }), 4)
        expectAppended(await append(service, upload, { offset: 4 }), 4)
      })

      it('replays the reply to the end of the file, to a client that has lost it', async () => {
        const { user, name } = await placeFile(service)
        const upload = await createUpload(service, { user, name })
        const first = await append(service, upload, { complete: '?1', body: 'four' })
        const json = await expectStored(service, first, { ...upload, content: 'four' })
        expect(json).toMatchObject({ replaced: true })
        const again = await append(service, upload, { offset: 4, complete: '?1' })
        expect(jsonOf(again)).toEqual(json)
        expect(again.headers['upload-complete']).toBe('?1')
      })

      it('refuses more content for a finished upload', async () => {
        const upload = await createUpload(service, { user })
        await append(service, upload, { complete: '?1', body: 'four' })
        const repeated = await append(service, upload, { complete: '?1', body: 'four' })
        const mismatch = { status: 409, code: 'offset_mismatch' } as const
        expectRefused(repeated, { ...mismatch, type: 'mismatching-upload-offset' })
        expect(repeated.headers['upload-offset']).toBe('4')
        const more = await append(service, upload, { offset: 4, complete: '?1', body: 'more' })
        const type = 'inconsistent-upload-length'
        expectRefused(more, { status: 400, code: 'invalid_parameter', type })
      })

      it('stores a file with the last byte of its length, and replies so to an empty end', async () => {
        const upload = await createUpload(service, { user, length: 4, body: 'four' })
        expect(await head(service, upload)).toMatchObject({
          status: 204,
          headers: { 'upload-offset': '4', 'upload-complete': '?1' },
        })
        const reply = await append(service, upload, { offset: 4, complete: '?1' })
        await expectStored(service, reply, { ...upload, content: 'four' })
      })
    })

    describe('Upload Cancellation', () => {
      it('ends an upload of which the length is unknown, and leaves the old file', async () => {
        const placed = await placeFile(service)
        const { user, name } = placed
        const upload = await createUpload(service, { user, name, body: 'four' })
        expect((await cancel(service, upload)).status).toBe(204)
        expect((await head(service, upload)).status).toBe(410)
        const last = await append(service, upload, { offset: 4, complete: '?1' })
        expectRefused(last, { status: 410, code: 'upload_gone' })
        const used = placed.content.length
        expect(await usageOf(service, user)).toMatchObject({ used, reserved: 0 })
      })

      it('refuses to cancel a finished upload', async () => {
        const upload = await createUpload(service, { user })
        await append(service, upload, { complete: '?1', body: 'four' })
        expect((await cancel(service, upload)).status).toBe(410)
      })
    })

    describe('Limits', () => {
      it.each(['file', 'upload'])(
        'tells them in response to OPTIONS of the %s, without a token',
        async (of) => {
          const { path } = await createUpload(service, { user })
          const target = of === 'file' ? pathOf('new') : path
          const reply = await ask(service, { method: 'OPTIONS', path: target, headers: DRAFT })
          expect(reply).toMatchObject({
            status: 204,
            headers: {
              'upload-limit': 'max-size=33554432',
              'accept-patch': expect.stringMatching(/\bapplication\/partial-upload$/) as string,
              'upload-draft-interop-version': '8',
            },
          })
        },
      )

      it('refuses a file name that no file can have', async () => {
        const path = pathOf('x'.repeat(256))
        const reply = await ask(service, { method: 'OPTIONS', path, headers: DRAFT })
        expectProblem(reply, { status: 400, code: 'invalid_file_name' })
      })
    })
  })
}
