import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpChunk } from '../../support/http/multipart-body.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  expectNothingReserved,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  placeFile,
  SHORT_LINGER,
  usageOf,
} from '../fixture.ts'
import {
  appended,
  base64,
  create,
  createUpload,
  creationHeaders,
  expectFile,
  head,
  headText,
  listed,
  look,
  OFFSET_TYPE,
  offsetOf,
  TUS,
  uploadOf,
  UPLOADS,
  expectOnlyFilesOf,
  expectOldFile,
} from './tus-requests.ts'

const LENGTH_EXCEEDED = { status: 413, code: 'upload_length_exceeded' } as const
const WRONG_HEADER = { status: 400, code: 'invalid_parameter' } as const

/** tus 1.0.0, extension "Creation" with "Creation With Upload". */
export function creationSuite(open: OpenService): void {
  describe('the creation of a resumable upload', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    it('answers 201 with the location and the expiry, and reserves the length', async () => {
      const reply = await create(service, { user, length: 1000 })
      expect({ status: reply.status, body: reply.body.toString() }).toEqual({
        status: 201,
        body: '',
      })
      expect(reply.headers).toMatchObject({ 'tus-resumable': '1.0.0', 'cache-control': 'no-store' })
      expect(reply.headers['location']).toMatch(/^\/users\/me\/uploads\/[0-9a-f-]{36}$/)
      const livesMs = Date.parse(String(reply.headers['upload-expires'])) - Date.now()
      expect(livesMs / 60_000).toBeGreaterThan(8)
      expect(livesMs / 60_000).toBeLessThan(11)
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 1000, fileCount: 0 })
    })

    it('a creation of an empty file stores it at once, over an older one too', async () => {
      const placed = await placeFile(service)
      const upload = await createUpload(service, { user: placed.user, length: 0 })
      await expectFile(service, upload, '')
      expect(await offsetOf(service, upload)).toBe(0)
      expect(await listed(service, placed.user)).toEqual([])
    })

    it('keeps all metadata and shows it decoded', async () => {
      const metadata = [
        `filename ${base64('fïlm 🎬.mov')}`,
        `modified ${base64('1763812345678')}`,
        'is_confidential',
        `__proto__ ${base64('x')}`,
        `constructor ${base64('y')}`,
        `binary ${base64(Buffer.from([0xff, 0xfe]))}`,
      ].join(',')
      const upload = await createUpload(service, { user, length: 4, metadata, name: 'fïlm 🎬.mov' })
      expect((await head(service, upload)).headers['upload-metadata']).toBe(metadata)
      const shown = jsonOf(await look(service, upload))
      expect(Object.entries(shown['metadata'] as object)).toEqual([
        ['filename', 'fïlm 🎬.mov'],
        ['modified', '1763812345678'],
        ['is_confidential', ''],
        ['__proto__', 'x'],
        ['constructor', 'y'],
        ['binary', '\ufffd\ufffd'],
      ])
      await appended(service, upload, { body: 'four' })
      await expectFile(service, upload, 'four')
    })

    it('takes the name from "filename", else from "name"', async () => {
      const both = `name ${base64('second')},filename ${base64('first')}`
      for (const [name, metadata] of [
        ['first', both],
        ['second', `name ${base64('second')}`],
      ] as const) {
        await appended(service, await createUpload(service, { user, length: 1, metadata }), {
          body: 'x',
        })
        await expectFile(service, { user, name }, 'x')
      }
    })

    it('shows everything else that is known of an upload', async () => {
      const upload = await createUpload(service, { user, length: 9, query: '?visibility=users' })
      await appended(service, upload, { body: 'four' })
      const reply = await look(service, upload)
      expect(reply.headers['cache-control']).toBe('no-store')
      const {
        created_at: created,
        updated_at: updated,
        expires_at: expires,
        ...shown
      } = jsonOf(reply)
      expect(shown).toEqual({
        upload_id: upload.id,
        name: 'file.bin',
        state: 'open',
        offset: 4,
        length: 9,
        visibility: 'users',
        metadata: { filename: 'file.bin' },
        refusal: null,
        file: null,
      })
      const times = [created, updated, expires].map((time) => Date.parse(String(time)))
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      await appended(service, upload, { offset: 4, body: 'five!' })
      const finished = jsonOf(await look(service, upload))
      const file = { name: 'file.bin', version: upload.id, size: 9, visibility: 'users' }
      expect(finished).toMatchObject({ state: 'finished', offset: 9, refusal: null, file })
    })

    it('lists the unfinished uploads in pages, oldest first', async () => {
      const ids: string[] = []
      for (const name of ['c', 'a', 'b']) {
        ids.push((await createUpload(service, { user, name, length: 1 })).id)
      }
      const finished = await createUpload(service, { user, name: 'd', length: 0 })
      expect(await listed(service, user)).toEqual(ids)
      const reply = await ask(service, { user, path: `${UPLOADS}?limit=2` })
      expect(reply.headers['cache-control']).toBe('no-store')
      const first = jsonOf(reply)
      const cursor = encodeURIComponent(String(first['next_cursor']))
      const path = `${UPLOADS}?limit=2&cursor=${cursor}`
      const second = jsonOf(await ask(service, { user, path }))
      const names = [first, second].flatMap(({ uploads }) =>
        (uploads as readonly { readonly name: string }[]).map(({ name }) => name),
      )
      expect(names).toEqual(['c', 'a', 'b'])
      expect(second['next_cursor']).toBeNull()
      expect(ids).not.toContain(finished.id)
      for (const query of ['limit=0', 'limit=x', 'cursor=x', 'cursor=WyIiXQ']) {
        expectProblem(await ask(service, { user, path: `${UPLOADS}?${query}` }), WRONG_HEADER)
      }
    })

    describe('with content', () => {
      it('appends it, and answers 201 with the offset', async () => {
        const reply = await create(service, { user, length: 9, body: 'four' })
        expect(reply).toMatchObject({ status: 201, headers: { 'upload-offset': '4' } })
        expect(reply.headers['upload-expires']).toBeDefined()
        const upload = uploadOf(reply, { user })
        await appended(service, upload, { offset: 4, body: 'five!' })
        await expectFile(service, upload, 'fourfive!')
      })

      it('a creation with all the bytes stores the file', async () => {
        const content = randomBytes(200_000)
        const reply = await create(service, { user, length: content.length, body: content })
        expect(reply.headers).toMatchObject({
          'upload-offset': `${content.length}`,
          'repr-digest': expect.stringMatching(/^sha-256=:.*:$/) as string,
        })
        await expectFile(service, uploadOf(reply, { user }), content)
      })

      it('content of unknown size in a creation is appended', async () => {
        const headers = {
          ...creationHeaders({ length: 9, body: '' }),
          'Transfer-Encoding': 'chunked',
          Cookie: user.cookie,
        }
        const send = [headText(`POST ${UPLOADS}`, headers), httpChunk('four'), httpChunk('')]
        const reply = await rawRequest({ port: service.port, send })
        expect(reply).toMatchObject({ status: 201, headers: { 'upload-offset': '4' } })
      })

      it.each([
        ['beyond the length', { length: 3, body: 'four' }, LENGTH_EXCEEDED],
        ['of an empty file', { length: 0, body: 'four' }, LENGTH_EXCEEDED],
        [
          'of another type',
          { length: 4, body: 'four', headers: { 'Content-Type': 'text/plain' } },
          { status: 415, code: 'unsupported_media_type' },
        ],
        [
          'with another checksum',
          {
            length: 4,
            body: 'four',
            headers: { 'Upload-Checksum': `sha1 ${base64('x'.repeat(20))}` },
          },
          { status: 460, code: 'checksum_mismatch' },
        ],
        [
          'with a malformed checksum',
          { length: 4, body: 'four', headers: { 'Upload-Checksum': 'md5 x' } },
          WRONG_HEADER,
        ],
        [
          'that is compressed',
          { length: 4, body: 'four', headers: { 'Content-Encoding': 'gzip' } },
          { status: 400, code: 'format_error' },
        ],
      ] as const)(
        '%s is refused and leaves nothing, nor does it touch the old file',
        async (_what, creation, problem) => {
          const placed = await placeFile(service)
          expectProblem(await create(service, { user: placed.user, ...creation }), problem)
          expect(await listed(service, placed.user)).toEqual([])
          await expectOldFile(service, placed)
        },
      )

      it('content without a type in a creation is refused rather than ignored', async () => {
        const { 'Content-Length': _, ...headers } = creationHeaders({ length: 4 }) as Record<
          string,
          string
        >
        const reply = await ask(service, {
          user,
          method: 'POST',
          path: UPLOADS,
          headers,
          body: 'four',
        })
        expectProblem(reply, { status: 415, code: 'unsupported_media_type' })
        expect(await listed(service, user)).toEqual([])
      })

      it('a creation without content needs no type, and may have any', async () => {
        for (const type of [
          'text/plain',
          'application/json',
          OFFSET_TYPE['Content-Type'],
          undefined,
        ]) {
          const headers = { ...creationHeaders({ length: 4 }) } as Record<string, string>
          delete headers['Content-Length']
          if (type !== undefined) headers['Content-Type'] = type
          const reply = await ask(service, { user, method: 'POST', path: UPLOADS, headers })
          expect({ type, status: reply.status }).toEqual({ type, status: 201 })
        }
      })

      it.each(['end', 'reset'] as const)(
        'R11 that breaks off (%s) leaves nothing, since nobody has heard of it',
        async (afterwards) => {
          const headers = {
            ...creationHeaders({ length: 1000, body: '' }),
            'Content-Length': '1000',
            Cookie: user.cookie,
          }
          async function* send() {
            yield headText(`POST ${UPLOADS}`, headers)
            yield randomBytes(600)
            await expect.poll(() => usageOf(service, user)).toMatchObject({ reserved: 1000 })
          }
          await rawRequest({ port: service.port, send: send(), afterwards })
          await expectNothingReserved(service, user)
          expect(await listed(service, user)).toEqual([])
          await expectOnlyFilesOf(service, { user, names: [] })
        },
      )
    })

    it('a creation without a word of a length, or with two, is 400', async () => {
      const both = { 'Upload-Defer-Length': '1' }
      for (const creation of [
        {},
        { length: 4, headers: both },
        { headers: { 'Upload-Defer-Length': '2' } },
      ]) {
        expectProblem(await create(service, { user, ...creation }), WRONG_HEADER)
      }
      expect(await listed(service, user)).toEqual([])
    })

    it('a creation with Upload-Concat is 400, since uploads are not concatenated', async () => {
      for (const concat of ['partial', 'final;/users/me/uploads/a /users/me/uploads/b', '']) {
        const headers = { ...TUS, 'Upload-Concat': concat }
        const reply = await create(service, { user, length: 4, headers })
        const { detail } = expectProblem(reply, WRONG_HEADER)
        expect(detail).toContain('parallelUploads: 1')
      }
    })
  })
}
