import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { change, namesOf, namesOfAll, remove } from '../file-requests.ts'
import {
  ask,
  download,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  pathOf,
  type Reply,
  upload,
} from '../fixture.ts'

const INVALID_NAME = { status: 400, code: 'invalid_file_name' } as const
const NO_TOKEN = { status: 403, code: 'access_token_missing' } as const
const NOT_FOUND = { status: 404, code: 'not_found' } as const

/** What a file may be called, which goes through all ports. */
export function fileNamesSuite(open: OpenService): void {
  describe('a file name', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    it.each(acceptedNames())(
      '%s goes through PUT, list and rename as it is',
      async (_row, name) => {
        const content = Buffer.from(name)
        const stored = await upload(service, { method: 'PUT', user, name, content })
        expect(jsonOf(stored)).toMatchObject({ name })
        expect(await namesOf(service, { user })).toEqual([name])
        expect(await namesOf(service, { user, query: { prefix: name } })).toEqual([name])
        const away = await change(service, { user, name, body: { name: 'plain' } })
        expect(jsonOf(away)).toMatchObject({ name: 'plain' })
        const back = await change(service, { user, name: 'plain', body: { name } })
        expect(jsonOf(back)).toMatchObject({ name })
        const found = await download(service, { user, name })
        expect(found.body.toString()).toBe(name)
        expect(savedName(found.headers['content-disposition'])).toBe(name.split('/').at(-1))
        expect((await remove(service, { user, name })).status).toBe(204)
        expect(await namesOf(service, { user })).toEqual([])
      },
    )

    it('B07 in both Unicode forms are two files, side by side, page by page', async () => {
      const names = ['cafe\u0301', 'caf\u00e9']
      for (const name of names) {
        await upload(service, { method: 'PUT', user, name, content: Buffer.from(name) })
      }
      expect(await namesOfAll(service, { user, query: { limit: 1 } })).toEqual(names)
      const body = { name: 'caf\u00e9' }
      const taken = await change(service, { user, name: 'cafe\u0301', body })
      expectProblem(taken, { status: 409, code: 'file_exists' })
      expect((await remove(service, { user, name: 'cafe\u0301' })).status).toBe(204)
      expect(await namesOf(service, { user })).toEqual(['caf\u00e9'])
    })
  })
}

/** Rows B01 to B13: a name that is refused, and how a path is read. */
export function refusedFileNamesSuite(open: OpenService): void {
  describe('a file name in a path', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    it.each(refusedSegments())('%s is refused on every method', async (_row, segment) => {
      const path = `/users/me/repo/${segment}`
      for (const method of ['GET', 'HEAD', 'DELETE', 'PATCH'])
        expectRefused(await download(service, { user, path, method }), method)
      for (const method of ['POST', 'PUT'] as const)
        expectRefused(await upload(service, { method, user, path, content: 'new' }), method)
      expect(await service.storedKeys(user)).toEqual([])
    })

    // a#b is refused: parser-errors-suite.ts
    it.each([
      ['a?b', 'a'],
      ['a%3Fb', 'a?b'],
      ['a%23b', 'a#b'],
      ['a;b', 'a;b'],
      ['a+b', 'a+b'],
      ['a%252Fb', 'a%2Fb'],
      ['%2525', '%25'],
      ['a&b=c', 'a&b=c'],
      ['%61', 'a'],
      ['a%2Fb', 'a/b'],
      ['a%2fb%2F%63', 'a/b/c'],
      ['a%2F..b', 'a/..b'],
    ])('B11 %s in a path stands for %s', async (segment, name) => {
      const stored = await upload(service, {
        user,
        path: `/users/me/repo/${segment}`,
        content: 'x',
      })
      expect(jsonOf(stored)).toMatchObject({ name })
      expect((await download(service, { user, name })).body.toString()).toBe('x')
    })

    it.each([
      ['"quotes".txt', '_quotes_.txt'],
      ['100%.txt', '100_.txt'],
      ['\u20ac rates', '_ rates'],
      ["it's (a) *star*", "it's (a) *star*"],
      ['\u{1f600}', '_'],
      ['\u202egnp.exe', '_gnp.exe'],
    ])('B13 %s comes down in a header that no client misreads', async (name, ascii) => {
      await upload(service, { user, name, content: 'x' })
      const { headers } = await download(service, { user, name })
      const disposition = headers['content-disposition'] ?? ''
      expect(disposition).toMatch(/^[ -~]+$/)
      expect(disposition.startsWith(`attachment; filename="${ascii}"; filename*=UTF-8''`)).toBe(
        true,
      )
      expect(savedName(disposition)).toBe(name)
    })
  })

  pathsSuite(open)
}

