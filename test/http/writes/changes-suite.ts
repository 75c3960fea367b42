import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { change, namesOf } from '../file-requests.ts'
import {
  ask,
  download,
  expectOnlyObjectsOf,
  expectNothingChanged,
  expectProblem,
  expectUntouched,
  jsonOf,
  MIB,
  type OpenService,
  pathOf,
  type Placed,
  placeFile,
  SHORT_LINGER,
  upload,
  usageOf,
} from '../fixture.ts'

const NOT_FOUND = { status: 404, code: 'not_found' } as const
const MALFORMED = { status: 400, code: 'format_error' } as const
const INVALID = { status: 400, code: 'invalid_parameter' } as const
const FEED = '/users/me/changes'
const INVALID_NAME = { status: 400, code: 'invalid_file_name' } as const

/** What `PATCH` does: another name, another visibility, the same bytes. */
export function changesSuite(open: OpenService): void {
  describe('a change', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 1000, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it('a change of the name keeps all but the name and updated_at (I1)', async () => {
      const { user, content, etag } = placed
      const before = jsonOf(await upload(service, { method: 'PUT', user, content }))
      await delay(5)
      const reply = await change(service, { user, body: { name: 'new name' } })
      expect(reply.status).toBe(200)
      const after = jsonOf(reply)
      const { replaced: _replaced, capacity: _capacity, ...file } = before
      expect(after).toEqual({ ...file, name: 'new name', updated_at: after['updated_at'] })
      expect(Date.parse(String(after['updated_at']))).toBeGreaterThan(
        Date.parse(String(before['updated_at'])),
      )
      expectProblem(await download(service, { user }), NOT_FOUND)
      const found = await download(service, { user, name: 'new name' })
      expect(found.headers['etag']).toBe(`"${String(before['etag'])}"`)
      expect(found.headers['etag']).not.toBe(etag)
      expect(found.body.equals(content)).toBe(true)
      await expectOnlyObjectsOf(service, { user, names: ['new name'] })
    })

    it('a change of who reads a file moves no time of it', async () => {
      const { user } = placed
      await upload(service, { user, name: 'later' })
      const before = await download(service, { user })
      const { next_cursor: cursor } = jsonOf(await ask(service, { user, path: FEED }))
      const { updated_at: moved } = jsonOf(
        await change(service, { user, body: { visibility: 'users' } }),
      )
      const operations = [{ op: 'update', name: 'file.bin', visibility: 'public', keep: false }]
      await ask(service, {
        user,
        method: 'POST',
        path: '/users/me/batch',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ operations }),
      })
      const listing = await ask(service, { user, path: '/users/me/repo?order=updated_at' })
      const { files } = jsonOf(listing) as { files: { name: string; updated_at: string }[] }
      expect(files.map(({ name }) => name)).toEqual(['file.bin', 'later'])
      expect(files[0]).toMatchObject({ updated_at: moved, visibility: 'public' })
      const after = await download(service, { user })
      for (const header of ['etag', 'last-modified'])
        expect(after.headers[header]).toBe(before.headers[header])
      const path = `${FEED}?cursor=${String(cursor)}`
      const { changes } = jsonOf(await ask(service, { user, path })) as {
        changes: { type: string; at: string }[]
      }
      expect(changes.map(({ type }) => type)).toEqual(Array(2).fill('file.updated'))
      for (const { at } of changes) expect(at > (files[1]?.updated_at ?? '')).toBe(true)
      const { updated_at } = jsonOf(await change(service, { user, body: { metadata: { a: 'b' } } }))
      expect(String(updated_at) > (changes.at(-1)?.at ?? '')).toBe(true)
    })

    it('a change of the visibility opens and closes a file to others', async () => {
      const { user } = placed
      const other = await service.createUser(0)
      const seen = async () => [
        (await download(service, { user: other, owner: user.userId })).status,
        (await download(service, { owner: user.userId })).status,
      ]
      for (const [visibility, statuses] of [
        ['users', [200, 404]],
        ['public', [200, 200]],
        ['private', [404, 404]],
      ] as const) {
        const reply = await change(service, { user, body: { visibility } })
        expect(jsonOf(reply)).toMatchObject({ visibility })
        expect(await seen()).toEqual(statuses)
      }
      await expectUntouched(service, placed)
    })

    it('a change of name and visibility is one change', async () => {
      const { user, content } = placed
      const body = { name: 'b', visibility: 'public' }
      expect(jsonOf(await change(service, { user, body }))).toMatchObject(body)
      const found = await download(service, { owner: user.userId, name: 'b' })
      expect(found.body.equals(content)).toBe(true)
      expect(await namesOf(service, { user })).toEqual(['b'])
    })

    it('changes of many files onto one name leave one of them, whole (I4)', async () => {
      const user = await service.createUser(MIB)
      const names = Array.from({ length: 8 }, (_, at) => `${at}`)
      for (const name of names) await upload(service, { method: 'PUT', user, name, content: name })
      const body = { name: 'one', overwrite: true }
      const replies = await Promise.all(names.map((name) => change(service, { user, name, body })))
      expect(replies.map(({ status }) => status)).toEqual(names.map(() => 200))
      expect(await namesOf(service, { user })).toEqual(['one'])
      const { body: content } = await download(service, { user, name: 'one' })
      expect(names).toContain(content.toString())
      expect(await usageOf(service, user)).toMatchObject({ used: 1, reserved: 0, fileCount: 1 })
      await expectOnlyObjectsOf(service, { user, names: ['one'] })
    })

    it('changes of one file by many give it one name (I4)', async () => {
      const { user } = placed
      const names = Array.from({ length: 8 }, (_, at) => `${at}`)
      const replies = await Promise.all(
        names.map((name) => change(service, { user, body: { name } })),
      )
      const statuses = replies.map(({ status }) => status).sort((one, other) => one - other)
      expect(statuses).toEqual([200, ...Array<number>(7).fill(404)])
      expect(await namesOf(service, { user })).toHaveLength(1)
      expect(await usageOf(service, user)).toMatchObject({ used: 1000, fileCount: 1 })
    })
  })
}

