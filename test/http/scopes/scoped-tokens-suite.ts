import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ACTIONS } from '../../../src/core/auth/scope.ts'
import { accountOf } from '../../core/ledger/fixture.ts'
import { callerNamed } from '../../support/caller.ts'
import { isWithoutZip, readZip } from '../../support/read-zip.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { forEachConcurrent } from '../../../src/core/async/for-each-concurrent.ts'
import { MAX_SCANNED_FILES } from '../../../src/core/files/listing.ts'
import { base64, TUS } from '../resumable/tus-requests.ts'
import { createLink, visit } from '../links/link-requests.ts'
import {
  creation,
  firstAppend,
  issue,
  locationOf,
  problemOf,
  send,
  type Sent,
} from './scoped-requests.ts'

const TOKENS = '/users/me/access-tokens'
const JSON_TYPE = { 'Content-Type': 'application/json' }
const REPO = '/users/me/repo'
const ADMIN_TOKEN = 'the-admin-token-of-the-scopes'

interface Made {
  readonly token_id: string
  readonly access_token: string
  readonly expires_at: string | null
  readonly scope: object | null
}

interface Listed extends Made {
  readonly parent_id: string | null
}

export function scopedTokensSuite(open: OpenService): void {
  it('a token that a user makes lives no longer than the operator permits', async () => {
    const service = await open({ maxTokenLifeMs: 60_000, adminToken: ADMIN_TOKEN })
    const user = await service.createUser(MIB)
    const full = secretOf(user)
    const scoped = await issue(service, user, { actions: ['read', 'share'] })
    const ask = (token: string, terms: object) => send(service, { ...asked(TOKENS, terms), token })
    const lifeOf = async (token: string, terms: object = {}) => {
      const made = (await (await ask(token, terms)).json()) as Made & { created_at: string }
      return Date.parse(made.expires_at ?? '') - Date.parse(made.created_at)
    }
    for (const token of [full, scoped]) {
      expect(await lifeOf(token)).toBe(60_000)
      expect(await lifeOf(token, { expires_in: 60 })).toBe(60_000)
      expect(await lifeOf(token, { expires_in: 5 })).toBe(5_000)
      expect(await problemOf(await ask(token, { expires_in: 61 }))).toMatchObject({
        status: 400,
        code: 'invalid_parameter',
        parameter: 'expires_in',
      })
    }
    const { access_token } = (await (await ask(full, { expires_in: 5 })).json()) as Made
    expect(await lifeOf(access_token, { expires_in: 60 })).toBe(60_000)
    const issued = await fetch(
      `http://127.0.0.1:${service.adminPort}/admin/users/${user.userId}/access-tokens`,
      { method: 'POST', headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } },
    )
    expect(await issued.json()).toMatchObject({ expires_at: null })
    await service.stop()
  })

  describe('a token with a scope', () => {
    let service: TestService
    let user: TestUser
    let full: string
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000, adminToken: ADMIN_TOKEN, maxFiles: 5_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      full = secretOf(user)
    })

    const insufficient = (required: string) => ({
      status: 403,
      code: 'scope_insufficient',
      required,
    })
    const refusal = async (token: string, sent: Sent) =>
      await problemOf(await send(service, { ...sent, token }))
    const post = asked
    const make = async (token: string, terms: object = {}): Promise<Made> => {
      const response = await send(service, { ...post(TOKENS, terms), token })
      expect(response.status).toBe(201)
      return (await response.json()) as Made
    }
    const put = (name: string, headers = {}): Sent => ({
      method: 'PUT',
      path: `${REPO}/${name}`,
      headers,
      body: name,
    })
    const patch = (name: string, body: object): Sent => ({
      ...post(`${REPO}/${name}`, body),
      method: 'PATCH',
    })
    const read = async (token: string, path: string): Promise<Record<string, unknown>> => {
      const response = await send(service, { path, token })
      expect(response.status).toBe(200)
      return (await response.json()) as Record<string, unknown>
    }
    const expectOk = async (token: string, sent: Sent) =>
      expect(await refusal(token, sent)).toBeUndefined()

    it('is told what it permits, and until when, whatever that is', async () => {
      await service.users.putGrant(deviceOf(user, 'camera'))
      const terms = { prefix: 'in-', device_id: 'camera', when_full: 'evict_oldest' }
      for (const action of ACTIONS) {
        const scope = { actions: [action], ...terms }
        const made = await make(full, { scope, expires_in: 3600 })
        const told = await read(made.access_token, '/session')
        expect(told).toEqual({
          user_id: user.userId,
          scope: made.scope,
          expires_at: expect.any(String) as string,
        })
        const ends = [told['expires_at'], made.expires_at].map((time) => Date.parse(String(time)))
        expect(Math.abs((ends[0] ?? 0) - (ends[1] ?? 0))).toBeLessThan(1_000)
      }
    })

    it('is not told so once it is revoked', async () => {
      const { access_token, token_id: tokenId } = await make(full, { scope: {} })
      expect(await read(access_token, '/session')).toMatchObject({ expires_at: null })
      await service.users.revokeAccessToken({ userId: user.userId, tokenId })
      // As on another instance, whose cache does not know of it.
      expect(await refusal(access_token, { path: '/session' })).toMatchObject({
        code: 'access_token_invalid',
      })
    })

    describe('making tokens', () => {
      it('a token takes from its maker what it leaves out', async () => {
        await service.users.putGrant(deviceOf(user, 'camera'))
        const terms = { actions: ['read', 'share'], prefix: 'in-', device_id: 'camera' }
        const scope = { ...terms, when_full: 'refuse' }
        const parent = await make(full, { scope, expires_in: 3600, label: 'parent' })
        expect(parent.scope).toEqual(scope)
        const child = await make(parent.access_token)
        expect(child).toMatchObject({ scope, expires_at: parent.expires_at })
        const narrower = { actions: ['read'], prefix: 'in-side-' }
        const grandchild = await make(child.access_token, { scope: narrower, expires_in: 60 })
        expect(grandchild.scope).toEqual({ ...scope, ...narrower })
        expect(grandchild.expires_at ?? '').toMatch(/^\d/)
        expect(Date.parse(grandchild.expires_at ?? '')).toBeLessThan(
          Date.parse(parent.expires_at ?? ''),
        )
      })

      it('a token is made without a body', async () => {
        const response = await send(service, { method: 'POST', path: TOKENS, token: full })
        expect(response.status).toBe(201)
        expect(await response.json()).toMatchObject({ label: '', scope: null, expires_at: null })
      })

      it('a token is never wider than its maker', async () => {
        const scope = { actions: ['read', 'share'], prefix: 'in-' }
        const { access_token: parent } = await make(full, { scope, expires_in: 3600 })
        const asked: readonly (readonly [string, object])[] = [
          ['delete', { scope: { actions: ['read', 'delete'] } }],
          ['prefix', { scope: { prefix: 'in' } }],
          ['prefix', { scope: { prefix: '' } }],
          ['prefix', { scope: { prefix: 'out-' } }],
          ['expires_in', { expires_in: 3601 }],
          ['when_full', { scope: { when_full: 'evict_oldest' } }],
        ]
        for (const [required, terms] of asked) {
          expect(await refusal(parent, post(TOKENS, terms))).toMatchObject(insufficient(required))
        }
        const { access_token: reader } = await make(parent, { scope: { actions: ['read'] } })
        expect(await refusal(reader, post(TOKENS, {}))).toMatchObject(insufficient('share'))
      })

      it('a token does not leave the device of its maker', async () => {
        for (const device of ['one', 'two']) await service.users.putGrant(deviceOf(user, device))
        const { access_token } = await make(full, { scope: { device_id: 'one' } })
        const asked = post(TOKENS, { scope: { device_id: 'two' } })
        expect(await refusal(access_token, asked)).toMatchObject(insufficient('device_id'))
        const unknown = post(TOKENS, { scope: { device_id: 'none' } })
        expect(await refusal(full, unknown)).toMatchObject({ status: 404, code: 'not_found' })
      })

      it.each([
        { actions: [] },
        { actions: ['read', 'read'] },
        { actions: ['write'] },
        { actions: 'read' },
        { prefix: 'a//b' },
        { prefix: 5 },
        { device_id: 'a b' },
        { when: 'always' },
        null,
        [],
      ])('a token is made with scopes that are understood, not with %j', async (scope) => {
        expect(await refusal(full, post(TOKENS, { scope }))).toMatchObject({ status: 400 })
      })

      it('a token outlives its maker, if that has no scope, and is revoked with it', async () => {
        const short = await make(full, { expires_in: 1 })
        const lasting = await make(short.access_token)
        const scope = { actions: ['create', 'share'], prefix: 'in-' }
        const camera = await make(short.access_token, { scope, expires_in: 3600 })
        expect(lasting).toMatchObject({ scope: null, expires_at: null })
        const { secret } = await createLink(service, {
          token: short.access_token,
          kind: 'drop',
          prefix: '',
          expires_in: 3600,
        })
        const refused = () => refusal(short.access_token, post(TOKENS, {}))
        await expect.poll(refused, { timeout: 5_000 }).toMatchObject({
          code: 'access_token_invalid',
        })
        await expectOk(camera.access_token, put('in-a'))
        expect((await visit(service, { secret })).status).toBe(200)
        const { access_tokens: all } = await read(full, TOKENS)
        const parents = new Map((all as readonly Listed[]).map((t) => [t.token_id, t.parent_id]))
        for (const { token_id } of [lasting, camera])
          expect(parents.get(token_id)).toBe(short.token_id)
        expect([...parents.values()]).toContain(null)
        await expectOk(full, { method: 'DELETE', path: `${TOKENS}/${short.token_id}` })
        for (const { access_token } of [lasting, camera]) {
          expect(await refusal(access_token, put('in-b'))).toMatchObject({
            code: 'access_token_invalid',
          })
        }
        expect((await visit(service, { secret })).status).toBe(404)
      })

      it('a token ends with its maker, and so do those that it has made', async () => {
        const parent = await make(full, { scope: { actions: ['share', 'read'] } })
        const child = await make(parent.access_token)
        const grandchild = await make(child.access_token)
        await expectOk(full, { method: 'DELETE', path: `${TOKENS}/${parent.token_id}` })
        for (const { access_token } of [parent, child, grandchild]) {
          expect(await refusal(access_token, { path: REPO })).toMatchObject({
            code: 'access_token_invalid',
          })
        }
        await expectOk(full, { path: REPO })
      })

      it('a token sees and revokes no others than it has made', async () => {
        const parent = await make(full, { scope: { actions: ['share'] } })
        const child = await make(parent.access_token)
        const other = await make(full)
        const idsOf = async (token: string) => {
          const { access_tokens: all } = await read(token, TOKENS)
          return (all as readonly Made[]).map(({ token_id }) => token_id)
        }
        expect(await idsOf(parent.access_token)).toEqual([child.token_id])
        expect(await idsOf(full)).toEqual(
          expect.arrayContaining([parent.token_id, child.token_id, other.token_id]),
        )
        for (const id of [other.token_id, parent.token_id]) {
          const revocation = { method: 'DELETE', path: `${TOKENS}/${id}` }
          expect(await refusal(parent.access_token, revocation)).toMatchObject({ status: 404 })
        }
        const revocation = { method: 'DELETE', path: `${TOKENS}/${child.token_id}` }
        await expectOk(parent.access_token, revocation)
        await expectOk(other.access_token, { path: REPO })
      })
    })

    it('a token of a device ends with the device', async () => {
      await service.users.putGrant(deviceOf(user, 'camera'))
      const { access_token } = await make(full, { scope: { device_id: 'camera' } })
      const { access_token: child } = await make(access_token)
      await expectOk(child, { path: REPO })
      const removal = await fetch(
        `http://127.0.0.1:${service.adminPort}/admin/users/${user.userId}/devices/camera`,
        { method: 'DELETE', headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } },
      )
      expect(removal.status).toBe(204)
      for (const token of [access_token, child]) {
        expect(await refusal(token, { path: REPO })).toMatchObject({ code: 'access_token_invalid' })
      }
    })

    it('a token that may only create replaces nothing, and one that may only replace creates nothing', async () => {
      await upload(service, { user, name: 'there', content: 'old' })
      const creating = await issue(service, user, { actions: ['create'] })
      const replacing = await issue(service, user, { actions: ['replace'] })
      const failed = { status: 412, code: 'precondition_failed' }
      await expectOk(creating, put('new'))
      expect(await refusal(creating, put('there'))).toMatchObject(failed)
      expect(await refusal(creating, put('there', { 'If-Match': '*' }))).toMatchObject(failed)
      await expectOk(replacing, put('there'))
      expect(await refusal(replacing, put('newer'))).toMatchObject(failed)
      expect(await refusal(replacing, put('newer', { 'If-None-Match': '*' }))).toMatchObject(failed)
      const reading = await issue(service, user, { actions: ['read', 'replace'] })
      const old = { 'If-Unmodified-Since': 'Sat, 21 Nov 2020 12:00:00 GMT' }
      expect(await refusal(reading, put('there', old))).toMatchObject(failed)
      const now = { 'If-Unmodified-Since': new Date().toUTCString() }
      expect(await refusal(reading, put('newer', now))).toMatchObject(failed)
    })

    it('needs `share` for a visibility, wherever it stands', async () => {
      const token = await issue(service, user, { actions: ['create', 'replace', 'delete'] })
      const boundary = 'multipart/form-data; boundary=b'
      const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"`
      const form = `${part('visibility')}\r\n\r\npublic\r\n${part('file')}; filename="f"\r\n\r\nx\r\n--b--\r\n`
      const metadata = `filename ${base64('a')},visibility ${base64('public')}`
      const asked: readonly Sent[] = [
        { ...put('a'), path: `${REPO}/a?visibility=public` },
        { method: 'POST', path: `${REPO}/a`, headers: { 'Content-Type': boundary }, body: form },
        creation('a', { 'Upload-Metadata': metadata }),
        patch('a', { visibility: 'users' }),
      ]
      for (const sent of asked) {
        expect(await refusal(token, sent)).toMatchObject(insufficient('share'))
      }
      expect(await read(full, REPO)).toMatchObject({ files: [] })
    })

    it('renames only from and to names that it covers, with what a deletion and an upload need', async () => {
      for (const name of ['in-a', 'in-b', 'out'])
        await upload(service, { user, name, content: name })
      const all = { actions: ['create', 'replace', 'delete'] }
      const inside = await issue(service, user, { ...all, prefix: 'in-' })
      const rename = (name: string, to: string, overwrite = false) =>
        patch(name, { name: to, overwrite })
      for (const to of ['out', 'nowhere']) {
        const refused = await refusal(inside, rename('in-a', to, true))
        expect(refused).toMatchObject(insufficient('prefix'))
      }
      expect(await refusal(inside, rename('out', 'in-c'))).toMatchObject(insufficient('prefix'))
      const lacking = [
        ['delete', ['create', 'replace', 'share']],
        ['create', ['delete', 'replace']],
        ['replace', ['delete', 'create']],
      ] as const
      for (const [required, actions] of lacking) {
        const token = await issue(service, user, { actions })
        const refused = await refusal(token, rename('in-a', 'in-b', true))
        expect(refused).toMatchObject(insufficient(required))
      }
      await expectOk(inside, rename('in-a', 'in-b', true))
    })

    it('shows only the prefix: of files, changes, uploads in progress and the history', async () => {
      const { next_cursor: cursor } = await read(full, '/users/me/changes')
      for (const name of ['in-a', 'out-a', 'in-b', 'out-b']) {
        await upload(service, { user, name, content: name })
        await upload(service, { user, name, content: `${name} again` })
        await expectOk(full, creation(name, { length: 5 }))
      }
      await expectOk(full, patch('in-a', { name: 'out-c' }))
      await expectOk(full, patch('out-a', { name: 'in-c' }))
      const token = await issue(service, user, {
        actions: ['read', 'create', 'replace', 'history', 'share'],
        prefix: 'in-',
      })
      const namesIn = async (path: string, list: string) => {
        const { [list]: entries } = await read(token, path)
        return (entries as readonly { readonly name: string }[]).map(({ name }) => name)
      }
      for (const query of ['', '?prefix=i', '?prefix=in-', '?order=-updated_at']) {
        expect((await namesIn(`${REPO}${query}`, 'files')).toSorted()).toEqual(['in-b', 'in-c'])
      }
      expect((await namesIn('/users/me/uploads', 'uploads')).toSorted()).toEqual(['in-a', 'in-b'])
      expect((await namesIn('/users/me/history', 'versions')).toSorted()).toEqual(['in-a', 'in-b'])
      const { changes } = await read(token, `/users/me/changes?cursor=${String(cursor)}`)
      expect((changes as readonly object[]).map(summaryOf)).toEqual([
        'file.created in-a',
        'file.replaced in-a',
        'file.created in-b',
        'file.replaced in-b',
        'file.deleted in-a',
        'file.created in-c',
      ])
    })

    it('finds no past version and no upload outside its prefix', async () => {
      for (const content of ['old', 'new']) await upload(service, { user, name: 'out', content })
      const created = await send(service, { ...creation('out', { length: 5 }), token: full })
      const path = locationOf(created)
      const { versions } = await read(full, '/users/me/history')
      const [{ version } = { version: '' }] = versions as readonly { readonly version: string }[]
      const token = await issue(service, user, {
        actions: ['create', 'replace', 'history', 'read'],
        prefix: 'in-',
      })
      const past = `/users/me/history/${version}`
      const asked: readonly Sent[] = [
        { path: past },
        { path: past, method: 'DELETE' },
        { ...post(`${past}/restore`, { name: 'in-mine' }) },
        { path },
        { path, method: 'DELETE', headers: TUS },
        firstAppend(created, 'stole'),
      ]
      for (const sent of asked) {
        expect(await refusal(token, sent)).toMatchObject({ status: 404, code: 'not_found' })
      }
      const all = { method: 'DELETE', path: '/users/me/history' }
      expect(await refusal(token, all)).toMatchObject(insufficient('prefix'))
      expect((await send(service, { path: past, token: full })).status).toBe(200)
    })

    it('tells no other name by where a listing continues, and sorts only so many files', async () => {
      const { userId } = user
      const many = Array.from({ length: MAX_SCANNED_FILES + 2 }, (_, at) => String(at))
      const { ledger, users } = service
      const account = accountOf({ ledger, users, ...(await callerNamed(users, userId)) })
      await forEachConcurrent(many, 32, async (at) => {
        await account.put(`out-${at}`, 1)
      })
      await expectOk(full, put('in-1'))
      const token = await issue(service, user, { actions: ['read'], prefix: 'in-' })
      for (const order of ['size', '-size', 'updated_at', '-updated_at']) {
        const page = await read(token, `${REPO}?order=${order}`)
        expect(page).toMatchObject({
          files: [{ name: 'in-1', user_id: userId }],
          next_cursor: null,
        })
      }
      const outer = await issue(service, user, { actions: ['read'], prefix: 'out-' })
      expect(await refusal(outer, { path: `${REPO}?order=size` })).toMatchObject({
        status: 400,
        parameter: 'order',
      })
      expect(await read(outer, `${REPO}?limit=1`)).toMatchObject({ files: [{ name: 'out-0' }] })
    })

    it('searches and rolls up only the names of its prefix', async () => {
      for (const name of ['in-a-1', 'in-a-2', 'in-b', 'in', 'out-a-1'])
        await expectOk(full, put(name))
      const token = await issue(service, user, { actions: ['read'], prefix: 'in-a' })
      const found = async (query: string) => {
        const page = await read(token, `${REPO}?${query}`)
        const files = page['files'] as readonly { readonly name: string }[]
        return { ...page, files: files.map(({ name }) => name) }
      }
      expect(await found('contains=A-1')).toMatchObject({ files: ['in-a-1'], next_cursor: null })
      // From the prefix that was asked for, as with any token.
      const rolledUp = { files: [], prefixes: ['in-'], next_cursor: null }
      expect(await found('delimiter=-')).toMatchObject(rolledUp)
      expect(await found('delimiter=-&order=-name')).toMatchObject(rolledUp)
      expect(await found('delimiter=-&prefix=in-')).toMatchObject({ prefixes: ['in-a-'] })
      expect(await found('delimiter=-&prefix=in-a-')).toMatchObject({ files: ['in-a-1', 'in-a-2'] })
      const outside = { path: `${REPO}?delimiter=-&prefix=out-` }
      expect(await refusal(token, outside)).toMatchObject(insufficient('prefix'))
    })

    it.skipIf(isWithoutZip)('gets an archive of its prefix only', async () => {
      for (const name of ['in-a', 'in-b', 'out-a']) await expectOk(full, put(name))
      const token = await issue(service, user, { actions: ['read'], prefix: 'in-' })
      const archive = async (query: string) => {
        const response = await send(service, { path: `/users/me/archive${query}`, token })
        expect(response.status).toBe(200)
        const entries = await readZip(new Uint8Array(await response.arrayBuffer()))
        return entries.map(({ name }) => name)
      }
      for (const query of ['', '?prefix=i', '?prefix=in-', '?name=in-a&name=in-b'])
        expect(await archive(query)).toEqual(['in-a', 'in-b'])
      for (const query of ['?prefix=out', '?name=in-a&name=out-a', '?name=out-none']) {
        const path = `/users/me/archive${query}`
        expect(await refusal(token, { path })).toMatchObject(insufficient('prefix'))
      }
    })

    it('finds its finished upload, but not under a name outside its prefix', async () => {
      const token = await issue(service, user, { actions: ['create'], prefix: 'in-' })
      const created = await send(service, { ...creation('in-a', { length: 3 }), token })
      const path = locationOf(created)
      await expectOk(token, firstAppend(created, 'new'))
      expect(await read(token, path)).toMatchObject({ file: { name: 'in-a' } })
      // Of a file that was stored by a PUT there is no upload either, as 15 minutes after its end.
      await expectOk(token, put('in-b'))
      const { files } = await read(full, `${REPO}?prefix=in-b`)
      const [{ version } = { version: '' }] = files as readonly { readonly version: string }[]
      expect(await read(token, `/users/me/uploads/${version}`)).toMatchObject({ state: 'finished' })
      await expectOk(full, patch('in-a', { name: 'private', visibility: 'public' }))
      expect(await refusal(token, { path })).toMatchObject({ status: 404, code: 'not_found' })
    })

    it('follows only the changes of its prefix, past those of others', async () => {
      const token = await issue(service, user, { actions: ['read'], prefix: 'in-' })
      const { next_cursor: cursor } = await read(token, '/users/me/changes')
      const path = `/users/me/changes?cursor=${String(cursor)}`
      await expectOk(full, put('out-1'))
      const waiting = read(token, `${path}&wait=20`)
      const stream = await send(service, { path, token, headers: { Accept: 'text/event-stream' } })
      await expectOk(full, put('out-2'))
      await expectOk(full, put('in-1'))
      const page = await waiting
      expect((page['changes'] as readonly object[]).map(summaryOf)).toEqual(['file.created in-1'])
      let text = ''
      for await (const chunk of stream.body ?? []) {
        text += Buffer.from(chunk).toString()
        if (text.includes('event: change')) break
      }
      expect(text).toContain('"name":"in-1"')
      expect(text).not.toContain('out-')
      await expectOk(full, put('out-3'))
      const quiet = await read(token, `${path}&wait=1`)
      expect((quiet['changes'] as readonly object[]).map(summaryOf)).toEqual(['file.created in-1'])
      const after = await read(
        token,
        `/users/me/changes?cursor=${String(quiet['next_cursor'])}&wait=1`,
      )
      expect(after).toMatchObject({ changes: [], has_more: false })
    })

    it('restores with what an upload needs, and shares nothing that way', async () => {
      for (const name of ['in-a', 'in-b']) {
        const query = name === 'in-b' ? '?visibility=public' : ''
        await upload(service, { user, name, content: 'old', query })
        await expectOk(full, { method: 'DELETE', path: `${REPO}/${name}` })
      }
      const { versions } = await read(full, '/users/me/history')
      const pastOf = (wanted: string): string => {
        const found = versions as readonly { readonly name: string; readonly version: string }[]
        return `/users/me/history/${found.find(({ name }) => name === wanted)?.version ?? ''}`
      }
      const restore = (name: string, terms = {}): Sent => post(`${pastOf(name)}/restore`, terms)
      const allowed = (...actions: readonly string[]) =>
        issue(service, user, { actions, prefix: 'in-' })
      expect(await refusal(await allowed('history'), restore('in-a'))).toMatchObject(
        insufficient('create'),
      )
      expect(await refusal(await allowed('history', 'replace'), restore('in-a'))).toMatchObject({
        status: 412,
      })
      const creating = await allowed('history', 'create')
      expect(await refusal(creating, restore('in-b'))).toMatchObject(insufficient('share'))
      const outside = restore('in-a', { name: 'out' })
      expect(await refusal(creating, outside)).toMatchObject(insufficient('prefix'))
      await expectOk(creating, restore('in-a'))
      const purge = { method: 'DELETE', path: pastOf('in-b') }
      await expectOk(creating, purge)
      await expectOk(creating, purge)
      expect(await refusal(creating, { path: purge.path })).toMatchObject({ status: 404 })
    })

    it('finishes no upload of another token that does what it may not', async () => {
      await upload(service, { user, name: 'there', content: 'old' })
      const finish = async (token: string, more = {}) => {
        const begun = { ...creation('there', { length: 3, ...more }), token: full }
        return await refusal(token, firstAppend(await send(service, begun), 'new'))
      }
      const creating = await issue(service, user, { actions: ['create'] })
      const replacing = await issue(service, user, { actions: ['replace'] })
      expect(await finish(creating)).toMatchObject(insufficient('replace'))
      expect(await finish(replacing)).toMatchObject(insufficient('create'))
      const listed = async (token: string) => (await read(token, '/users/me/uploads'))['uploads']
      expect(await listed(full)).toHaveLength(2)
      expect(await listed(creating)).toEqual([])
      expect(await finish(replacing, { 'If-Match': '*' })).toBeUndefined()
      const writing = await issue(service, user, { actions: ['create', 'replace'] })
      const shared = `filename ${base64('there')},visibility ${base64('public')}`
      expect(await finish(writing, { 'Upload-Metadata': shared })).toMatchObject(
        insufficient('share'),
      )
      expect(await finish(writing)).toBeUndefined()
    })

    it('finishes no upload that evicts what it may not', async () => {
      const evicting = async (token: string) => {
        const path = '/users/me/uploads?evict=in-b-'
        const begun = { ...creation('in-a', { length: 3 }), path, token: full }
        return await refusal(token, firstAppend(await send(service, begun), 'new'))
      }
      const allowed = (scope: object, ...more: readonly string[]) =>
        issue(service, user, { actions: ['create', 'replace', ...more], ...scope })
      expect(await evicting(await allowed({}))).toMatchObject(insufficient('delete'))
      expect(await evicting(await allowed({ prefix: 'in-a' }, 'delete'))).toMatchObject(
        insufficient('prefix'),
      )
      const rolling = { when_full: 'evict_oldest' }
      expect(await evicting(await allowed({ ...rolling, prefix: 'in-a' }))).toMatchObject(
        insufficient('delete'),
      )
      expect(await evicting(await allowed({ ...rolling, prefix: 'in-' }))).toBeUndefined()
      expect(await evicting(await allowed({ prefix: 'in-' }, 'delete'))).toMatchObject(
        insufficient('history'),
      )
      const purging = await allowed({ prefix: 'in-' }, 'delete', 'history')
      expect(await evicting(purging)).toBeUndefined()
    })
  })
}

function asked(path: string, body: object): Sent {
  return { method: 'POST', path, headers: JSON_TYPE, body: JSON.stringify(body) }
}

function deviceOf({ userId }: TestUser, deviceId: string) {
  const terms = { bytes: 0, model: undefined, startsAt: undefined, endsAt: undefined }
  return { userId, source: 'device', reference: deviceId, ...terms }
}

function summaryOf(change: object): string {
  const { type, name } = change as { readonly type: string; readonly name?: string }
  return name === undefined ? type : `${type} ${name}`
}
