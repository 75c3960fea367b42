import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pino } from 'pino'
import { SPELLINGS } from '../../support/names/spellings.ts'
import { VALID_NAMES } from '../../support/names/valid-names.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN, send } from '../admin/fixture.ts'
import { ask, expectProblem, MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { basic, createLink } from '../links/link-requests.ts'

const APP = 'https://app.example.com'
const CROSS_SITE = { status: 403, code: 'cross_site_request' } as const

/** What can be seen of a path, whatever it is, outside its own answer. */
const WORD = 'unmistakable'
const FRONTS = ['', 'a/', 'a/b/c/d/e/f/g/', '%2F', '../', '%2e%2e/', '/', '%ff/', '%5C'] as const

function pathsOf(round: number): readonly string[] {
  return FRONTS.map((front, at) => `${front}${WORD}-${round}-${at}/${WORD}`)
}

/** The rules of every request hold for one whose path is deep, or is none. */
export function deepPathsSuite(open: OpenService): void {
  describe('a deep path', () => {
    let service: TestService
    let user: TestUser
    const lines: string[] = []
    beforeAll(async () => {
      const logger = pino({}, { write: (line: string) => void lines.push(line) })
      service = await open({ ...ADMIN_OPTIONS, allowedOrigins: [APP], logger })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      lines.length = 0
    })

    /** Every kind of request that has a name in its path, to paths that no other round has. */
    async function requestAll(round: number): Promise<void> {
      const paths = pathsOf(round)
      const token = secretOf(user)
      const links = await Promise.all(
        ['download', 'drop'].map((kind) => createLink(service, { token, kind, prefix: '' })),
      )
      const roots = [
        '/users/me/repo',
        `/users/${user.userId}/repo`,
        '/users/nobody/repo',
        ...links.map(({ secret }) => `/links/${secret}`),
        `/links/crl_${'A'.repeat(43)}`,
        '/nowhere',
      ]
      for (const root of roots) {
        for (const rest of paths) {
          for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'PROPFIND', 'OPTIONS']) {
            const body = method === 'GET' ? {} : { body: 'x' }
            await ask(service, { user, method, path: `${root}/${rest}`, ...body })
          }
        }
      }
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
      for (const rest of paths) {
        const at = `/admin/users/${user.userId}/files/${rest}`
        for (const method of ['GET', 'DELETE', 'PUT']) await send(service, { method, at, headers })
      }
    }

    it('is no label of a metric: routes are as many as they were', async () => {
      const scrape = async () => {
        const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
        const { body } = await send(service, { method: 'GET', at: '/metrics', headers })
        return body.toString()
      }
      await requestAll(1)
      await scrape()
      const first = await scrape()
      expect(first).toContain('cloud_repository_')
      expect(first).not.toContain(WORD)
      const routes = (text: string) =>
        new Set(Array.from(text.matchAll(/route="([^"]*)"/g), ([, route = '']) => route))
      for (const route of routes(first)) expect(route).toMatch(/^(none|\*|(\/[\w:*.-]*)+)$/)
      await requestAll(2)
      const again = await scrape()
      expect([...routes(again)].sort()).toEqual([...routes(first)].sort())
      const series = (text: string) => text.split('\n').filter((line) => /^\w+\{/.test(line)).length
      expect(series(again)).toBe(series(first))
    })

    it('is in no log line, which has the route', async () => {
      await requestAll(3)
      await expect.poll(() => lines.length).toBeGreaterThan(100)
      expect(lines.filter((line) => line.includes(WORD))).toEqual([])
      const routes = new Set(
        lines.map((line) => (JSON.parse(line) as { readonly route?: string | null }).route),
      )
      expect(routes.size).toBeLessThan(30)
      expect([...routes].filter((route) => route?.includes('repo')).length).toBeGreaterThan(0)
    })

    it('is written to by no page of another site', async () => {
      const names = ['a/b', 'a/', 'a%2Fb', ...VALID_NAMES.slice(0, 10).map(encodeURIComponent)]
      const terms = { kind: 'drop', prefix: '', password: 'correct horse battery' }
      const { secret } = await createLink(service, { token: secretOf(user), ...terms })
      for (const headers of [
        { Origin: 'https://evil.example' },
        { Origin: 'null' },
        { 'Sec-Fetch-Site': 'cross-site' },
      ]) {
        for (const rest of names) {
          for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
            const path = `/users/me/repo/${rest}`
            const reply = await ask(service, { user, method, path, headers, body: 'x' })
            expectProblem(reply, CROSS_SITE)
          }
          for (const method of ['PUT', 'POST']) {
            const path = `/links/${secret}/${rest}`
            const sent = { ...headers, ...basic(terms.password) }
            const reply = await ask(service, { method, path, headers: sent, body: 'x' })
            expectProblem(reply, CROSS_SITE)
          }
        }
      }
    })

    it('is asked for first by an allowed page, and by no other', async () => {
      for (const [, spell] of SPELLINGS) {
        for (const name of ['a', 'a/b', 'a/', 'a/b/c d/%']) {
          const path = `/users/me/repo/${spell(name)}`
          const asked = { 'Access-Control-Request-Method': 'PUT' }
          const allowed = await ask(service, {
            method: 'OPTIONS',
            path,
            headers: { Origin: APP, ...asked },
          })
          expect({ path, status: allowed.status, ...allowed.headers }).toMatchObject({
            status: 204,
            'access-control-allow-origin': APP,
          })
          const methods = allowed.headers['access-control-allow-methods'] ?? ''
          for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'])
            expect(methods).toContain(method)
          const other = { Origin: 'https://evil.example', ...asked }
          const refused = await ask(service, { method: 'OPTIONS', path, headers: other })
          expect(refused.status).toBe(403)
          expect(refused.headers['access-control-allow-origin']).toBeUndefined()
          const read = await ask(service, { user, path, headers: { Origin: APP } })
          expect(read.headers['access-control-allow-origin']).toBe(APP)
        }
      }
    })

    it.each(['a', 'a/b', 'a%2Fb', 'a/b/', '%61/b'])(
      'tells which methods it has: %s',
      async (rest) => {
        const { userId } = await service.createUser(MIB)
        const { secret } = await createLink(service, {
          token: secretOf(user),
          kind: 'drop',
          prefix: '',
        })
        for (const [method, path, allow] of [
          ['PUT', `/users/${userId}/repo/${rest}`, 'GET, HEAD'],
          ['PATCH', `/links/${secret}/${rest}`, 'GET, HEAD, POST, PUT'],
        ] as const) {
          const reply = await ask(service, { user, method, path, body: 'x' })
          expectProblem(reply, { status: 405, code: 'method_not_allowed' })
          expect(reply.headers['allow']).toBe(allow)
        }
      },
    )

    it('has the headers that keep an answer inert', async () => {
      for (const name of ['a/index.html', 'a/b/c.svg', 'deep/er/']) {
        const content = name.endsWith('/') ? '' : '<script>'
        await upload(service, { method: 'PUT', user, name, content })
        for (const [, spell] of SPELLINGS) {
          const path = `/users/me/repo/${spell(name)}`
          const { headers } = await ask(service, { user, path })
          expect(headers).toMatchObject({
            'content-type': 'application/octet-stream',
            'x-content-type-options': 'nosniff',
            'content-disposition': expect.stringMatching(/^attachment/) as string,
          })
          expect(headers['content-security-policy']).toMatch(/sandbox|default-src 'none'/)
        }
      }
    })

    it('is guessed by passwords of a link no more often than a shallow one', async () => {
      const token = secretOf(user)
      const terms = { token, kind: 'download', prefix: '', password: 'correct horse battery' }
      const { secret } = await createLink(service, terms)
      const statuses: number[] = []
      for (let at = 0; at < 26; at += 1) {
        const path = `/links/${secret}/${'a/'.repeat(at)}b`
        statuses.push((await ask(service, { path, headers: basic(`wrong ${at}`) })).status)
      }
      expect(new Set(statuses.slice(0, 20))).toEqual(new Set([401]))
      // One comes back every 10 s.
      expect(statuses.slice(20)).toContain(429)
    })
  })
}
