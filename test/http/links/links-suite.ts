import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempts.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { callerOf } from '../../../src/core/users/caller.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  download,
  expectProblem,
  FORM_TYPE,
  MIB,
  type OpenService,
  pauseUpload,
  secretOf,
  upload,
  usageOf,
} from '../fixture.ts'
import { base64, OFFSET_TYPE, TUS } from '../resumable/tus-requests.ts'
import { issue, problemOf, send } from '../scopes/scoped-requests.ts'
import { basic, createLink, JSON_TYPE, type Made, visit } from './link-requests.ts'

const LINKS = '/users/me/links'
const UNKNOWN = `crl_${'x'.repeat(43)}`

export function linksSuite(open: OpenService): void {
  describe('a link', () => {
    let service: TestService
    let user: TestUser
    let token: string
    beforeAll(async () => {
      service = await open({
        failedAttemptPolicy: { ...FAILED_ATTEMPT_POLICY, maxFailedAttempts: 3 },
      })
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
        [{ kind: 'download', name: 'a/b' }, 'invalid_file_name'],
        [{ kind: 'drop', prefix: 'a/' }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', max_uses: 0 }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', expires_in: 0 }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', password: '' }, 'invalid_parameter'],
        [{ kind: 'drop', prefix: '', password: '\ud800' }, 'invalid_parameter'],
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

      it('is not made by a token that is being revoked', async () => {
        const scoped = await issue(service, user, { actions: ['create', 'share'] })
        const { tokenId } = await service.accessTokens.authenticate(scoped)
        await service.users.revokeAccessToken({ userId: user.userId, tokenId })
        const terms = {
          kind: 'drop',
          target: { prefix: '' as never },
          label: '',
          password: undefined,
        } as const
        const added = service.ledger.addLink({
          ...callerOf(await service.accessTokens.verify(token)),
          ...terms,
          linkId: '019ab1c2-7b1e-7c3a-9a57-0d6f6d1c2b3a',
          sha256: 'f'.repeat(64),
          madeBy: { tokenId, isJwt: false },
          maxUses: undefined,
          expiresInMs: undefined,
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
          files: [{ name: 'a b.txt', size: 7, media_type: 'application/octet-stream' }],
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

      it('counts downloads that begin, and then gives nothing', async () => {
        await put('f', 'content')
        const { secret, link_id: linkId } = await make({
          kind: 'download',
          prefix: '',
          max_uses: 2,
        })
        const get = (headers = {}) => visit(service, { secret, path: '/f', headers })
        const left = async () => (await json(visit(service, { secret })))['uses_left']
        await (await get({ Range: 'bytes=1-' })).text()
        await visit(service, { secret, path: '/f', method: 'HEAD' })
        const { headers } = await get({ Range: 'bytes=1-' })
        await get({ 'If-None-Match': headers.get('etag') ?? '' })
        await get({ Range: 'bytes=9-' })
        await visit(service, { secret, path: '/none' })
        expect(await left()).toBe(2)
        expect((await get({ Range: 'bytes=0-0' })).status).toBe(206)
        expect(await left()).toBe(1)
        expect((await get()).status).toBe(200)
        expect(await refusal(get())).toMatchObject(gone)
        expect(await refusal(get({ Range: 'bytes=1-' }))).toMatchObject(gone)
        expect(await refusal(visit(service, { secret }))).toMatchObject(gone)
        expect(linkId).toMatch(/-7/)
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
          for (const path of ['', '/f', '/none'])
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

      it('limits wrong passwords as wrong tokens, and lets the right one in that it knows', async () => {
        const { secret } = await locked()
        const right = () => visit(service, { secret, path: '/f', headers: basic('pass:wörd') })
        expect((await right()).status).toBe(200)
        const guesses = []
        for (let guess = 0; guess < 6; guess += 1)
          guesses.push((await unlock(secret, `${guess}`)).status)
        expect(new Set(guesses)).toEqual(new Set([403, 429]))
        expect((await right()).status).toBe(200)
        const blocked = await locked()
        const first = visit(service, {
          secret: blocked.secret,
          path: '/f',
          headers: basic('pass:wörd'),
        })
        expect(await refusal(first)).toMatchObject({ status: 429 })
      })
    })
  })

  describe('a link that takes files', () => {
    let service: TestService
    let user: TestUser
    let token: string
    beforeAll(async () => {
      service = await open({ maxFileSize: MIB })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(100_000)
      token = secretOf(user)
    })

    const make = (terms = {}): Promise<Made> =>
      createLink(service, { token, kind: 'drop', prefix: 'in-', ...terms })
    const drop = (secret: string, { path = '/f', body = 'content', headers = {} } = {}) =>
      visit(service, { secret, path, method: 'PUT', body, headers })
    const refusal = async (response: Promise<Response>) => await problemOf(await response)
    const stored = async (name: string) => {
      const { status, body } = await download(service, { user, name })
      return status === 200 ? body.toString() : status
    }
    const file = (name: string) =>
      service.ledger.findFile({ userId: user.userId, name: parseFileName(name), audience: 'owner' })
    const sha256 = 'ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73'
    const gone = { status: 404, code: 'not_found' }

    it('takes bodies and forms, and answers without a figure of the owner', async () => {
      const { secret } = await make()
      const answer = await drop(secret)
      expect([answer.status, await answer.json()]).toEqual([200, { name: 'f', size: 7, sha256 }])
      const form = await visit(service, {
        secret,
        path: '/g?visibility=public',
        method: 'POST',
        headers: { 'Content-Type': FORM_TYPE },
        body: fileBody('content'),
      })
      expect([form.status, await form.json()]).toEqual([200, { name: 'g', size: 7, sha256 }])
      expect([await stored('in-f'), await stored('in-g')]).toEqual(['content', 'content'])
      expect(await file('in-g')).toMatchObject({ visibility: 'private' })
      expect(await usageOf(service, user)).toMatchObject({ used: 14, reserved: 0, fileCount: 2 })
    })

    it('takes files named like its uploads', async () => {
      const { secret } = await make()
      const headers = { 'Content-Type': FORM_TYPE }
      const form = { secret, path: '/uploads', method: 'POST', headers, body: fileBody('form') }
      expect(await refusal(visit(service, form))).toBeUndefined()
      expect(await stored('in-uploads')).toBe('form')
      const { secret: other } = await make({ prefix: 'other-' })
      expect(await refusal(drop(other, { path: '/uploads' }))).toBeUndefined()
      expect(await stored('other-uploads')).toBe('content')
    })

    it('never replaces a file, shows none, and gives none', async () => {
      await upload(service, { user, name: 'in-f', content: 'old' })
      const { secret } = await make()
      for (const headers of [{}, { 'If-Match': '*' }, { 'If-None-Match': '"x"' }]) {
        expect(await refusal(drop(secret, { headers }))).toMatchObject({
          status: 409,
          code: 'file_exists',
        })
      }
      expect(await stored('in-f')).toBe('old')
      const seen = (await (await visit(service, { secret })).json()) as object
      expect(seen).toMatchObject({ kind: 'drop', files: [] })
      expect(await refusal(visit(service, { secret, path: '/f' }))).toMatchObject(gone)
    })

    it('refuses what does not fit, without figures', async () => {
      const { secret } = await make()
      const problem = await refusal(drop(secret, { body: 'x'.repeat(100_001) }))
      expect(problem).toEqual({
        type: 'urn:cloud-repository:problem:capacity_exceeded',
        title: 'Forbidden',
        status: 403,
        detail: 'There is no room for this file.',
        code: 'capacity_exceeded',
      })
      const long = await refusal(drop(secret, { path: `/${'x'.repeat(253)}` }))
      expect(long).toMatchObject({ status: 400, code: 'invalid_file_name' })
      const digest = `sha-256=:${Buffer.alloc(32).toString('base64')}:`
      expect(await refusal(drop(secret, { headers: { 'Repr-Digest': digest } }))).toMatchObject({
        code: 'digest_mismatch',
      })
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 0 })
    })

    it('counts finished drops alone', async () => {
      const { secret } = await make({ max_uses: 2 })
      expect(await refusal(drop(secret, { body: 'x'.repeat(100_001) }))).toMatchObject({
        status: 403,
      })
      expect(await refusal(drop(secret))).toBeUndefined()
      expect(await refusal(drop(secret))).toMatchObject({ status: 409 })
      expect(await refusal(drop(secret, { path: '/g' }))).toBeUndefined()
      expect(await refusal(drop(secret, { path: '/h' }))).toMatchObject(gone)
      expect(await usageOf(service, user)).toMatchObject({ used: 14, reserved: 0 })
    })

    it('ends a drop that is on its way when it is revoked, or its owner suspended', async () => {
      for (const end of [
        (id: string) => send(service, { method: 'DELETE', path: `${LINKS}/${id}`, token }),
        () => service.users.setUserStatus(user.userId, 'suspended'),
      ]) {
        const { secret, link_id: id } = await make()
        const path = `/links/${secret}/slow`
        const paused = await pauseUpload(service, {
          user,
          method: 'PUT',
          path,
          content: Buffer.alloc(1000),
        })
        await end(id)
        paused.resume()
        expectProblem(await paused.reply, { status: 404, code: 'not_found' })
        expect(await file('in-slow')).toBeUndefined()
      }
    })

    describe('by tus', () => {
      const filename = (name: string) => `filename ${base64(name)},visibility ${base64('public')}`
      const create = (
        secret: string,
        {
          name = 'f',
          length = 7,
          ...init
        }: { name?: string; length?: number; headers?: object; body?: string } = {},
      ) =>
        visit(service, {
          secret,
          path: '/uploads/',
          method: 'POST',
          ...init,
          headers: {
            ...TUS,
            'Upload-Metadata': filename(name),
            'Upload-Length': `${length}`,
            ...init.headers,
          },
        })
      const pathOf = (response: Response, secret: string) => {
        const location = response.headers.get('location') ?? ''
        expect(location).toMatch(new RegExp(`^/links/${secret}/uploads/[0-9a-f-]{36}$`))
        return location.slice(`/links/${secret}`.length)
      }
      const append = (secret: string, path: string, [offset, body]: [number, string]) =>
        visit(service, {
          secret,
          path,
          method: 'PATCH',
          body,
          headers: { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': `${offset}` },
        })

      it('takes a file in parts', async () => {
        const { secret } = await make({ max_uses: 1 })
        const created = await create(secret)
        expect(created.status).toBe(201)
        const path = pathOf(created, secret)
        const first = await append(secret, path, [0, 'con'])
        expect([first.status, first.headers.get('upload-offset')]).toEqual([204, '3'])
        const head = await visit(service, { secret, path, method: 'HEAD', headers: TUS })
        expect(head.headers.get('upload-offset')).toBe('3')
        expect(
          Buffer.from(
            (head.headers.get('upload-metadata') ?? '').split(/[ ,]/)[1] ?? '',
            'base64',
          ).toString(),
        ).toBe('f')
        expect((await append(secret, path, [3, 'tent'])).status).toBe(204)
        expect(await stored('in-f')).toBe('content')
        expect(await file('in-f')).toMatchObject({ visibility: 'private' })
        expect(await refusal(create(secret, { name: 'g' }))).toMatchObject(gone)
      })

      it('takes one with its creation, and an empty one', async () => {
        const { secret } = await make()
        const whole = await create(secret, { headers: OFFSET_TYPE, body: 'content' })
        expect([whole.status, whole.headers.get('upload-offset')]).toEqual([201, '7'])
        expect(await refusal(create(secret, { name: 'empty', length: 0 }))).toBeUndefined()
        expect([await stored('in-f'), await stored('in-empty')]).toEqual(['content', ''])
      })

      it('refuses as a body does', async () => {
        const { secret } = await make()
        const problem = await refusal(create(secret, { length: 100_001 }))
        expect(problem).toMatchObject({ status: 403, code: 'capacity_exceeded' })
        expect(problem).not.toHaveProperty('capacity')
        await upload(service, { user, name: 'in-f', content: 'old' })
        expect(await refusal(create(secret))).toMatchObject({ status: 409, code: 'file_exists' })
      })

      it('is continued by its link alone', async () => {
        const { secret } = await make()
        const { secret: other } = await make()
        const path = pathOf(await create(secret), secret)
        const tus = { headers: TUS, token }
        const own = await send(service, {
          ...tus,
          method: 'POST',
          path: '/users/me/uploads',
          headers: { ...TUS, 'Upload-Metadata': filename('in-own'), 'Upload-Length': '7' },
        })
        const ownPath = `/uploads/${(own.headers.get('location') ?? '').split('/').at(-1)}`
        for (const [by, at] of [
          [other, path],
          [secret, ownPath],
        ] as const) {
          expect(await refusal(append(by, at, [0, 'x']))).toMatchObject(gone)
          const removed = visit(service, { secret: by, path: at, method: 'DELETE', headers: TUS })
          expect(await refusal(removed)).toMatchObject(gone)
        }
        await append(secret, path, [0, 'con'])
        await send(service, {
          ...tus,
          method: 'PATCH',
          path: `/users/me${ownPath}`,
          headers: { ...TUS, ...OFFSET_TYPE, 'Upload-Offset': '0' },
          body: 'x',
        })
        await send(service, { ...tus, method: 'DELETE', path: `/users/me${ownPath}` })
        expect(await refusal(append(secret, ownPath, [1, 'x']))).toMatchObject(gone)
        const removed = visit(service, { secret, path, method: 'DELETE', headers: TUS })
        expect(await refusal(removed)).toBeUndefined()
      })
    })
  })

  describe('a link under a base path', () => {
    it('has it in its address, in its cookie and in the paths of its uploads', async () => {
      const service = await open({ basePath: '/api' })
      try {
        const at = { ...service, url: `${service.url}/api` }
        const token = secretOf(await service.createUser(MIB))
        const { secret, url } = await createLink(at, {
          token,
          kind: 'drop',
          prefix: '',
          password: 'p',
        })
        expect(url).toBe(`${at.url}/links/${secret}`)
        const opened = await visit(at, {
          secret,
          method: 'POST',
          headers: JSON_TYPE,
          body: '{"password":"p"}',
        })
        expect(opened.headers.getSetCookie()[0]).toContain(`; Path=/api/links/${secret};`)
        const headers = {
          ...TUS,
          ...basic('p'),
          'Upload-Metadata': `filename ${base64('f')}`,
          'Upload-Length': '1',
        }
        const created = await visit(at, { secret, path: '/uploads/', method: 'POST', headers })
        expect(created.headers.get('location')).toMatch(
          new RegExp(`^/api/links/${secret}/uploads/`),
        )
      } finally {
        await service.stop()
      }
    })
  })
}
