import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pino } from 'pino'
import { callerOf } from '../../../src/core/users/caller.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { issue, problemOf, send } from '../scopes/scoped-requests.ts'
import { basic, createLink, JSON_TYPE, type Made, visit } from './link-requests.ts'

const LINKS = '/users/me/links'
const UNKNOWN = `crl_${'x'.repeat(43)}`

export function linksSuite(open: OpenService): void {
  it('a link is in the log by its id, and not by its secret', async () => {
    const lines: string[] = []
    const logger = pino({}, { write: (line) => void lines.push(line) })
    const service = await open({ logger })
    const user = await service.createUser(MIB)
    const { link_id: id, secret } = await createLink(service, {
      token: secretOf(user),
      kind: 'drop',
      prefix: '',
    })
    await visit(service, { secret, path: '/a', method: 'PUT', body: 'a' })
    await visit(service, { secret })
    const logged = () => lines.filter((line) => line.includes(`"link_id":"${id}"`))
    await expect.poll(() => logged().length).toBe(2)
    expect(lines.join('')).not.toContain(secret)
    await service.stop()
  })

  it('a link lives no longer than the operator permits', async () => {
    const service = await open({ maxLinkLifeMs: 60_000 })
    const user = await service.createUser(MIB)
    const full = secretOf(user)
    const scoped = await issue(service, user, { actions: ['create', 'share'] })
    const { secret: short } = await service.accessTokens.issue({
      userId: user.userId,
      label: '',
      expiresInSeconds: 30,
      scope: { actions: ['create', 'share'] },
    })
    const lifeOf = async (token: string, terms = {}) => {
      const made = await createLink(service, { token, kind: 'drop', prefix: '', ...terms })
      const { created_at, expires_at } = made
      return Date.parse(expires_at ?? '') - Date.parse(created_at)
    }
    expect(await lifeOf(full)).toBe(60_000)
    expect(await lifeOf(scoped)).toBe(60_000)
    expect(await lifeOf(full, { expires_in: 60 })).toBe(60_000)
    expect(await lifeOf(full, { expires_in: 5 })).toBe(5_000)
    expect(await lifeOf(short)).toBeLessThan(30_001)
    const body = JSON.stringify({ kind: 'drop', prefix: '', expires_in: 61 })
    const asked = { method: 'POST', path: LINKS, headers: JSON_TYPE, body, token: full }
    expect(await problemOf(await send(service, asked))).toMatchObject({
      status: 400,
      parameter: 'expires_in',
    })
    await service.stop()
  })

  it('a link with a password refuses an address after 20 wrong ones, and nobody else', async () => {
    const service = await open({ trustedProxies: ['127.0.0.1'], passwordClock: () => 0 })
    const user = await service.createUser(MIB)
    await upload(service, { user, name: 'f', content: 'content' })
    const terms = { token: secretOf(user), kind: 'download', prefix: '', password: '0099' }
    const { secret } = await createLink(service, terms)
    const other = await createLink(service, terms)
    const get = (password: string, at: number, more = {}) =>
      visit(service, {
        secret,
        path: '/f',
        headers: { ...basic(password), 'X-Forwarded-For': `192.0.2.${at}`, ...more },
      })
    const opened = await visit(service, {
      secret,
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ password: '0099' }),
    })
    const Cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    for (let at = 0; at < 20; at += 1) expect((await get(`${at}`, 1)).status).toBe(401)
    const late = await get('0099', 1)
    expect(late.status).toBe(429)
    const wait = Number(late.headers.get('retry-after'))
    expect(wait).toBeGreaterThanOrEqual(1)
    expect(wait).toBeLessThanOrEqual(10)
    expect((await get('wrong', 1, { Cookie })).status).toBe(200)
    expect((await get('0099', 2)).status).toBe(200)
    const elsewhere = { secret: other.secret, path: '/f', headers: basic('0099') }
    expect((await visit(service, elsewhere)).status).toBe(200)
    await service.stop()
  })

  describe('a link', () => {
    let service: TestService
    let user: TestUser
    let token: string
    beforeAll(async () => {
      service = await open({ passwordClock: () => 0 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      token = secretOf(user)
    })

    const make = (terms: {
      readonly kind: string
      readonly [term: string]: unknown
    }): Promise<Made> => createLink(service, { token, ...terms })
    const put = (name: string, content: string) => upload(service, { user, name, content })
    const refusal = async (response: Promise<Response>) => await problemOf(await response)
    const gone = { status: 404, code: 'not_found' }
    const json = async (response: Promise<Response>) => {
      const answer = await response
      expect(answer.status).toBe(200)
      return (await answer.json()) as Record<string, unknown>
    }

    describe('for its owner', () => {
      const list = async (using = token) => {
        const response = await send(service, { path: LINKS, token: using })
        return ((await response.json()) as { links: readonly Record<string, unknown>[] }).links
      }
      const remove = (id: string, using = token) =>
        refusal(send(service, { method: 'DELETE', path: `${LINKS}/${id}`, token: using }))
      const ask = (terms: object, using = token) =>
        refusal(
          send(service, {
            method: 'POST',
            path: LINKS,
            headers: JSON_TYPE,
            body: JSON.stringify(terms),
            token: using,
          }),
        )

      it('is shown once with its secret, and listed without', async () => {
        const made = await make({
          kind: 'download',
          name: 'a.txt',
          label: 'A',
          expires_in: 60,
          max_uses: 2,
          password: 'p',
        })
        expect(made.url).toBe(`${service.url}/links/${made.secret}`)
        const { url: _url, secret: _secret, ...listed } = made
        expect(listed).toMatchObject({
          kind: 'download',
          name: 'a.txt',
          prefix: null,
          label: 'A',
          has_password: true,
          max_uses: 2,
          uses_left: 2,
        })
        await make({ kind: 'drop', prefix: '' })
        const links = await list()
        expect(links[0]).toEqual(listed)
        expect(links[1]).toMatchObject({
          kind: 'drop',
          name: null,
          prefix: '',
          expires_at: null,
          max_uses: null,
          uses_left: null,
        })
      })

      it.each([
        [{ kind: 'other', prefix: '' }, 'invalid_parameter'],
        [{ kind: 'download' }, 'format_error'],
        [{ kind: 'download', name: 'a', prefix: 'a' }, 'format_error'],
        [{ kind: 'drop', name: 'a' }, 'format_error'],
        [{ kind: 'download', name: 'a//b' }, 'invalid_file_name'],
        [{ kind: 'drop', prefix: 'a//' }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', max_uses: 0 }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', expires_in: 0 }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', password: '' }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', password: '\ud800' }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', password: 'a\0' }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: 'x'.repeat(255) }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', more: 1 }, 'invalid_parameter'],
      ])('is refused for %j with %s', async (terms, code) => {
        expect(await ask(terms)).toMatchObject({ status: 400, code })
        expect(await list()).toEqual([])
      })

      it('permits no more than the token that makes it', async () => {
        const insufficient = (required: string) => ({
          status: 403,
          code: 'scope_insufficient',
          required,
        })
        const scoped = await issue(service, user, { actions: ['read', 'share'], prefix: 'in-' })
        expect(await ask({ kind: 'download', name: 'out' }, scoped)).toMatchObject(
          insufficient('prefix'),
        )
        expect(await ask({ kind: 'download', prefix: 'i' }, scoped)).toMatchObject(
          insufficient('prefix'),
        )
        expect(await ask({ kind: 'drop', prefix: 'in-' }, scoped)).toMatchObject(
          insufficient('create'),
        )
        expect(await ask({ kind: 'download', prefix: 'in-side' }, scoped)).toBeUndefined()
        const sharing = await issue(service, user, { actions: ['create', 'share'] })
        expect(await ask({ kind: 'download', name: 'in' }, sharing)).toMatchObject(
          insufficient('read'),
        )
        expect(await ask({ kind: 'drop', prefix: '' }, sharing)).toBeUndefined()
      })

      it('is seen and revoked by a scoped token only if that has made it', async () => {
        const own = await make({ kind: 'drop', prefix: 'a' })
        const scoped = await issue(service, user, { actions: ['create', 'share'] })
        const made = await createLink(service, { token: scoped, kind: 'drop', prefix: 'b' })
        expect((await list(scoped)).map(({ prefix }) => prefix)).toEqual(['b'])
        expect(await remove(own.link_id, scoped)).toMatchObject(gone)
        expect(await remove(made.link_id)).toBeUndefined()
        expect(await list()).toHaveLength(1)
        expect(await remove('019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a')).toMatchObject(gone)
        expect(await remove('none')).toMatchObject({ status: 400 })
      })

      it('ends with the token that made it, with that token’s parent, and with its device', async () => {
        const device = { userId: user.userId, source: 'device', reference: 'camera' }
        const terms = { bytes: 0, model: undefined, startsAt: undefined, endsAt: undefined }
        await service.users.putGrant({ ...device, ...terms })
        const parent = await issue(service, user, {
          actions: ['create', 'share'],
          device_id: 'camera',
        })
        const created = await send(service, {
          method: 'POST',
          path: '/users/me/access-tokens',
          headers: JSON_TYPE,
          body: '{}',
          token: parent,
        })
        const child = (await created.json()) as { access_token: string; token_id: string }
        const grandchild = await createLink(service, {
          token: child.access_token,
          kind: 'drop',
          prefix: '',
        })
        const ofDevice = await createLink(service, { token: parent, kind: 'drop', prefix: '' })
        const own = await make({ kind: 'drop', prefix: '' })
        await service.accessTokens.revoke({ userId: user.userId, tokenId: child.token_id })
        expect(await refusal(visit(service, grandchild))).toMatchObject(gone)
        expect(await refusal(visit(service, ofDevice))).toBeUndefined()
        await service.users.revokeGrant(device)
        expect(await refusal(visit(service, ofDevice))).toMatchObject(gone)
        expect(await refusal(visit(service, own))).toBeUndefined()
      })

      it('does not outlive a token that has a scope', async () => {
        const drop = { kind: 'drop', prefix: '' }
        const scoped = await service.accessTokens.issue({
          userId: user.userId,
          label: '',
          expiresInSeconds: 60,
          scope: { actions: ['create', 'share'] },
        })
        const ofScoped = await createLink(service, { token: scoped.secret, ...drop })
        expect(ofScoped.expires_at).toBe(new Date(scoped.expiresAt ?? 0).toISOString())
        expect(await ask({ ...drop, expires_in: 61 }, scoped.secret)).toMatchObject({
          required: 'expires_in',
        })
        const terms = { userId: user.userId, label: '', expiresInSeconds: 60 }
        const { secret: own } = await service.accessTokens.issue(terms)
        const made = await send(service, {
          method: 'POST',
          path: '/users/me/access-tokens',
          headers: JSON_TYPE,
          body: JSON.stringify({ expires_in: 60 }),
          token: own,
        })
        const { access_token: child } = (await made.json()) as { access_token: string }
        for (const using of [own, child]) {
          expect(await createLink(service, { token: using, ...drop })).toMatchObject({
            expires_at: null,
          })
        }
      })

      it('is not made by a token that is being revoked', async () => {
        const scoped = await issue(service, user, { actions: ['create', 'share'] })
        const { tokenId } = await service.accessTokens.authenticate(scoped)
        await service.users.revokeAccessToken({ userId: user.userId, tokenId })
        const terms = {
          kind: 'drop',
          target: { prefix: '' as never },
          label: '',
          maxUses: undefined,
          passwordHash: undefined,
          maxBytes: undefined,
          maxFiles: undefined,
        } as const
        const createdBy = {
          tokenId,
          isJwt: false,
          isScoped: true,
          leftMs: undefined,
          credential: tokenId,
          deviceId: undefined,
        }
        const added = service.ledger.addLink({
          ...callerOf(await service.accessTokens.verify(token)),
          terms,
          createdBy,
          linkId: '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a',
          sha256: 'f'.repeat(64),
          askedMs: undefined,
        })
        await expect(added).rejects.toMatchObject({ code: 'access_token_invalid' })
      })
    })

    describe('that gives files', () => {
      it('gives one, as a download, with ranges and conditions', async () => {
        await put('a b.txt', 'content')
        const { secret } = await make({ kind: 'download', name: 'a b.txt', label: 'A' })
        expect(await json(visit(service, { secret }))).toEqual({
          kind: 'download',
          needs_password: false,
          label: 'A',
          files: [{ name: 'a b.txt', size: 7, media_type: 'text/plain' }],
          next_cursor: null,
          expires_at: null,
          uses_left: null,
        })
        const path = '/a%20b.txt'
        const whole = await visit(service, { secret, path })
        expect(await whole.text()).toBe('content')
        expect(whole.headers.get('content-disposition')).toContain('a b.txt')
        const etag = whole.headers.get('etag') ?? ''
        const range = await visit(service, { secret, path, headers: { Range: 'bytes=3-' } })
        expect([range.status, await range.text()]).toEqual([206, 'tent'])
        const same = await visit(service, { secret, path, headers: { 'If-None-Match': etag } })
        expect(same.status).toBe(304)
        const other = visit(service, { secret, path, headers: { 'If-Match': '"other"' } })
        expect(await refusal(other)).toMatchObject({ status: 412, code: 'precondition_failed' })
        const head = await visit(service, { secret, path, method: 'HEAD' })
        expect([head.status, head.headers.get('content-length')]).toEqual([200, '7'])
        expect(await refusal(visit(service, { secret, path: '/other' }))).toMatchObject(gone)
        expect(
          await refusal(visit(service, { secret, path, method: 'PUT', body: 'x' })),
        ).toMatchObject(gone)
      })

      it('gives what begins with its prefix, without ever telling the prefix', async () => {
        const prefix = 'secret-project-'
        const names = ['a', 'b', 'uploads', prefix, 'other', 'secret-projecu']
        for (const name of names)
          await put(name.length < 9 && name !== 'other' ? prefix + name : name, name)
        const { secret } = await make({ kind: 'download', prefix })
        const texts: string[] = []
        const listed: unknown[] = []
        let cursor: string | null = ''
        while (cursor !== null) {
          const query: string = cursor === '' ? '?limit=1' : `?limit=1&cursor=${cursor}`
          const page = await json(visit(service, { secret, path: query }))
          texts.push(
            JSON.stringify(page),
            Buffer.from(String(page['next_cursor']), 'base64url').toString(),
          )
          listed.push(...(page['files'] as unknown[]))
          cursor = page['next_cursor'] as string | null
        }
        expect(listed.map((file) => (file as { name: string }).name)).toEqual(['a', 'b', 'uploads'])
        const file = await visit(service, { secret, path: '/a' })
        texts.push(JSON.stringify([...file.headers]))
        expect(await file.text()).toBe('a')
        expect(await (await visit(service, { secret, path: '/uploads' })).text()).toBe('uploads')
        expect(await refusal(visit(service, { secret, path: '/none' }))).toMatchObject(gone)
        expect(texts.join('\n')).not.toContain('secret-project')
      })

      it('takes no cursor that is made up, and ignores what programs add to its address', async () => {
        await put('f', 'content')
        const { secret } = await make({ kind: 'download', prefix: '' })
        for (const key of [['\0'], ['a//b'], ['x'.repeat(256)], ['\ud800'], ['a', 'b']]) {
          const cursor = Buffer.from(JSON.stringify(key)).toString('base64url')
          const path = `?cursor=${cursor}`
          expect(await refusal(visit(service, { secret, path }))).toMatchObject({
            status: 400,
            parameter: 'cursor',
          })
        }
        expect(await json(visit(service, { secret, path: '?fbclid=x' }))).toHaveProperty('files')
        const { secret: long } = await make({ kind: 'download', prefix: 'x'.repeat(200) })
        const path = `/${'y'.repeat(200)}`
        expect(await refusal(visit(service, { secret: long, path }))).toMatchObject(gone)
      })

      it('says the same of one that never was, has expired, was revoked, or whose owner is suspended', async () => {
        await put('f', 'content')
        const terms = { kind: 'download', prefix: '' }
        const revoked = await make(terms)
        await send(service, { method: 'DELETE', path: `${LINKS}/${revoked.link_id}`, token })
        const expiring = await make({ ...terms, expires_in: 1 })
        const suspended = await make(terms)
        await new Promise((resolve) => setTimeout(resolve, 1_100))
        await service.users.setUserStatus(user.userId, 'suspended')
        const answers = []
        for (const secret of [
          UNKNOWN,
          'short',
          revoked.secret,
          expiring.secret,
          suspended.secret,
        ]) {
          for (const path of ['', '/f', '/none', '?format=zip'])
            answers.push(await refusal(visit(service, { secret, path })))
        }
        for (const answer of answers) expect(answer).toEqual(answers[0])
        expect(answers[0]).toMatchObject(gone)
      })
    })

    describe('with a password', () => {
      const locked = async (terms = {}) => {
        await put('f', 'content')
        return await make({
          kind: 'download',
          prefix: '',
          label: 'L',
          password: 'pass:wörd',
          ...terms,
        })
      }
      const unlock = (secret: string, password: string, headers = {}) =>
        visit(service, {
          secret,
          method: 'POST',
          headers: { ...JSON_TYPE, ...headers },
          body: JSON.stringify({ password }),
        })

      it('tells its kind alone, and asks', async () => {
        const { secret } = await locked()
        expect(await json(visit(service, { secret }))).toEqual({
          kind: 'download',
          needs_password: true,
        })
        const asked = await visit(service, { secret, path: '/f' })
        expect(asked.headers.get('www-authenticate')).toMatch(/^Basic /)
        expect(await problemOf(asked)).toMatchObject({
          status: 401,
          code: 'link_password_required',
        })
        const wrong = visit(service, { secret, path: '/f', headers: basic('wrong') })
        expect(await refusal(wrong)).toMatchObject({ status: 401, code: 'link_password_required' })
      })

      it('takes the password as Basic authentication, and as a cookie for that link alone', async () => {
        const { secret } = await locked()
        const file = await visit(service, { secret, path: '/f', headers: basic('pass:wörd') })
        expect(await file.text()).toBe('content')
        const opened = await unlock(secret, 'pass:wörd')
        expect(opened.status).toBe(204)
        const [set = ''] = opened.headers.getSetCookie()
        expect(set).toMatch(new RegExp(`; Path=/links/${secret}; HttpOnly; SameSite=Strict$`))
        const Cookie = set.split(';')[0] ?? ''
        expect(Cookie).not.toContain('pass')
        expect(
          await (await visit(service, { secret, path: '/f', headers: { Cookie } })).text(),
        ).toBe('content')
        const seen = await json(visit(service, { secret, headers: { Cookie } }))
        expect(seen).toMatchObject({ label: 'L', needs_password: true })
        const other = await locked()
        const reused = visit(service, { secret: other.secret, path: '/f', headers: { Cookie } })
        expect(await refusal(reused)).toMatchObject({ status: 401 })
      })

      it('is of no use to pages of other sites', async () => {
        const headers = { 'Sec-Fetch-Site': 'cross-site' }
        const { secret } = await locked({ kind: 'drop' })
        const sent = visit(service, {
          secret,
          path: '/x',
          method: 'PUT',
          body: 'x',
          headers: { ...headers, ...basic('pass:wörd') },
        })
        expect(await refusal(sent)).toMatchObject({
          status: 403,
          code: 'cross_site_request',
        })
      })

      it('limits wrong passwords, also at once, and then lets in a cookie alone', async () => {
        const { secret } = await locked()
        const right = (headers: Record<string, string> = basic('pass:wörd')) =>
          visit(service, { secret, path: '/f', headers })
        const opened = await unlock(secret, 'pass:wörd')
        expect((await right()).status).toBe(200)
        const guess = async (at: number) => (await unlock(secret, `${at}`)).status
        const guesses = await Promise.all(Array.from({ length: 12 }, (_, at) => guess(at)))
        let late = await unlock(secret, 'late')
        while (late.status === 403) {
          guesses.push(late.status)
          late = await unlock(secret, 'late')
        }
        expect(guesses.filter((status) => status === 403)).toHaveLength(20)
        expect(await problemOf(late)).toMatchObject({ status: 429, code: 'too_many_requests' })
        expect(Number(late.headers.get('retry-after'))).toBeLessThanOrEqual(10)
        // Known to the instance, but a block that it ended would let others guess it.
        expect((await right()).status).toBe(429)
        const Cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? ''
        expect((await right({ Cookie })).status).toBe(200)
      })
    })
  })
}
