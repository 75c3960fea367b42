import { callerNamed } from '../../support/caller.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { objectKey, createVersion } from '../../../src/core/objects/object-key.ts'
import { digest } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { list, namesOf, namesOfAll, pageOf, remove, uploadAll } from '../file-requests.ts'
import { ask, expectProblem, jsonOf, MIB, type OpenService, upload } from '../fixture.ts'

const INVALID = { status: 400, code: 'invalid_parameter' } as const
const ORDERS = ['name', '-name', 'updated_at', '-updated_at', 'size', '-size'] as const

/** What the listing of a repository shows, to whom and in which order. */
export function listingsSuite(open: OpenService): void {
  describe('a listing', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ maxFiles: 2000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    it('shows a file as its upload described it', async () => {
      const stored = await upload(service, { user, query: '?visibility=users', content: 'hello' })
      const { replaced: _replaced, capacity: _capacity, ...file } = jsonOf(stored)
      const reply = await list(service, { user })
      const cursor = expect.stringMatching(/^[\w-]+$/) as string
      expect(jsonOf(reply)).toEqual({ files: [file], changes_cursor: cursor, next_cursor: null })
      expect(reply.headers).toMatchObject({
        'content-type': expect.stringMatching(/^application\/json(;|$)/) as string,
        'cache-control': 'private, no-cache',
        vary: 'Cookie, Authorization',
      })
    })

    it('a listing of an empty repository is empty', async () => {
      expect(jsonOf(await list(service, { user }))).toMatchObject({ files: [], next_cursor: null })
    })

    describe('of files of all kinds', () => {
      const sizes = { b: 3, a: 1, 'a b': 2, B: 3, '\u00e9': 5, '\u{1f600}': 0, '\uffee': 4 }
      const byName = ['B', 'a', 'a b', 'b', '\u00e9', '\uffee', '\u{1f600}']
      const bySize = ['\u{1f600}', 'a', 'a b', 'B', 'b', '\uffee', '\u00e9']
      const byTime = Object.keys(sizes)
      const expected = { name: byName, size: bySize, updated_at: byTime }
      let owner: TestUser
      beforeAll(async () => {
        owner = await service.createUser(MIB)
        for (const [name, size] of Object.entries(sizes)) {
          const content = Buffer.alloc(size)
          const reply = await upload(service, { method: 'PUT', user: owner, name, content })
          expect(reply.status).toBe(200)
          // Times are whole milliseconds; ties would go by name.
          await delay(3)
        }
      })

      it.each(ORDERS)('is in the order %s, in one page or in many', async (order) => {
        const names = expected[order.replace('-', '') as keyof typeof expected]
        const wanted = order.startsWith('-') ? names.toReversed() : names
        expect(await namesOf(service, { user: owner, query: { order } })).toEqual(wanted)
        for (const limit of [1, 2, 3, 7, 1000]) {
          const query = { order, limit }
          expect(await namesOfAll(service, { user: owner, query })).toEqual(wanted)
        }
      })

      it('is by name when nothing else is said', async () => {
        expect(await namesOf(service, { user: owner })).toEqual(byName)
      })

      it.each([
        ['a', ['a', 'a b']],
        ['a ', ['a b']],
        ['A', []],
        ['\u{1f600}', ['\u{1f600}']],
        ['e\u0301', []],
        ['.', []],
      ])('shows those that begin with "%s"', async (prefix, names) => {
        expect(await namesOf(service, { user: owner, query: { prefix } })).toEqual(names)
        const query = { prefix, order: '-size', limit: 1 }
        expect((await namesOfAll(service, { user: owner, query })).sort()).toEqual(names)
      })
    })

    it('finds a part of a name in any case, on every database alike', async () => {
      const names = [
        'ÄRGER.txt',
        'ärger 2',
        'a\u0308rger 3',
        'arger',
        'ΟΔΟΣ',
        'straße',
        'ДОМ',
        'photo_1',
        'photo%1',
      ]
      await uploadAll(service, { user, names })
      const found = async (contains: string) =>
        (await namesOfAll(service, { user, query: { contains, limit: 2 } })).toSorted()
      const composed = ['a\u0308rger 3', 'ÄRGER.txt', 'ärger 2']
      expect(await found('Ärger')).toEqual(composed)
      expect(await found('A\u0308rger')).toEqual(composed)
      expect(await found('δος')).toEqual(['ΟΔΟΣ'])
      expect(await found('ΔΟ')).toEqual(['ΟΔΟΣ'])
      expect(await found('дом')).toEqual(['ДОМ'])
      expect(await found('STRASSE')).toEqual([])
      expect(await found('_1')).toEqual(['photo_1'])
      expect(await found('%')).toEqual(['photo%1'])
      expect(await found('')).toEqual(names.toSorted())
    })

    it('rolls names up at a delimiter, in one page or in many', async () => {
      const names = ['2026-01-a', '2026-01-b', '2026-02-a', '2025-12-a', 'notes', '2026']
      await uploadAll(service, { user, names })
      const pages = async (query: Record<string, string | number>) => {
        const entries: string[] = []
        let cursor: string | null | undefined
        do {
          const asked = cursor === undefined ? query : { ...query, cursor }
          const reply = await list(service, { user, query: asked as typeof query })
          const page = pageOf(reply)
          const { prefixes } = jsonOf(reply) as { prefixes: string[] }
          entries.push(...[...page.files.map(({ name }) => name), ...prefixes].toSorted())
          cursor = page.next_cursor
        } while (cursor !== null)
        return entries
      }
      const all = { delimiter: '-', limit: 1 }
      expect(await pages(all)).toEqual(['2025-', '2026', '2026-', 'notes'])
      expect(await pages({ ...all, order: '-name' })).toEqual(['notes', '2026-', '2026', '2025-'])
      expect(await pages({ ...all, prefix: '2026-' })).toEqual(['2026-01-', '2026-02-'])
      expect(await pages({ ...all, prefix: '2026-01-' })).toEqual(['2026-01-a', '2026-01-b'])
      expect(await pages({ ...all, contains: '-B' })).toEqual(['2026-'])
      expect(await pages({ delimiter: '-' })).toEqual(['2025-', '2026', '2026-', 'notes'])
      expect(jsonOf(await list(service, { user }))).not.toHaveProperty('prefixes')
    })

    it('shows what is in a folder, with its own marker', async () => {
      for (const name of ['a', 'a/', 'a/1', 'a/b/2', 'a/b/c/3', 'ab']) {
        await upload(service, { user, name, content: '' })
      }
      const reply = await list(service, { user, query: { prefix: 'a/', delimiter: '/' } })
      expect(pageOf(reply).files.map(({ name }) => name)).toEqual(['a/', 'a/1'])
      expect(jsonOf(reply)).toMatchObject({ prefixes: ['a/b/'] })
    })

    it('counts what is below folders if it is asked to', async () => {
      const names = ['a/1', 'a/b/2', 'c/3', 'd']
      await uploadAll(service, { user, names })
      for (const name of ['a/', 'a/b/', 'e/']) await upload(service, { user, name, content: '' })
      const query = { delimiter: '/', folder_totals: 'true' }
      const folders = async (prefix: string) =>
        jsonOf(await list(service, { user, query: { ...query, prefix } }))['folders']
      const sizes = jsonOf(await list(service, { user })) as unknown as {
        readonly files: readonly { readonly name: string; readonly size: number }[]
      }
      const below = (prefix: string) => {
        const all = sizes.files.filter(({ name }) => name.startsWith(prefix))
        const files = all.filter(({ name }) => !name.endsWith('/'))
        return {
          prefix,
          file_count: files.length,
          size: files.reduce((sum, { size }) => sum + size, 0),
        }
      }
      expect(await folders('')).toEqual([below('a/'), below('c/'), below('e/')])
      expect(await folders('a/')).toEqual([below('a/b/')])
      expect(await folders('none/')).toEqual([])
      expect(jsonOf(await list(service, { user, query: { delimiter: '/' } }))).not.toHaveProperty(
        'folders',
      )
    })

    it('has a cursor that goes into a URL as it is, and is of its order alone', async () => {
      await uploadAll(service, { user, names: ['secret a', 'secret b'] })
      const page = pageOf(await list(service, { user, query: { limit: 1 } }))
      const cursor = String(page.next_cursor)
      expect(cursor).toMatch(/^[\w-]+$/)
      expect(await namesOf(service, { user, query: { cursor } })).toEqual(['secret b'])
      for (const order of ORDERS.slice(1)) {
        expectProblem(await list(service, { user, query: { cursor, order } }), INVALID)
      }
      for (const broken of [cursor.slice(0, -4), `${cursor}AAAA`, cursor.slice(4)]) {
        expectProblem(await list(service, { user, query: { cursor: broken } }), INVALID)
      }
    })

    it('holds 1000 files in a page, and says when there is one more', async () => {
      const many = await service.createUser(MIB)
      const names = Array.from({ length: 1001 }, (_, at) => `${at}`.padStart(4, '0'))
      await fill(service, { user: many, names })
      const query = { limit: 1000 }
      const first = pageOf(await list(service, { user: many, query }))
      expect(first.files.map(({ name }) => name)).toEqual(names.slice(0, 1000))
      expect(await namesOfAll(service, { user: many, query })).toEqual(names)
      expect(await namesOf(service, { user: many })).toEqual(names.slice(0, 100))
      await remove(service, { user: many, name: '0000' })
      expect(pageOf(await list(service, { user: many, query })).next_cursor).toBeNull()
    })
  })

  viewersSuite(open)
}