/** A change that is refused above the ports: nothing is called that could change anything. */
export function refusedChangesSuite(open: OpenService): void {
  describe('a change that is none', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 1000, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it.each(MEMBER_FAULTS)('%s is refused and named (I2)', async (body, parameter) => {
      const reply = await change(service, { user: placed.user, body })
      expect(expectProblem(reply, INVALID)).toMatchObject({ parameter })
      expectNothingChanged(service, placed)
    })

    it.each(BODY_FAULTS)('%s is refused (I2)', async (_what, body, headers = {}) => {
      const { user } = placed
      const path = pathOf('file.bin')
      const typed = { 'Content-Type': 'application/json', ...headers }
      const request = {
        user,
        method: 'PATCH',
        path,
        headers: typed,
        ...(body !== undefined && { body }),
      }
      expectProblem(await ask(service, request), MALFORMED)
      expectNothingChanged(service, placed)
    })

    it('a change without a body and without a type is refused (I2)', async () => {
      const { user } = placed
      const reply = await ask(service, { user, method: 'PATCH', path: pathOf('file.bin') })
      expectProblem(reply, MALFORMED)
      expectNothingChanged(service, placed)
    })

    it.each(['', '.', '..', 'a//b', 'a\\b', 'a\u0000', '\u007f', 'x'.repeat(256), '\ud800'])(
      'a change to the name %j is refused (I2)',
      async (name) => {
        expectProblem(await change(service, { user: placed.user, body: { name } }), INVALID_NAME)
        expectNothingChanged(service, placed)
      },
    )

    it('a change that gives the name twice takes the last', async () => {
      const { user } = placed
      const reply = await change(service, { user, body: '{"name":"a","name":"b"}' })
      expect(jsonOf(reply)).toMatchObject({ name: 'b' })
    })

    it('a change whose body stops coming gets 408', async () => {
      const { user } = placed
      const head = headOfChange(user.cookie, ['Content-Length: 20'])
      const reply = await rawRequest({ port: service.port, send: [head, '{"name":'] })
      expectProblem(reply, { status: 408, code: 'request_timeout' })
      expectNothingChanged(service, placed)
    })

    it.each([16 * 1024 + 1, '9007199254740992', '18446744073709551615'])(
      'a change that announces a body of %s bytes is refused before it is told to send it',
      async (length) => {
        const lines = [`Content-Length: ${length}`, 'Expect: 100-continue']
        const send = [headOfChange(placed.user.cookie, lines)]
        const reply = await rawRequest({ port: service.port, send })
        expect(reply.all).toHaveLength(1)
        expectProblem(reply, { status: 400, code: 'format_error' })
        expectNothingChanged(service, placed)
      },
    )

    it('a change whose client leaves in its body changes nothing (I2)', async () => {
      const head = headOfChange(placed.user.cookie, ['Content-Length: 20'])
      const send = [head, '{"name":"b"}']
      await rawRequest({ port: service.port, send, afterwards: 'end' })
      expectNothingChanged(service, placed)
    })

    it('a change that expects 100-continue is told to go on', async () => {
      const lines = ['Content-Length: 12', 'Expect: 100-continue']
      const send = [headOfChange(placed.user.cookie, lines), { pauseMs: 200 }, '{"name":"b"}']
      const { all } = await rawRequest({ port: service.port, send })
      expect(all.map(({ status }) => status)).toEqual([100, 200])
    })

    it('a change that expects 100-continue in HTTP/1.0 is not told to go on', async () => {
      const head = headOfChange(placed.user.cookie, ['Content-Length: 12', 'Expect: 100-continue'])
      const send = [head.replace('HTTP/1.1', 'HTTP/1.0'), '{"name":"b"}']
      const { all } = await rawRequest({ port: service.port, send })
      expect(all.map(({ status }) => status)).toEqual([200])
    })

    it('a change in chunks is done', async () => {
      const head = headOfChange(placed.user.cookie, ['Transfer-Encoding: chunked'])
      const send = [head, '5\r\n{"nam\r\n7\r\ne":"b"}\r\n0\r\n\r\n']
      const { status } = await rawRequest({ port: service.port, send })
      expect(status).toBe(200)
    })
  })
}

