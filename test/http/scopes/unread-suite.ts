import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Action, ACTIONS } from '../../../src/core/auth/scope.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { MIB, type OpenService, secretOf, upload } from '../fixture.ts'
import { grantOf } from '../../core/ledger/fixture.ts'
import { base64 } from '../resumable/tus-requests.ts'
import { creation, firstAppend, issue, problemOf, send, type Sent } from './scoped-requests.ts'

const REPO = '/users/me/repo'
const CONTENT = `the secret, of a size that nothing else has: ${'x'.repeat(43_210)}`
const SECRETS = {
  digest: createHash('sha256').update(CONTENT).digest('hex'),
  base64: createHash('sha256').update(CONTENT).digest('base64'),
  size: String(CONTENT.length),
  metadata: 'the-secret-camera',
  type: 'text/x-secret',
}

/** A token learns nothing of what it may not read, by any answer. */
export function unreadSuite(open: OpenService): void {
  describe('a token that may not read', () => {
    let service: TestService
    let user: TestUser
    let full: string
    let version: string
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000 })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
      full = secretOf(user)
      version = await store('secret')
    })

    const insufficient = (required: string) => ({
      status: 403,
      code: 'scope_insufficient',
      required,
    })
    const json = (method: string, path: string, body: object): Sent => ({
      method,
      path,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const patch = (name: string, body: object, headers = {}): Sent => {
      const sent = json('PATCH', `${REPO}/${name}`, body)
      return { ...sent, headers: { ...sent.headers, ...headers } }
    }
    const batch = (...operations: readonly object[]): Sent =>
      json('POST', '/users/me/batch', { operations })
    const put = (name: string, query = '', headers = {}): Sent => ({
      method: 'PUT',
      path: `${REPO}/${name}${query}`,
      headers,
      body: 'new',
    })
    const allowed = (...actions: readonly Action[]) => issue(service, user, { actions })
    const unread = ACTIONS.filter((action) => action !== 'read')
    const refusal = async (token: string, sent: Sent) =>
      await problemOf(await send(service, { ...sent, token }))
    const answer = async (token: string, sent: Sent): Promise<Record<string, unknown>> => {
      const response = await send(service, { ...sent, token })
      const text = await response.text()
      expect({ status: response.status, text }).toMatchObject({ status: 200 })
      const told = `${JSON.stringify([...response.headers])}${text}`
      for (const secret of Object.values(SECRETS)) expect(told).not.toContain(secret)
      return JSON.parse(text) as Record<string, unknown>
    }

    async function store(name: string, query = ''): Promise<string> {
      const headers = {
        'Content-Type': SECRETS.type,
        'File-Metadata': JSON.stringify({ camera: SECRETS.metadata }),
      }
      const sent = { method: 'PUT', path: `${REPO}/${name}${query}`, headers, body: CONTENT }
      const response = await send(service, { ...sent, token: full })
      return ((await response.json()) as { readonly version: string }).version
    }
    const shown = async (name: string) =>
      (await fetch(`${service.url}/users/${user.userId}/repo/${name}`)).status

    it.each([
      ['an update', () => patch('secret', { keep: true })],
      ['a new visibility', () => patch('secret', { visibility: 'private' })],
      ['a rename', () => patch('secret', { name: 'renamed' })],
      ['a batch', () => batch({ op: 'update', name: 'secret', metadata: { more: 'x' } })],
      [
        'a batch that renames',
        () => batch({ op: 'rename', name: 'secret', new_name: 'renamed', keep: true }),
      ],
    ] as const)('is told the name alone by %s', async (_, sent) => {
      const told = await answer(await allowed(...unread), sent())
      const [{ file } = { file: told }] = (told['results'] ?? []) as { file: object }[]
      const name = JSON.stringify(sent()).includes('renamed') ? 'renamed' : 'secret'
      expect(file).toEqual({ name, user_id: user.userId })
      expect(told).not.toHaveProperty('capacity')
    })

    it('is told of an upload what it has sent, and no figures of the account', async () => {
      await store('secret', '?visibility=users')
      const token = await allowed(...unread)
      const headers = { 'Content-Type': 'text/plain' }
      const told = await answer(token, put('secret', '', headers))
      expect(told).toEqual({
        name: 'secret',
        user_id: user.userId,
        size: 3,
        sha256: createHash('sha256').update('new').digest('hex'),
        etag: expect.any(String) as string,
        version: expect.any(String) as string,
        updated_at: expect.any(String) as string,
        expires_at: null,
        media_type: 'text/plain',
        replaced: true,
      })
      const files = await send(service, { path: REPO, token: full })
      const kept = { visibility: 'users', metadata: { camera: SECRETS.metadata } }
      expect(await files.json()).toMatchObject({ files: [kept] })
    })

    it('is refused without figures of the account, and otherwise with them', async () => {
      const large = { ...put('large'), body: 'x'.repeat(2 * MIB) }
      const refused = await refusal(await allowed('create'), large)
      expect(refused).toMatchObject({ code: 'capacity_exceeded', requested: 2 * MIB })
      for (const figure of ['capacity', 'used', 'reserved', 'available', 'evictable'])
        expect(refused).not.toHaveProperty(figure)
      const reading = await issue(service, user, { actions: ['read', 'create'], prefix: 'l' })
      expect(await refusal(reading, large)).toMatchObject({ used: CONTENT.length })
      expect(await answer(await allowed(...unread), put('n'))).not.toHaveProperty('capacity')
      const told = await send(service, { ...put('large'), token: reading })
      expect(await told.json()).toMatchObject({ capacity: { used: CONTENT.length + 6 } })
    })

    it('is refused with the figures of the share of its own device, and of no other', async () => {
      const { userId } = user
      const own = { ...grantOf(userId, 'camera'), source: 'device', bytes: 0, share: 1000 }
      await service.users.putGrant(own)
      const token = await issue(service, user, { actions: ['create'], device_id: 'camera' })
      await answer(token, put('small'))
      const large = { ...put('large'), body: 'x'.repeat(1000) }
      expect(await refusal(token, large)).toMatchObject({
        status: 403,
        code: 'capacity_exceeded',
        limit: 'device',
        device_id: 'camera',
        capacity: 1000,
        used: 3,
        reserved: 0,
        requested: 1000,
        available: 997,
      })
      await service.users.putGrant({ ...own, share: 'all' })
      const beyond = await refusal(token, { ...put('large'), body: 'x'.repeat(2 * MIB) })
      expect(beyond).toMatchObject({ code: 'capacity_exceeded', limit: 'account' })
      expect(beyond).not.toHaveProperty('used')
    })

    it('is told nothing of an upload that others have finished', async () => {
      const token = await allowed('create', 'replace')
      const path = `/users/me/uploads/${version}`
      const response = await send(service, { path, token })
      const told = (await response.json()) as { readonly file: unknown }
      expect(told.file).toEqual({ name: 'secret', user_id: user.userId })
    })

    it('shares no file: neither by a change, nor by an upload or a restore', async () => {
      const sharing = await allowed(...unread)
      const tus = (visibility: string): Sent => {
        const metadata = `filename ${base64('new')},visibility ${base64(visibility)}`
        return creation('new', { 'Upload-Metadata': metadata })
      }
      for (const visibility of ['users', 'public']) {
        const asked = [
          patch('secret', { visibility }),
          patch('secret', { name: 'renamed', visibility }),
          batch({ op: 'update', name: 'secret', visibility }),
          batch({ op: 'rename', name: 'secret', new_name: 'renamed', visibility }),
          put('secret', `?visibility=${visibility}`),
          put('new', `?visibility=${visibility}`),
          tus(visibility),
        ]
        for (const sent of asked)
          expect(await refusal(sharing, sent)).toMatchObject(insufficient('read'))
      }
      expect(await shown('secret')).toBe(404)
      const both = await allowed('share', 'read')
      expect(await refusal(both, patch('secret', { visibility: 'public' }))).toBeUndefined()
      expect(await shown('secret')).toBe(200)
      // To end that is no reading.
      const narrowing = await allowed('share')
      expect(await refusal(narrowing, patch('secret', { visibility: 'private' }))).toBeUndefined()
      expect(await shown('secret')).toBe(404)
    })

    it('finishes no upload of another token that would share the file', async () => {
      const metadata = `filename ${base64('f')},visibility ${base64('public')}`
      const begun = creation('f', { length: 3, 'Upload-Metadata': metadata })
      const append = firstAppend(await send(service, { ...begun, token: full }), 'new')
      const sharing = await allowed('create', 'replace', 'share')
      expect(await refusal(sharing, append)).toMatchObject(insufficient('read'))
      expect(await refusal(full, append)).toBeUndefined()
    })

    it('restores nothing for others to read, whichever of the two files they could read', async () => {
      await store('past', '?visibility=public')
      await send(service, { method: 'DELETE', path: `${REPO}/past`, token: full })
      await send(service, { ...put('secret', '?visibility=public'), token: full })
      const listed = await send(service, { path: '/users/me/history', token: full })
      const { versions } = (await listed.json()) as {
        readonly versions: readonly { readonly name: string; readonly version: string }[]
      }
      const token = await allowed(...unread)
      for (const { version: past } of versions) {
        const restore = json('POST', `/users/me/history/${past}/restore`, { overwrite: true })
        expect(await refusal(token, restore)).toMatchObject(insufficient('read'))
        const operation = { op: 'restore', version: past, overwrite: true }
        expect(await refusal(token, batch(operation))).toMatchObject({
          ...insufficient('read'),
          operation: 0,
        })
      }
      expect(versions.map(({ name }) => name).toSorted()).toEqual(['past', 'secret'])
    })

    it('compares no dates, which would tell when a file was written', async () => {
      const since = { 'If-Unmodified-Since': new Date(Date.now() + 60_000).toUTCString() }
      const token = await allowed(...unread)
      const asked: readonly Sent[] = [
        put('secret', '', since),
        put('none', '', since),
        patch('secret', { keep: true }, since),
        { method: 'DELETE', path: `${REPO}/secret`, headers: since },
        creation('secret', since),
      ]
      for (const sent of asked)
        expect(await refusal(token, sent)).toMatchObject(insufficient('read'))
      const etag = { ...since, 'If-Match': `"${version}"` }
      expect(await refusal(token, patch('secret', { keep: true }, etag))).toBeUndefined()
    })
  })

  describe('a token for a part of its user’s account', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000 })
    })
    afterAll(() => service.stop())

    it('is told the totals of the capacity, and of its parts that of its device', async () => {
      const user = await service.createUser(MIB)
      const terms = { bytes: 1, model: 'm', startsAt: undefined, endsAt: undefined }
      for (const [source, reference] of [
        ['device', 'one'],
        ['device', 'two'],
        ['order', 'one'],
      ] as const) {
        await service.users.putGrant({ userId: user.userId, source, reference, ...terms })
      }
      for (const content of ['a', 'ab']) await upload(service, { user, name: 'f', content })
      const told = async (scope: object) => {
        const token = await issue(service, user, scope)
        const response = await send(service, { path: '/users/me/capacity', token })
        const text = await response.text()
        const { grants, ...rest } = JSON.parse(text) as {
          readonly grants: readonly { readonly reference: string; readonly source: string }[]
        }
        expect(rest).toMatchObject({ used: 2, history: { count: 1 } })
        expect(response.headers.get('cache-control')).toBe('no-store')
        return { grants: grants.map((grant) => `${grant.source} ${grant.reference}`), text }
      }
      const all = await told({ actions: ['read'] })
      expect(all.grants).toEqual(expect.arrayContaining(['base base', 'device two', 'order one']))
      expect(all.text).toMatch(/"oldest_at":"2/)
      for (const [scope, grants] of [
        [{ device_id: 'one' }, ['device one']],
        [{ device_id: 'one', prefix: 'f' }, ['device one']],
        [{ prefix: 'f' }, []],
      ] as const) {
        const part = await told(scope)
        expect(part.grants).toEqual(grants)
        expect(part.text).not.toMatch(/two|order|"oldest_at":"/)
      }
    })

    it('counts as none for the files of other users', async () => {
      const [user, other] = [await service.createUser(MIB), await service.createUser(MIB)]
      const device = { userId: user.userId, source: 'device', reference: 'camera' }
      const terms = { bytes: 0, model: undefined, startsAt: undefined, endsAt: undefined }
      await service.users.putGrant({ ...device, ...terms })
      for (const visibility of ['users', 'public']) {
        const query = `?visibility=${visibility}`
        await upload(service, { user: other, name: `in-${visibility}`, content: 'x', query })
      }
      const base = `/users/${other.userId}/repo`
      const scopes = [
        { actions: ['create'] },
        { prefix: 'in-' },
        { device_id: 'camera' },
        { actions: ['read'], prefix: 'in-', device_id: 'camera' },
      ]
      for (const scope of scopes) {
        const token = await issue(service, user, scope)
        const status = async (method: string, name: string) =>
          (await send(service, { method, path: `${base}/${name}`, token })).status
        for (const method of ['GET', 'HEAD']) {
          expect(await status(method, 'in-users')).toBe(404)
          expect(await status(method, 'in-public')).toBe(200)
        }
        for (const query of ['', '?prefix=in-', '?contains=users', '?delimiter=-']) {
          const listed = await send(service, { path: `${base}${query}`, token })
          expect(await listed.text()).not.toContain('in-users')
        }
      }
      for (const scope of [{}, { actions: ['read'] }]) {
        const token = await issue(service, user, scope)
        expect((await send(service, { path: `${base}/in-users`, token })).status).toBe(200)
      }
    })
  })

  describe('a refused change', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open({ historyLifetimeMs: 60_000 })
      user = await service.createUser(MIB)
    })
    afterAll(() => service.stop())

    it.each([
      [{ name: 'new' }, 'delete'],
      [{ name: '' }, 'delete'],
      [{ keep: true }, 'replace'],
      [{ expires_at: null }, 'replace'],
      [{ media_type: 'a/b' }, 'replace'],
      [{ metadata: {} }, 'replace'],
      [{ visibility: 'private' }, 'share'],
      [{ visibility: 'public', keep: false }, 'replace'],
      // What is asked is not known.
      [{}, 'share'],
      [{ visibility: 'all' }, 'share'],
      [[], 'share'],
    ])('names the action that %j needs: %s', async (body, required) => {
      const headers = { 'Content-Type': 'application/json' }
      const refused = { status: 403, code: 'scope_insufficient', required }
      const token = await issue(service, user, { actions: ['read', 'create'] })
      for (const name of ['any', 'a%5Cb']) {
        const sent = { method: 'PATCH', path: `${REPO}/${name}`, headers }
        const response = await send(service, { ...sent, body: JSON.stringify(body), token })
        expect(await problemOf(response)).toMatchObject(refused)
      }
      if (Array.isArray(body) || !['delete', 'replace'].includes(required)) return
      const { name: newName, ...terms } = body as { readonly name?: string }
      const operation =
        newName === undefined
          ? { op: 'update', name: 'any', ...terms }
          : { op: 'rename', name: 'any', new_name: newName, ...terms }
      const operations = [operation]
      for (const actions of [['read', 'create'], ['history']]) {
        const using = await issue(service, user, { actions })
        const batch = { method: 'POST', path: '/users/me/batch', headers, token: using }
        const response = await send(service, { ...batch, body: JSON.stringify({ operations }) })
        expect(await problemOf(response)).toMatchObject({ ...refused, operation: 0 })
      }
    })
  })
}
