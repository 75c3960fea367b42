import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  FORM_TYPE,
  MIB,
  type OpenService,
  pathOf,
  placeFile,
  SHORT_LINGER,
  usageOf,
} from '../fixture.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import { expectOldFile, TUS, type TusUpload } from '../resumable/tus-requests.ts'
import {
  append,
  create,
  createUpload,
  DRAFT,
  expectOffset,
  expectRefused,
  PARTIAL_TYPE,
} from './draft-requests.ts'

type Headers = Readonly<Record<string, string>>

const INVALID = { status: 400, code: 'invalid_parameter' } as const
const FORM = { 'Content-Type': 'multipart/form-data; boundary=x' }
const FORMAT = { status: 400, code: 'format_error' } as const

const OTHER_VERSION = { 'Upload-Draft-Interop-Version': '6' } as const

/** The last one is sent in two lines. */
const NOT_WHOLE: readonly Headers[] = [
  ...['', '?0, ?0', '1', 'true', '?2', '?1, ?1', '?1;'].map((value) => ({
    'Upload-Complete': value,
  })),
  { 'Upload-Complete': '?0', 'upload-complete': '?0' },
]

/** Requests that nothing comes of, and their refusals. */
export function badDraftInputSuite(open: OpenService): void {
  describe('bad input to the IETF draft', () => {
    let service: TestService
    let user: TestUser
    let upload: TusUpload
    beforeAll(async () => {
      service = await open({ ...SHORT_LINGER, maxFileSize: 16 * MIB })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
      upload = await createUpload(service, { user, length: 9, body: 'four' })
    })

    it.each([
      ['Upload-Length', '1.0'],
      ['Upload-Complete', '1'],
      ['Content-Digest', 'sha-256=:AA==:'],
      ['Repr-Digest', 'sha-256=1'],
    ] as const)('is refused at the creation: %s: %s', async (name, value) => {
      const headers = { [name]: value }
      const problem = expectRefused(await create(service, { user, body: 'x', headers }), INVALID)
      expect(problem['parameter']).toBe(name)
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 9 })
    })

    it.each([
      ['Upload-Offset', '-1'],
      ['Upload-Length', ''],
      ['Upload-Complete', '?1?'],
      ['Content-Digest', 'sha-256=?1'],
      ['Repr-Digest', ':'],
    ] as const)('is refused in an append: %s: %s', async (name, value) => {
      const headers = { [name]: value }
      const reply = await append(service, upload, { offset: 4, body: 'x', headers })
      expect(expectRefused(reply, INVALID)['parameter']).toBe(name)
      await expectOffset(service, upload, 4)
    })

    it.each<[string, Headers, { status: number; code: ErrorCode }]>([
      ['without an offset', { 'Upload-Complete': '?0', ...PARTIAL_TYPE }, INVALID],
      ['without completeness', { 'Upload-Offset': '4', ...PARTIAL_TYPE }, INVALID],
      [
        'of another media type',
        {
          'Upload-Offset': '4',
          'Upload-Complete': '?0',
          'Content-Type': 'application/octet-stream',
        },
        { status: 415, code: 'unsupported_media_type' },
      ],
      [
        'of no media type',
        { 'Upload-Offset': '4', 'Upload-Complete': '?0' },
        { status: 415, code: 'unsupported_media_type' },
      ],
      [
        'with a content coding',
        {
          'Upload-Offset': '4',
          'Upload-Complete': '?0',
          ...PARTIAL_TYPE,
          'Content-Encoding': 'gzip',
        },
        FORMAT,
      ],
      [
        'with a range',
        {
          'Upload-Offset': '4',
          'Upload-Complete': '?0',
          ...PARTIAL_TYPE,
          'Content-Range': 'bytes 4-4/9',
        },
        FORMAT,
      ],
    ])('is refused in an append %s', async (_what, headers, refusal) => {
      const all = { ...DRAFT, ...headers }
      const { path } = upload
      const reply = await ask(service, { user, method: 'PATCH', path, headers: all, body: 'x' })
      expectRefused(reply, refusal)
      await expectOffset(service, upload, 4)
    })

    it.each<[string, { method?: string; headers: Headers }, { status: number; code: ErrorCode }]>([
      ['a part of a form', { method: 'POST', headers: FORM }, FORMAT],
      ['a content coding', { headers: { 'Content-Encoding': 'gzip' } }, FORMAT],
      ['a range', { headers: { 'Content-Range': 'bytes 0-0/9' } }, FORMAT],
      ['a malformed precondition', { headers: { 'If-Match': 'x' } }, INVALID],
    ])('is refused at the creation: %s', async (_what, creation, refusal) => {
      expectRefused(await create(service, { user, body: 'x', ...creation }), refusal)
    })

    it.each([
      ['PUT', 'part', {}],
      ['POST', fileBody('part'), { 'Content-Type': FORM_TYPE }],
    ] as const)('never makes a file of what may be a part (%s)', async (method, body, type) => {
      const placed = await placeFile(service)
      const path = pathOf(placed.name)
      for (const protocol of [{}, DRAFT, OTHER_VERSION, TUS, { ...DRAFT, ...TUS }]) {
        for (const complete of NOT_WHOLE) {
          const headers = { ...type, ...protocol, ...complete }
          const reply = await ask(service, { ...placed, method, path, headers, body })
          expect({ headers, status: reply.status }).toEqual({ headers, status: 400 })
          expect(expectRefused(reply, INVALID)['parameter']).toBe('Upload-Complete')
        }
      }
      await expectOldFile(service, placed)
    })

    it('is refused for a name that no file can have, and without a token', async () => {
      const nameless = await create(service, { user, name: '..' })
      expectRefused(nameless, { status: 400, code: 'invalid_file_name' })
      expectRefused(await create(service, {}), { status: 403, code: 'access_token_missing' })
    })
  })
}
