import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fileBody } from '../../support/http/multipart-body.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { list } from '../file-requests.ts'
import {
  ask,
  download,
  FORM_TYPE,
  jsonOf,
  MIB,
  type OpenService,
  secretOf,
  upload,
} from '../fixture.ts'
import { createLink } from '../links/link-requests.ts'
import { base64, TUS } from '../resumable/tus-requests.ts'
import { issue } from '../scopes/scoped-requests.ts'

/** Who may go below `a/` only, and would get at these. */
const OUTSIDE = ['b', 'a', 'ab', 'A/b', 'other/b', 'a%2Fb', '\uff41/b'] as const
const INSIDE = 'a/inside'

/**
 * Paths, as they go over the wire, that a reader somewhere could take for one outside. In a link they follow the
 * prefix.
 */
const ESCAPES = [
  '../b',
  './../b',
  'x/../../b',
  '%2e%2e/b',
  '%2E%2E%2Fb',
  '.%2e/b',
  '%2e./b',
  '..%2Fb',
  '..%2fb',
  '%2e%2e%2fother%2fb',
  '..%5Cb',
  '..\\b',
  '\\..\\b',
  '%252e%252e/b',
  '%252e%252e%252Fb',
  '..%252Fb',
  '%25252e%25252e/b',
  '%c0%ae%c0%ae/b',
  '..%c0%afb',
  '%c0%ae%c0%ae%c0%afb',
  '%e0%80%ae%e0%80%ae/b',
  '%f0%80%80%ae./b',
  '..%e0%80%afb',
  '..%00/b',
  '%00/../b',
  '..;/b',
  '../b?x=/a/inside',
  '..%3F/b',
  '..%23/b',
  '%ef%bc%8e%ef%bc%8e/b',
  '..%ef%bc%8fb',
  '%e2%80%a4%e2%80%a4/b',
  '..%e2%88%95b',
  '%u002e%u002e/b',
  '..//b',
  '/b',
  '//b',
  '%2Fb',
  '/',
  '..',
  '.',
  '%2e%2e',
  '../',
  '../a/../b',
  ' ../b',
  '..%20/b',
  '%09../b',
  '..%0d%0a/b',
] as const

/** The same from the front: names that are not below `a/`, however much they look so. */
const LOOKALIKES = [
  'b',
  'a',
  'ab',
  'A/b',
  'other/b',
  'a%252Fb',
  'a%5Cinside',
  'a\\inside',
  './a/inside',
  '%2e/a/inside',
  'x/../a/inside',
  '/a/inside',
  '%2Fa%2Finside',
  '%EF%BD%81/b',
  'a%E2%88%95b',
  'a%C0%AFb',
  'a%00/inside',
  'a;/inside',
] as const