function pathsSuite(open: OpenService): void {
  describe('a path', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open()
      user = await service.createUser(MIB)
      await upload(service, { user, name: 'a', content: 'content' })
    })
    afterAll(() => service.stop())

    it.each(['me', '%6De', '%6d%65'])('B08 with the user %s is one of my own', async (me) => {
      const reply = await ask(service, { user, path: `/users/${me}/repo/a` })
      expect(reply.body.toString()).toBe('content')
      const stored = await upload(service, { user, path: `/users/${me}/repo/b`, content: me })
      expect(jsonOf(stored)).toMatchObject({ name: 'b', user_id: user.userId })
    })

    it.each(['Me', 'ME', 'me%20', '', '%00', '..%2F', 'a'.repeat(65), '__proto__', '*'])(
      'B08 with the user "%s" leads nowhere',
      async (owner) => {
        const reply = await ask(service, { user, path: `/users/${owner}/repo/a` })
        expectProblem(reply, NOT_FOUND)
      },
    )

    it.each(['a//b', 'a/../a', 'a/%2e%2e/a', 'a/./b', 'a%2F..', '/a', '/', 'a//'])(
      'B12 that goes on with "%s" breaks a rule of paths',
      async (rest) => {
        const path = `/users/me/repo/${rest}`
        for (const method of ['GET', 'PATCH', 'DELETE', 'POST', 'PUT']) {
          expectProblem(await ask(service, { user, method, path, body: 'x' }), INVALID_NAME)
          expectProblem(await ask(service, { method, path, body: 'x' }), NO_TOKEN)
        }
        expectProblem(await upload(service, { user, path, content: 'x' }), INVALID_NAME)
        const foreign = `/users/${user.userId}/repo/${rest}`
        expectProblem(await ask(service, { path: foreign }), INVALID_NAME)
      },
    )

    it('B12 that ends without a name leads nowhere', async () => {
      const path = '/users/me/repo/'
      expectProblem(await ask(service, { user, path }), NOT_FOUND)
      expectProblem(await upload(service, { user, path, content: 'x' }), NOT_FOUND)
    })

    it.each(['//users/me/repo/a', '/Users/me/repo/a', '/users/me/a', '/', '/users'])(
      'B12 such as %s leads nowhere',
      async (path) => {
        expectProblem(await ask(service, { user, path }), NOT_FOUND)
      },
    )

    it('B12 in absolute form is the same', async () => {
      const path = `http://localhost${pathOf('a')}`
      expect((await ask(service, { user, path })).body.toString()).toBe('content')
    })

    it('B04 a user id that is not UTF-8 is not taken for the name of a file', async () => {
      const reply = await ask(service, { path: '/users/a%zz/repo/x' })
      expectProblem(reply, { status: 400, code: 'invalid_parameter' })
    })

    it('B04 that is not UTF-8 elsewhere is refused with a problem', async () => {
      const reply = await ask(service, { user, path: '/users/%ff/repo/a' })
      expect(reply.status).toBe(400)
      expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
    })
  })
}

function refusedSegments(): [row: string, segment: string][] {
  const controls = [1, 7, 9, 10, 13, 27, 31, 127].map((code) => hex(code))
  const segments: [string, string[]][] = [
    ['B01', ['a%2F%2fb', '%2F', 'a%5Cb', '%5c', 'a\\b']],
    ['B02', ['..', '.', '%2e%2e', '%2E', '.%2e', '%2e', 'a%2F.', '..%2fa']],
    ['B03', ['%00', 'a%00b', '%0d%0a', ...controls]],
    ['B04', ['%c0%af', '%ff', '%ED%A0%80', '%zz', '%', 'a%f', '%e2%82']],
    [
      'B06',
      [
        'a'.repeat(256),
        '%E2%82%AC'.repeat(86),
        'a'.repeat(5000),
        `b%2F${'a'.repeat(256)}`,
        'a%2F'.repeat(513),
      ],
    ],
  ]
  return segments.flatMap(([row, all]) =>
    all.map((each): [string, string] => [`${row} ${each.slice(0, 30)}`, each]),
  )
}

function acceptedNames(): [row: string, name: string][] {
  return [
    ['B05 of 101 characters', 'x'.repeat(101)],
    ['B06 of 255 bytes', 'x'.repeat(255)],
    ['B06 of 85 characters of 3 bytes', '\u20ac'.repeat(85)],
    ['B06 of 63 characters of 4 bytes', '\u{1f600}'.repeat(63)],
    ['B09 __proto__', '__proto__'],
    ['B09 constructor', 'constructor'],
    ['B09 hasOwnProperty', 'hasOwnProperty'],
    ['B10 CON', 'CON'],
    ['B10 aux.txt', 'aux.txt'],
    ['B10 with a dot at its end', 'a.'],
    ['B10 with spaces around it', ' a '],
    ['B10 of a space', ' '],
    ['B10 with dashes before it', '--version'],
    ['B10 of three dots', '...'],
    ['B10 of an emoji', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'],
    ['B10 with a byte order mark', '\ufeffa'],
    ['B10 from right to left', '\u202eabc'],
    ['B10 with a C1 control', 'a\u0085b'],
    ['B10 of a non-character', 'a\uffffb'],
    ['B13 with quotes and percent signs', '"a"%22%'],
    ['of SQL', "'; DROP TABLE files; --"],
    ['of HTML', '<script>alert(1)<'],
    ['called me', 'me'],
    ['of signs that mean something in a path', ' #?;+&=%2F%?.,:@!$*()[]{}|^`~'],
    ['of a path', 'camera-17/2026-11-28/a b.jpg'],
    ['of 1,024 bytes', `${'s'.repeat(255)}/`.repeat(3) + 'x'.repeat(253) + '/é'],
    ['from right to left with a hidden end', '\u05d0\u05d1\u202etxt.exe\u202c'],
  ]
}

function expectRefused(reply: Reply, method: string): void {
  expect(reply.status).toBe(400)
  // A reply to HEAD has no body to look into.
  if (method !== 'HEAD') expectProblem(reply, { status: 400, code: 'invalid_file_name' })
}

/** The name under which a client that knows RFC 8187 saves a download. */
function savedName(disposition = ''): string {
  return decodeURIComponent(/filename\*=UTF-8''([^;]*)$/.exec(disposition)?.[1] ?? '')
}

function hex(code: number): string {
  return `%${code.toString(16).padStart(2, '0')}`
}
