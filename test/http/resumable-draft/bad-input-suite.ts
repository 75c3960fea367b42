import { once } from 'node:events'
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import { createRandom, type Random } from '../../simulation/plan/random.ts'
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

/** Integers of RFC 9651 that are no count of bytes, and what looks like one. */
const NO_BYTES = [
  '',
  '-1',
  '1.0',
  '1.5',
  '1e3',
  '0x1',
  '"1"',
  '+1',
  '1,',
  '1, 1',
  '(1)',
  '1 1',
  ':MQ==:',
  '?1',
  '@1',
  'NaN',
  '1;',
  '1;A',
  '1;a=',
  '9999999999999999',
  '１',
]

const NO_BOOLEAN = [
  '1',
  '0',
  'true',
  '?2',
  '?',
  '?1?',
  '?1, ?1',
  '?1;',
  '(?1)',
  '"?1"',
  '? 1',
  '?T',
]

const OTHER_VERSION = { 'Upload-Draft-Interop-Version': '6' } as const

/** The last one is sent in two lines. */
const NOT_WHOLE: readonly Headers[] = [
  ...['', '?0, ?0', ...NO_BOOLEAN].map((value) => ({ 'Upload-Complete': value })),
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
      ...NO_BYTES.map((value) => ['Upload-Length', value] as const),
      ...NO_BOOLEAN.map((value) => ['Upload-Complete', value] as const),
      ['Content-Digest', 'sha-256=:AA==:'],
      ['Content-Digest', 'sha-256'],
      ['Content-Digest', '='],
      ['Repr-Digest', 'sha-256=1'],
    ] as const)('is refused at the creation: %s: %s', async (name, value) => {
      const headers = { [name]: value }
      const problem = expectRefused(await create(service, { user, body: 'x', headers }), INVALID)
      expect(problem['parameter']).toBe(name)
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 9 })
    })

    it.each([
      ...NO_BYTES.map((value) => ['Upload-Offset', value] as const),
      ...NO_BYTES.map((value) => ['Upload-Length', value] as const),
      ...NO_BOOLEAN.map((value) => ['Upload-Complete', value] as const),
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

    it('never fails on 2,000 malformed structured fields', { timeout: 120_000 }, async () => {
      const random = createRandom(8)
      using agent = new KeptConnections()
      const outcomes = new Set<string>()
      for (let at = 0; at < 2000; at += 1) {
        const name = random.pick(FUZZED)
        const value = malformed(random, name)
        const target = name === 'Upload-Offset' || random.chance(0.5) ? 'append' : 'creation'
        const reply = await agent.send(service, { upload, target, headers: { [name]: value } })
        expect({ name, value, target, ...reply }).toMatchObject({
          status: 400,
          code: 'invalid_parameter',
        })
        outcomes.add(`${target} ${name}`)
      }
      expect(outcomes.size).toBe(5)
      await expectOffset(service, upload, 4)
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 9, fileCount: 0 })
    })

    it('never fails on 500 digests and versions of any form', { timeout: 60_000 }, async () => {
      const random = createRandom(9)
      using agent = new KeptConnections()
      for (let at = 0; at < 500; at += 1) {
        const name = random.pick(['Content-Digest', 'Repr-Digest', 'Upload-Draft-Interop-Version'])
        const headers = { [name]: mangled(random), 'Upload-Offset': '5' }
        const reply = await agent.send(service, { upload, target: 'append', headers })
        expect({ ...headers, ...reply }).toMatchObject({ code: expect.any(String) as string })
        expect(reply.status).toBeLessThan(500)
      }
      await expectOffset(service, upload, 4)
    })
  })
}

/** What may precede parameters, which the fuzzer leaves alone: they do not count. */
const VALID = {
  'Upload-Offset': /^ *\d{1,15} *(;|$)/,
  'Upload-Length': /^ *\d{1,15} *(;|$)/,
  'Upload-Complete': /^ *\?[01] *(;|$)/,
}

const FUZZED = ['Upload-Offset', 'Upload-Length', 'Upload-Complete'] as const

function malformed(random: Random, name: keyof typeof VALID): string {
  for (;;) {
    const value = mangled(random)
    // What HTTP takes away around a value.
    if (!VALID[name].test(value.replaceAll(/^[ \t]+|[ \t]+$/g, ''))) return value
  }
}

const SEEDS = [
  '?1',
  '?0',
  '4',
  '9',
  '4.0',
  '-4',
  '"4"',
  'sha-256=:AAAA:',
  ':AA==:',
  '@4',
  '%"4"',
  '(4 5)',
  'a=1, b',
  'tok/en',
  '4;a',
  '*',
  '',
  '999999999999999',
] as const

const CHARACTERS = ' \t!"#%()*+,-./0123456789:;=?@AZ[]\\_`az{|}~\u0080\u00e9\u00ff'

/** A value of some type, with up to three edits. */
function mangled(random: Random): string {
  let value: string = random.pick(SEEDS)
  for (let edits = random.below(4); edits > 0; edits -= 1) {
    const at = random.below(value.length + 1)
    const more = CHARACTERS.charAt(random.below(CHARACTERS.length))
    value =
      value.slice(0, at) + (random.chance(0.7) ? more : '') + value.slice(at + random.below(2))
  }
  return value
}

/** Two thousand requests need no connection each. */
class KeptConnections implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  async send(
    { port }: TestService,
    asked: { readonly upload: TusUpload; readonly target: string; readonly headers: Headers },
  ): Promise<{ readonly status: number; readonly code: unknown }> {
    const { upload, target, headers } = asked
    const { path, user } = upload
    const isAppend = target === 'append'
    const given = isAppend ? { ...PARTIAL_TYPE, 'Upload-Offset': '4' } : {}
    const common = { Cookie: user.cookie, ...DRAFT, 'Upload-Complete': '?0', 'Content-Length': '0' }
    const request = httpRequest({
      port,
      agent: this.#agent,
      method: isAppend ? 'PATCH' : 'PUT',
      path: isAppend ? path : pathOf('fuzzed'),
      headers: { ...common, ...given, ...headers },
    })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const { code } = JSON.parse((await text(response)) || '{}') as { code?: unknown }
    return { status: response.statusCode ?? 0, code }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