/** A listing that is refused above the ports: nothing is called that could change anything. */
export function refusedListingsSuite(open: OpenService): void {
  describe('a listing that is refused', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ maxFiles: 2000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    it.each(QUERY_FAULTS)('a listing with ?%s is refused', async (query, parameter) => {
      await uploadAll(service, { user, names: ['a'] })
      const reply = await list(service, { user, query })
      expect(expectProblem(reply, INVALID)).toMatchObject({ parameter })
    })
  })
}

function viewersSuite(open: OpenService): void {
  describe('the listing of another user', () => {
    let service: TestService
    let owner: TestUser
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      owner = await service.createUser(MIB)
      for (const visibility of ['private', 'users', 'public']) {
        const names = [1, 2, 3].map((at) => `${at} ${visibility}`)
        await uploadAll(service, { user: owner, names, query: `?visibility=${visibility}` })
      }
    })

    const open3 = ['1 public', '2 public', '3 public']
    const shared6 = ['1 public', '1 users', '2 public', '2 users', '3 public', '3 users']

    it.each(ORDERS)(
      'a listing in the order %s shows what the viewer may download',
      async (order) => {
        const by = { owner: owner.userId, query: { order, limit: 2 } }
        const other = await service.createUser(0)
        expect((await namesOfAll(service, by)).sort()).toEqual(open3)
        expect((await namesOfAll(service, { ...by, user: other })).sort()).toEqual(shared6)
        expect(await namesOfAll(service, { ...by, user: owner })).toHaveLength(9)
      },
    )

    it('listings of nobody and of nothing visible look the same', async () => {
      const empty = await service.createUser(MIB)
      await uploadAll(service, { user: empty, names: ['private'] })
      const expected = { files: [], next_cursor: null }
      for (const user of [undefined, owner]) {
        for (const id of ['no-such-user', empty.userId]) {
          const reply = await list(service, { ...(user && { user }), owner: id })
          expect({ status: reply.status, ...jsonOf(reply) }).toEqual({ status: 200, ...expected })
          const { date: _date, 'x-request-id': _id, ...headers } = reply.headers
          expect(headers).toMatchObject({ 'content-length': '31', vary: 'Cookie, Authorization' })
        }
      }
    })

    it('shows nothing of one who is suspended, or deleted', async () => {
      const by = { owner: owner.userId }
      await service.users.setUserStatus(owner.userId, 'suspended')
      expect(await namesOf(service, by)).toEqual([])
      await service.users.setUserStatus(owner.userId, 'active')
      expect(await namesOf(service, by)).toEqual(open3)
      await service.users.deleteUser(owner.userId)
      expect(await namesOf(service, by)).toEqual([])
    })

    it.each(['no+id', 'a'.repeat(65), '%00', '', 'ME%20'])(
      'a listing of "%s", which is no id, leads nowhere',
      async (id) => {
        const reply = await ask(service, { user: owner, path: `/users/${id}/repo` })
        expectProblem(reply, { status: 404, code: 'not_found' })
      },
    )
  })
}