/** Bodies with a member that is wrong, and the member. */
const MEMBER_FAULTS: [body: object, parameter: string][] = [
  [{ name: 1 }, 'name'],
  [{ name: null }, 'name'],
  [{ name: ['b'] }, 'name'],
  [{ name: { a: 1 } }, 'name'],
  [{ name: 'b', overwrite: 'true' }, 'overwrite'],
  [{ name: 'b', overwrite: 1 }, 'overwrite'],
  [{ name: 'b', overwrite: [true] }, 'overwrite'],
  [{ visibility: true }, 'visibility'],
  [{ visibility: null }, 'visibility'],
  [{ visibility: ['public'] }, 'visibility'],
  [{ visibility: { public: 'public' } }, 'visibility'],
  [{ visibility: '' }, 'visibility'],
  [{ visibility: 'everyone' }, 'visibility'],
  [{ visibility: 'Public' }, 'visibility'],
  [{ name: 'b', size: 5 }, 'size'],
  [{ etag: 'x' }, 'etag'],
]

/** What is no change at all, by its body, and headers beside it. */
const BODY_FAULTS: [what: string, body?: string | Uint8Array, headers?: Record<string, string>][] =
  [
    ['no body'],
    ['an empty body', ''],
    ['an empty object', '{}'],
    ['nothing to change', '{"overwrite":true}'],
    ['null', 'null'],
    ['an array', '[]'],
    ['an array of a change', '[{"name":"b"}]'],
    ['a text', '"name"'],
    ['a number', '5'],
    ['half an object', '{"name":"b"'],
    ['something after the object', '{"name":"b"}x'],
    ['a member __proto__', '{"name":"b","__proto__":{"overwrite":true}}'],
    ['a constructor', '{"name":"b","constructor":{"prototype":{"x":1}}}'],
    ['17 KiB', `{"name":"b"${' '.repeat(17 * 1024)}}`],
    ['5 MiB', `{"name":"b"${' '.repeat(5 * MIB)}}`],
    ['what is not UTF-8', Buffer.from('{"name":"\xff"}', 'latin1')],
    ['UTF-16', Buffer.from('{"name":"b"}', 'utf16le')],
    ['no type of JSON', '{"name":"b"}', { 'Content-Type': 'text/plain' }],
    ['a form', 'name=b', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['a type that is none', '{"name":"b"}', { 'Content-Type': ';;' }],
    ['an encoding', '{"name":"b"}', { 'Content-Encoding': 'gzip' }],
  ]

function headOfChange(cookie: string, lines: readonly string[]): string {
  const type = 'Content-Type: application/json'
  const first = `PATCH ${pathOf('file.bin')} HTTP/1.1`
  return [first, 'Host: x', `Cookie: ${cookie}`, type, ...lines, '', ''].join('\r\n')
}