/** Two attackers: the holder of a token for a prefix, and the visitor of a link for it. */
export function escapesSuite(open: OpenService): void {
  describe('a prefix', () => {
    let service: TestService
    let owner: TestUser
    let before: string
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 3_600_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      owner = await service.createUser(MIB)
      for (const name of OUTSIDE) {
        await upload(service, { method: 'PUT', user: owner, name, content: `secret of ${name}` })
      }
      await upload(service, { method: 'PUT', user: owner, name: INSIDE, content: 'inside' })
      before = await outside()
    })

    /** All that is not below `a/`, with what the requests of an attacker would change. */
    async function outside(): Promise<string> {
      const { files } = jsonOf(await list(service, { user: owner, query: { limit: 1000 } }))
      const rows = files as readonly { readonly name: string }[]
      return JSON.stringify(rows.filter(({ name }) => !name.startsWith('a/')))
    }

    const narrow = (...actions: readonly string[]): Promise<string> =>
      issue(service, owner, { actions, prefix: 'a/' })

    /** Sends it over a raw socket, and returns what the answer gives away. */
    async function leakOf(request: Parameters<typeof ask>[1]): Promise<string | undefined> {
      const { status, body } = await ask(service, request)
      const text = body.toString()
      const isLeak = text.includes('secret of') || status >= 500
      return isLeak
        ? `${request.method} ${request.path}: ${status} ${text.slice(0, 200)}`
        : undefined
    }

    const ALL = ['read', 'create', 'replace', 'delete', 'history', 'share']

    it.each([
      ['a path below it', ESCAPES.map((escape) => `a/${escape}`)],
      ['%2F', ESCAPES.map((escape) => `a%2F${escape}`)],
      ['a path that looks like it', [...LOOKALIKES]],
    ])('is not left by the path of a request with a token: %s', async (_, paths) => {
      const Authorization = `Bearer ${await narrow(...ALL)}`
      const leaks: (string | undefined)[] = []
      for (const rest of paths) {
        for (const at of ['me', owner.userId]) {
          const path = `/users/${at}/repo/${rest}`
          for (const method of ['GET', 'DELETE']) {
            leaks.push(await leakOf({ method, path, headers: { Authorization } }))
          }
          leaks.push(
            await leakOf({ method: 'PUT', path, headers: { Authorization }, body: 'evil' }),
          )
          const form = { Authorization, 'Content-Type': FORM_TYPE }
          leaks.push(await leakOf({ method: 'POST', path, headers: form, body: fileBody('evil') }))
          const json = { Authorization, 'Content-Type': 'application/json' }
          for (const body of ['{"name":"a/moved"}', '{"visibility":"public"}']) {
            leaks.push(await leakOf({ method: 'PATCH', path, headers: json, body }))
          }
        }
      }
      expect(leaks.filter(Boolean)).toEqual([])
      expect(await outside()).toBe(before)
    })

    it('is not left by a name in a query, in JSON or in tus', async () => {
      const Authorization = `Bearer ${await narrow(...ALL)}`
      const json = { Authorization, 'Content-Type': 'application/json' }
      const names = [...ESCAPES.map((escape) => `a/${escape}`), ...LOOKALIKES, ...OUTSIDE]
      const leaks: (string | undefined)[] = []
      for (const name of names.flatMap((name) => [name, decoded(name)])) {
        const query = encodeURIComponent(name)
        for (const path of [
          `/users/me/archive?name=${query}`,
          `/users/me/archive?prefix=${query}`,
          `/users/me/history?name=${query}`,
          `/users/me/history?prefix=${query}`,
          `/users/me/repo?prefix=${query}`,
          `/users/me/repo?contains=${query}`,
          `/users/me/repo?delimiter=%2F&prefix=${query}`,
          `/users/me/changes?name=${query}`,
        ]) {
          leaks.push(await leakOf({ path, headers: { Authorization } }))
        }
        const operations = [
          [{ op: 'delete', name }],
          [{ op: 'update', name, visibility: 'public' }],
          [{ op: 'rename', name, new_name: 'a/moved', overwrite: true }],
          [{ op: 'rename', name: INSIDE, new_name: name, overwrite: true }],
          [{ op: 'delete', prefix: name }],
          [{ op: 'rename', prefix: name, new_prefix: 'a/c/' }],
          [{ op: 'rename', prefix: 'a/', new_prefix: name, overwrite: true }],
        ].map((each) => ({ path: '/users/me/batch', body: { operations: each } }))
        const others = [
          { path: '/users/me/links', body: { kind: 'download', name } },
          { path: '/users/me/links', body: { kind: 'download', prefix: name } },
          { path: '/users/me/access-tokens', body: { label: '', scope: { prefix: name } } },
        ]
        for (const { path, body } of [...operations, ...others]) {
          const text = JSON.stringify(body)
          const request = { method: 'POST', path, headers: json, body: text }
          leaks.push(await leakOf(request))
        }
        const tus = {
          ...TUS,
          Authorization,
          'Upload-Metadata': `filename ${base64(name)}`,
          'Upload-Length': '0',
        }
        leaks.push(
          await leakOf({ method: 'POST', path: '/users/me/uploads', headers: tus, body: '' }),
        )
      }
      expect(leaks.filter(Boolean)).toEqual([])
      expect(await outside()).toBe(before)
      const made = jsonOf(await ask(service, { user: owner, path: '/users/me/links?limit=1000' }))
      const links = made['links'] as readonly { readonly name?: string; readonly prefix?: string }[]
      for (const { name, prefix } of links) expect(name ?? prefix).toMatch(/^a\//)
    }, 60_000)

    it('is not left by the path of a visitor', async () => {
      const token = secretOf(owner)
      const leaks: (string | undefined)[] = []
      for (const prefix of ['a/', 'a']) {
        const own = await createLink(service, { token, kind: 'download', prefix })
        const drop = await createLink(service, { token, kind: 'drop', prefix: 'a/' })
        for (const rest of [...ESCAPES, ...(prefix === 'a/' ? LOOKALIKES : [])]) {
          for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
            const body = method === 'GET' ? undefined : 'evil'
            for (const { secret } of [own, drop]) {
              const path = `/links/${secret}/${rest}`
              leaks.push(await leakOf({ method, path, ...(body !== undefined && { body }) }))
            }
          }
        }
        for (const { link_id: id } of [own, drop]) {
          await ask(service, { user: owner, method: 'DELETE', path: `/users/me/links/${id}` })
        }
      }
      expect(leaks.filter((leak) => leak !== undefined && !isOfPrefix(leak))).toEqual([])
      expect(await outside()).toBe(before)
    })

    it('is in front of every name that a visitor stores', async () => {
      const { secret } = await createLink(service, {
        token: secretOf(owner),
        kind: 'drop',
        prefix: 'a/',
      })
      for (const rest of ESCAPES) {
        await ask(service, { method: 'PUT', path: `/links/${secret}/${rest}`, body: 'dropped' })
      }
      const { files } = jsonOf(await list(service, { user: owner, query: { limit: 1000 } }))
      const names = (files as readonly { readonly name: string }[]).map(({ name }) => name)
      const added = names.filter((name) => !OUTSIDE.includes(name as never) && name !== INSIDE)
      expect(added.length).toBeGreaterThan(5)
      for (const name of added) {
        expect(name).toMatch(/^a\/[^/]/)
        expect(name.split('/')).not.toContain('..')
      }
      expect(await outside()).toBe(before)
    })

    it('is not left by way of the secret of another link, or of a route of users', async () => {
      const token = secretOf(owner)
      const one = await createLink(service, { token, kind: 'download', prefix: 'a/' })
      const all = await createLink(service, { token, kind: 'download', prefix: '' })
      for (const path of [
        `/links/${one.secret}/../${all.secret}/b`,
        `/links/${one.secret}/%2e%2e/${all.secret}/b`,
        `/links/${one.secret}%2F..%2F${all.secret}/b`,
        `/links/${one.secret}/../../users/${owner.userId}/repo/b`,
        `/links/../links/${all.secret}/b`,
        `/links/%2e%2e/links/${all.secret}/b`,
      ]) {
        const { status, body } = await ask(service, { path })
        expect({ path, isRefused: status === 400 || status === 404 }).toMatchObject({
          isRefused: true,
        })
        expect(body.toString()).not.toContain('secret of')
      }
    })

    it('is that of bytes, not of characters that look the same', async () => {
      const Authorization = `Bearer ${await narrow('read', 'create')}`
      const headers = { Authorization }
      for (const rest of ['A/b', 'a%252Fb', '%EF%BD%81/b']) {
        const reply = await ask(service, { path: `/users/me/repo/${rest}`, headers })
        expect({ rest, ...jsonOf(reply) }).toMatchObject({ rest, code: 'scope_insufficient' })
      }
      const inside = await ask(service, { path: '/users/me/repo/%61%2f%69nside', headers })
      expect(inside.body.toString()).toBe('inside')
      // Decoded once, and then a name below the prefix that has percent signs in it.
      const literal = await upload(service, {
        method: 'PUT',
        path: '/users/me/repo/a/%252e%252e/b',
        headers,
        content: 'mine',
      })
      expect(jsonOf(literal)).toMatchObject({ name: 'a/%2e%2e/b' })
      const { body } = await download(service, { user: owner, name: 'a/%2e%2e/b' })
      expect(body.toString()).toBe('mine')
    })
  })
}

/** A link with the prefix `a` gives `ab`, as it should. */
function isOfPrefix(leak: string): boolean {
  return leak.includes('secret of ab')
}

/** What a name would be if something decoded it once more. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
