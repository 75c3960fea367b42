import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLedgerSpace } from '../../../src/core/uploads/ledger-space.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, call } from '../admin/fixture.ts'
import { MIB, secretOf } from '../fixture.ts'
import { createLink, JSON_TYPE } from '../links/link-requests.ts'
import { problemOf, send, type Sent } from '../scopes/scoped-requests.ts'

const REPO = '/users/me/repo'
const REFUSED = { status: 503, code: 'insufficient_storage' }
const ample = 1000 * MIB

/** A disk below the floor of what grows, but with room for what ends and frees something. */
describe('on a disk that is nearly full', () => {
  let service: TestService
  let user: TestUser
  let token: string
  let disk: number
  /** What was made while there was room. */
  let made: { readonly version: string; readonly link: string; readonly token: string }

  beforeAll(async () => {
    const ledgerSpace = createLedgerSpace({
      minBytes: 64 * MIB,
      measure: async () => ({ disk, pages: 0, log: 0 }),
      reserve: {
        size: 8 * MIB,
        measure: async () => 8 * MIB,
        release: async () => false,
        restore: async () => true,
      },
      maxAgeMs: -1,
    })
    service = await openEmbedded({
      ...ADMIN_OPTIONS,
      historyLifetimeMs: 3_600_000,
      ledgerSpace,
    })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    disk = ample
    user = await service.createUser(MIB)
    token = secretOf(user)
    for (const name of ['a', 'b', 'past']) {
      await accepted({ method: 'PUT', path: `${REPO}/${name}`, body: name })
    }
    await accepted({ method: 'DELETE', path: `${REPO}/past` })
    const history = await accepted({ path: '/users/me/history' })
    const { versions } = (await history.json()) as { versions: { version: string }[] }
    const link = await createLink(service, { token, kind: 'download', name: 'a' })
    const other = await accepted(post('/users/me/access-tokens', { label: 'other' }))
    const { token_id: tokenId } = (await other.json()) as { token_id: string }
    made = { version: versions[0]?.version ?? '', link: link.link_id, token: tokenId }
  })

  function post(path: string, body: object, method = 'POST'): Sent {
    return { method, path, headers: JSON_TYPE, body: JSON.stringify(body) }
  }

  async function accepted(sent: Sent): Promise<Response> {
    const response = await send(service, { ...sent, token })
    expect({ ...sent, problem: await problemOf(response.clone()) }).toEqual(sent)
    return response
  }

  const batch = (...operations: readonly object[]): Sent => post('/users/me/batch', { operations })
  const own = (below: string): string => `/${user.userId}${below}`

  const growing: Readonly<Record<string, () => Sent>> = {
    'a PUT': () => ({ method: 'PUT', path: `${REPO}/new`, body: 'x' }),
    'a PUT of an empty file': () => ({ method: 'PUT', path: `${REPO}/new`, body: '' }),
    'an overwrite': () => ({ method: 'PUT', path: `${REPO}/a`, body: 'x' }),
    'a resumable upload': () => ({
      method: 'POST',
      path: '/users/me/uploads',
      headers: {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '1',
        'Upload-Metadata': 'filename bmV3',
      },
    }),
    metadata: () => post(`${REPO}/a`, { metadata: { a: 'b' } }, 'PATCH'),
    'a visibility': () => post(`${REPO}/a`, { visibility: 'users' }, 'PATCH'),
    'a rename': () => post(`${REPO}/a`, { name: 'longer' }, 'PATCH'),
    'a batch of updates': () => batch({ op: 'update', name: 'a', visibility: 'public' }),
    'a batch that deletes and renames': () =>
      batch({ op: 'delete', name: 'b' }, { op: 'rename', name: 'a', new_name: 'b' }),
    'a batch that restores': () => batch({ op: 'restore', version: made.version }),
    'a restore': () => post(`/users/me/history/${made.version}/restore`, {}),
    'a link': () => post('/users/me/links', { kind: 'download', name: 'a' }),
    'a token': () => post('/users/me/access-tokens', { label: 'new' }),
  }

  it.each(Object.entries(growing))('refuses %s, and changes nothing', async (_name, sent) => {
    const before = await state()
    disk = 48 * MIB
    const refused = await send(service, { ...sent(), token })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await problemOf(refused)).toMatchObject(REFUSED)
    expect(await state()).toEqual(before)
    disk = ample
    await accepted(sent())
  })

  it.each([
    ['a user', { method: 'PUT', path: '/somebody' }],
    ['a token', { method: 'POST', path: 'own', below: '/access-tokens' }],
    ['a device', { method: 'PUT', path: 'own', below: '/devices/phone' }],
    ['a grant', { method: 'PUT', path: 'own', below: '/grants/shop/1', body: { bytes: 1 } }],
  ] as const)('refuses an operator %s', async (_name, asked) => {
    const { method, path } = asked
    const body = 'body' in asked ? asked.body : undefined
    const what = { method, body, path: 'below' in asked ? own(asked.below) : path }
    disk = 48 * MIB
    expect(await call(service, what)).toMatchObject({ status: 503 })
    disk = ample
    expect((await call(service, what)).status).toBeLessThan(300)
  })

  it.each([
    ['a read', () => ({ path: `${REPO}/a` })],
    ['a listing', () => ({ path: REPO })],
    ['a deletion', () => ({ method: 'DELETE', path: `${REPO}/a` })],
    ['a batch of deletions', () => batch({ op: 'delete', name: 'a' }, { op: 'delete', name: 'b' })],
    [
      'the purge of a version',
      () => ({ method: 'DELETE', path: `/users/me/history/${made.version}` }),
    ],
    ['the purge of the history', () => ({ method: 'DELETE', path: '/users/me/history' })],
    ['the end of a link', () => ({ method: 'DELETE', path: `/users/me/links/${made.link}` })],
    [
      'the end of a token',
      () => ({ method: 'DELETE', path: `/users/me/access-tokens/${made.token}` }),
    ],
  ] as const)('accepts %s', async (_name, sent) => {
    disk = 0
    expect((await accepted(sent())).status).toBeLessThan(300)
  })

  it('F08 lets operators look, suspend, activate, revoke and delete', async () => {
    await call(service, { method: 'PUT', path: own('/devices/phone') })
    disk = 0
    const calls = [
      { method: 'GET', path: own('/files') },
      { method: 'DELETE', path: own('/files/a') },
      { method: 'PATCH', path: own(''), body: { status: 'suspended' } },
      { method: 'PATCH', path: own(''), body: { status: 'active' } },
      { method: 'DELETE', path: own(`/access-tokens/${made.token}`) },
      { method: 'DELETE', path: own('/devices/phone') },
      { method: 'DELETE', path: own('') },
    ]
    for (const what of calls) {
      const { status } = await call(service, what)
      expect({ ...what, isDone: status < 300 }).toEqual({ ...what, isDone: true })
    }
  })

  it('sweeps, and accepts all again once there is room', async () => {
    disk = 0
    await accepted({ method: 'DELETE', path: `${REPO}/a` })
    await accepted({ method: 'DELETE', path: '/users/me/history' })
    expect(await service.sweep()).toMatchObject({ end: 'complete', failedRemovals: 0 })
    expect(await service.storedKeys(user)).toHaveLength(1)
    disk = ample
    for (const sent of Object.values(growing).slice(0, 3)) await accepted(sent())
  })

  /** All that its owner sees of the account. */
  async function state(): Promise<unknown> {
    const paths = [REPO, '/users/me/history', '/users/me/links', '/users/me/access-tokens']
    const answers = await Promise.all(
      [...paths, '/users/me/capacity', '/users/me/uploads'].map((path) => accepted({ path })),
    )
    return await Promise.all(answers.map(async (answer) => await answer.json()))
  }
})