/** Writes empty files into the ledger alone, since so many uploads would take long. */
async function fill(
  { ledger, users }: TestService,
  { user: { userId }, names }: { user: TestUser; names: readonly string[] },
): Promise<void> {
  const sha256 = digest(Buffer.alloc(0))
  const caller = await callerNamed(users, userId)
  for (const name of names.map(parseFileName)) {
    const version = createVersion()
    const upload = { ...caller, version }
    await ledger.begin({ ...upload, name, objectKey: objectKey(userId, version), bytes: 0 })
    await ledger.commit({ ...upload, size: 0, sha256, crc32: 0, visibility: undefined })
  }
}

/** Queries that are refused, and the parameter at fault. */
const QUERY_FAULTS: [query: string, parameter: string][] = [
  ...['0', '1001', '-1', '1.5', '01', '+5', '1e2', '', '%20', 'ten'].map(
    (value): [string, string] => [`limit=${value}`, 'limit'],
  ),
  ...['', 'NAME', '--name', 'created_at', 'name%20', 'name,size'].map((value): [string, string] => [
    `order=${value}`,
    'order',
  ]),
  ...['', 'x', 'AAAA', 'bnVsbA', 'W10', '%00', 'a'.repeat(5000), cursor(['name', 0, 'a//b'])].map(
    (value): [string, string] => [`cursor=${value}`, 'cursor'],
  ),
  ...[cursor(['name', 'x', 'a']), cursor(['name', 0.5, 'a']), cursor(['name', 0, ''])].map(
    (value): [string, string] => [`cursor=${value}`, 'cursor'],
  ),
  ...['a%2F%2Fb', '%5C', '%00', 'x'.repeat(256), '%ff', 'a%', '%ED%A0%80', '%zz'].map(
    (value): [string, string] => [`prefix=${value}`, 'prefix'],
  ),
  ...['a%2F%2Fb', '%5C', '%00', 'x'.repeat(256), '%ff', '%ED%A0%80'].map(
    (value): [string, string] => [`contains=${value}`, 'contains'],
  ),
  ...['', '%5C', 'ab', '%00', '%ff', '%F0%9F%98%80%F0%9F%98%80'].map((value): [string, string] => [
    `delimiter=${value}`,
    'delimiter',
  ]),
  ...['folder_totals=true', 'folder_totals=true&delimiter=-&contains=a', 'folder_totals=1'].map(
    (query): [string, string] => [query, 'folder_totals'],
  ),
  ...['size', '-size', 'updated_at', '-updated_at'].map((order): [string, string] => [
    `delimiter=-&order=${order}`,
    'delimiter',
  ]),
  ...[
    ['name', 0, 'a', 'prefix', 1],
    ['name', 0, 'a', 'other'],
    ['name', 1, 'a', 'prefix'],
    ['name', 0, '', 'prefix'],
    ['name', 0, 'a//', 'prefix'],
    ['name', 0, 5],
  ].map((place): [string, string] => [`cursor=${cursor(place)}`, 'cursor']),
  [`order=size&cursor=${cursor(['size', 0, 'a', 'prefix'])}`, 'cursor'],
  ['cursor=%ff', 'cursor'],
  ['prefix=a&cursor=%zz', 'cursor'],
  ['limit=%ff', 'limit'],
  ['order=%ff', 'order'],
  ['%ff=x', '%ff'],
  ['prefix[]=a', 'prefix[]'],
  ['prefix=a&prefix=b', 'prefix'],
  ['limit=1&limit=2', 'limit'],
  ['order=name&order=size', 'order'],
  ['cursor=a&cursor=b', 'cursor'],
  ['page=2', 'page'],
  ['Limit=2', 'Limit'],
  ['__proto__=x', '__proto__'],
]

function cursor(place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}
