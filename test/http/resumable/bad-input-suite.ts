import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpChunk } from '../../support/http/multipart-body.ts'
import { type RawExchange, rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  SHORT_LINGER,
  usageOf,
} from '../fixture.ts'
import {
  append,
  appended,
  createUpload,
  head,
  headText,
  listed,
  look,
  offsetOf,
  OFFSET_TYPE,
  resume,
  TUS,
  type TusUpload,
  UPLOADS,
} from './tus-requests.ts'

type Line = readonly [name: string, value: string]

/** What is no number of bytes. */
const NO_NUMBERS = [
  '-1',
  '+1',
  '1.0',
  '1e3',
  '0x10',
  ' ',
  '',
  'NaN',
  'Infinity',
  '٣',
  '1 ',
  '9007199254740992',
  '18446744073709551616',
  '9'.repeat(400),
  '4, 4',
  '4,9',
  'null',
].filter((text) => text.trim() === text || text === ' ')

/** Input that no client should send: always a clear 4xx with a code, and nothing lost. */
export function badUploadInputSuite(open: OpenService): void {
  describe('wrong input to a resumable upload', () => {
    let service: TestService
    let user: TestUser
    let upload: TusUpload
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
      user = await service.createUser(64 * MIB)
      upload = await createUpload(service, { user, name: 'kept', length: 9 })
      await appended(service, upload, { body: 'four' })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      expect(await offsetOf(service, upload)).toBe(4)
      expect(await listed(service, user)).toEqual([upload.id])
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 9 })
    })

    function raw(start: string, lines: readonly Line[], ...body: (string | Uint8Array)[]) {
      const all: readonly Line[] = [...lines, ['Cookie', user.cookie]]
      const send = [headText(start, all), ...body]
      return rawRequest({ port: service.port, send, timeoutMs: 8_000 })
    }

    function post(lines: readonly Line[]): Promise<RawExchange> {
      const given = new Set(lines.map(([name]) => name.toLowerCase()))
      const usual: readonly Line[] = [
        ['Tus-Resumable', '1.0.0'],
        ['Content-Length', '0'],
        ['Upload-Length', '4'],
        ['Upload-Metadata', 'filename YQ=='],
      ]
      return raw(`POST ${UPLOADS}`, [
        ...usual.filter(([name]) => !given.has(name.toLowerCase())),
        ...lines,
      ])
    }

    function patch(lines: readonly Line[], body = 'five!'): Promise<RawExchange> {
      const given = new Set(lines.map(([name]) => name.toLowerCase()))
      const usual: readonly Line[] = [
        ['Tus-Resumable', '1.0.0'],
        ['Content-Type', 'application/offset+octet-stream'],
        ['Content-Length', `${body.length}`],
        ['Upload-Offset', '4'],
      ]
      const all = [...usual.filter(([name]) => !given.has(name.toLowerCase())), ...lines]
      return raw(`PATCH ${upload.path}`, all, body)
    }

    /** A refusal of the client with a code; which one, the caller says. */
    function expectRefusal(reply: RawExchange, codes: readonly string[]): void {
      const { code } = reply.status === 0 ? {} : jsonOf(reply)
      expect({ status: Math.floor(reply.status / 100), code }).toEqual({
        status: 4,
        code: expect.stringMatching(new RegExp(`^(${codes.join('|')})$`)) as string,
      })
    }

    it.each(NO_NUMBERS)('an Upload-Length of "%s" is 400', async (value) => {
      expectRefusal(await post([['Upload-Length', value]]), ['invalid_parameter', 'format_error'])
      const declared = await patch([['Upload-Length', value]])
      expectRefusal(declared, ['invalid_parameter', 'format_error'])
    })

    it.each(NO_NUMBERS)('an Upload-Offset of "%s" is 400', async (value) => {
      const reply = await patch([['Upload-Offset', value]])
      expectRefusal(reply, ['invalid_parameter', 'format_error'])
    })

    it.each(['If-Match', 'If-None-Match'])('an %s too long to be stored is 400', async (name) => {
      // As JSON, each takes 39 bytes.
      const tags = (count: number): string =>
        Array.from({ length: count }, () => `"${'x'.repeat(36)}"`).join(', ')
      const refused = await post([[name, tags(27)]])
      expectRefusal(refused, ['invalid_parameter'])
      expect(jsonOf(refused)).toMatchObject({ parameter: name })
      const short = await post([[name, tags(25)]])
      expect(short.status).toBe(name === 'If-Match' ? 412 : 201)
      const made = short.headers['location'] ?? UPLOADS
      await raw(`DELETE ${made}`, [['Tus-Resumable', '1.0.0']])
    })

    it('the largest numbers are refused for what they mean', async () => {
      const most = `${Number.MAX_SAFE_INTEGER}`
      expectRefusal(await post([['Upload-Length', most]]), ['file_too_large'])
      expectRefusal(await patch([['Upload-Offset', most]]), ['offset_mismatch'])
      expectRefusal(await patch([['Upload-Length', most]]), ['invalid_parameter'])
    })

    it('a header that comes twice is 400', async () => {
      for (const [name, value] of [
        ['Upload-Length', '4'],
        ['Upload-Metadata', 'filename YQ=='],
      ] as const) {
        expectRefusal(
          await post([
            [name, value],
            [name, value],
          ]),
          ['invalid_parameter'],
        )
      }
      expectRefusal(
        await patch([
          ['Upload-Offset', '4'],
          ['Upload-Offset', '4'],
        ]),
        ['invalid_parameter'],
      )
      const versions = await patch([
        ['Tus-Resumable', '1.0.0'],
        ['Tus-Resumable', '1.0.0'],
      ])
      expectRefusal(versions, ['tus_version_unsupported'])
      const types = await patch([
        ['Content-Length', '5'],
        ['Content-Length', '5'],
      ])
      expect(types.status).toBe(400)
    })

    it.each(['0', '2', 'true', '', '-1', '1, 1'])(
      'an Upload-Defer-Length of "%s" is 400',
      async (value) => {
        const lines: readonly Line[] = [['Upload-Defer-Length', value]]
        const reply = await raw(`POST ${UPLOADS}`, [
          ['Tus-Resumable', '1.0.0'],
          ['Content-Length', '0'],
          ['Upload-Metadata', 'filename YQ=='],
          ...lines,
        ])
        expectRefusal(reply, ['invalid_parameter'])
      },
    )

    it.each([
      ['no type', [['Content-Type', 'text/plain']], ['unsupported_media_type']],
      ['a malformed type', [['Content-Type', 'x']], ['unsupported_media_type', 'format_error']],
      ['an empty type', [['Content-Type', '']], ['unsupported_media_type', 'format_error']],
      [
        'two types',
        [['Content-Type', 'text/plain, application/offset+octet-stream']],
        ['unsupported_media_type', 'format_error'],
      ],
      ['a compressed body', [['Content-Encoding', 'gzip']], ['format_error']],
      ['a range', [['Content-Range', 'bytes 0-4/9']], ['format_error']],
      ['an expectation', [['Expect', 'banana']], ['format_error']],
      [
        'a coding',
        [
          ['Transfer-Encoding', 'gzip, chunked'],
          ['Content-Length', '5'],
        ],
        ['format_error'],
      ],
      ['a body beyond the length', [['Content-Length', '6']], ['upload_length_exceeded']],
      ['a body beyond all numbers', [['Content-Length', '99999999999999999999']], ['format_error']],
      ['a body of 2^53 bytes', [['Content-Length', '9007199254740992']], ['format_error']],
      ['a body of a negative length', [['Content-Length', '-5']], ['format_error']],
    ] as const)('an append with %s is refused', async (_what, lines, codes) => {
      expectRefusal(await patch(lines), codes)
    })

    it('an append without a type is 415, and one without an offset 400', async () => {
      const { path } = upload
      const noType = { ...TUS, 'Upload-Offset': '4' }
      const untyped = await ask(service, {
        user,
        method: 'PATCH',
        path,
        headers: noType,
        body: 'five!',
      })
      expectProblem(untyped, { status: 415, code: 'unsupported_media_type' })
      const headers = { ...TUS, ...OFFSET_TYPE }
      const lost = await ask(service, { user, method: 'PATCH', path, headers, body: 'five!' })
      expect(expectProblem(lost, { status: 400, code: 'invalid_parameter' })['parameter']).toBe(
        'Upload-Offset',
      )
    })

    it.each([
      'x',
      '0',
      '%00',
      'me',
      '../repo/a',
      '0'.repeat(5000),
      '019AB1C2-7B1E-7C3A-9A57-0D6F6D1C2B3A',
    ])('the id %s is 404 or 400 with every method', async (id) => {
      for (const method of ['GET', 'PATCH', 'DELETE', 'POST']) {
        const headers = {
          ...TUS,
          ...OFFSET_TYPE,
          'Upload-Offset': '0',
          'X-HTTP-Method-Override': 'PATCH',
        }
        const reply = await ask(service, {
          user,
          method,
          path: `${UPLOADS}/${id}`,
          headers,
          body: '',
        })
        expectRefusal(reply, ['not_found', 'format_error', 'invalid_parameter'])
      }
      expect([400, 404]).toContain((await head(service, { user, path: `${UPLOADS}/${id}` })).status)
    })

    it('a chunked append whose framing breaks keeps at most what came before', async () => {
      const other = await createUpload(service, { user, name: 'other', length: 9 })
      const lines: readonly Line[] = [
        ...Object.entries({ ...TUS, ...OFFSET_TYPE }),
        ['Upload-Offset', '0'],
        ['Transfer-Encoding', 'chunked'],
      ]
      const reply = await raw(`PATCH ${other.path}`, lines, httpChunk('four'), 'zz\r\nfive!\r\n')
      expect([0, 204, 400, 503]).toContain(reply.status)
      expect([0, 4]).toContain(await offsetOf(service, other))
      await resume(service, other, 'fourfive!')
      await expectContent('other', 'fourfive!')
      await removeFile('other')
    })

    it('what is beyond the length of an append on the same connection is no part of it', async () => {
      const other = await createUpload(service, { user, name: 'other', length: 4 })
      const lines: readonly Line[] = [
        ...Object.entries({ ...TUS, ...OFFSET_TYPE }),
        ['Upload-Offset', '0'],
        ['Content-Length', '4'],
      ]
      const reply = await raw(
        `PATCH ${other.path}`,
        lines,
        'fourand more that is no request\r\n\r\n',
      )
      expect(reply.status).toBe(204)
      await expectContent('other', 'four')
      await removeFile('other')
    })

    it('headers of other uploads and protocols change nothing', async () => {
      const headers = {
        'Upload-Complete': '?1',
        'Upload-Incomplete': '?1',
        'Upload-Expires': 'Mon, 01 Jan 2001 00:00:00 GMT',
        'Upload-Metadata': 'filename Yg==',
        'X-HTTP-Method-Override': 'DELETE',
      }
      const other = await createUpload(service, { user, name: 'other', length: 9, headers: {} })
      const reply = await append(service, other, { body: 'four', headers })
      expect(reply).toMatchObject({ status: 204, headers: { 'upload-offset': '4' } })
      expect(jsonOf(await look(service, other))).toMatchObject({ name: 'other', state: 'open' })
      await appended(service, other, { offset: 4, body: 'five!' })
      await removeFile('other')
    })

    async function expectContent(name: string, content: string): Promise<void> {
      const reply = await ask(service, { user, path: `/users/me/repo/${name}` })
      expect({ status: reply.status, body: reply.body.toString() }).toEqual({
        status: 200,
        body: content,
      })
    }

    async function removeFile(name: string): Promise<void> {
      await ask(service, { user, method: 'DELETE', path: `/users/me/repo/${name}` })
    }
  })
}
