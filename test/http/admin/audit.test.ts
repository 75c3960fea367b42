import { fastify } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempt-limiter.ts'
import { createAudit } from '../../../src/http/admin/audit.ts'
import { outage } from '../../support/faults/faults.ts'
import { jsonOf, upload } from '../fixture.ts'
import { createLink } from '../links/link-requests.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { NO_BUILD } from '../../support/http/page.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  ADMIN_OPTIONS,
  ADMIN_TOKEN,
  allPages,
  type Call,
  call,
  expiredCookie,
  newCookie,
  newUser,
  send,
  sessionCookie,
} from './fixture.ts'
import { beginUpload } from '../../support/http/tus-client.ts'

const ADDRESSES = {
  'signing in': '203.0.113.1',
  'the cookie': '203.0.113.2',
  'the header': '203.0.113.3',
} as const

const COOKIE = { cookie: sessionCookie() }

describe('the audit log of the admin API', () => {
  const lines: Line[] = []
  const all: Line[] = []
  let service: TestService
  let path: string
  beforeAll(async () => {
    const write = (line: string): void => {
      lines.push(JSON.parse(line) as Line)
      all.push(...lines.slice(-1))
    }
    const logger = pino({ level: 'warn' }, { write })
    service = await openEmbedded({
      ...ADMIN_OPTIONS,
      operatorPage: NO_BUILD,
      failedAttemptPolicy: FAILED_ATTEMPT_POLICY,
      trustedProxies: ['127.0.0.1'],
      logger,
    })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    path = await newUser(service)
    lines.length = 0
  })

  const audits = () => lines.filter(({ audit }) => audit === true)
  const make = (what: Call) => call(service, { ...what, path: `${path}${what.path ?? ''}` })

  it('has a line for each archive of a user', async () => {
    await make({ method: 'GET', path: '/archive?prefix=secret' })
    await make({ method: 'HEAD', path: '/archive' })
    await make({ method: 'GET', path: '/archive?name=none' })
    const line = { action: 'files.archive', user_id: path.slice(1), files: 0 }
    expect(audits()).toMatchObject([line, line])
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  it('has a line for each listing and deletion of files, without their names, and each overview', async () => {
    const user = await service.createUser(10)
    const { version } = jsonOf(await upload(service, { user, name: 'diary.txt', content: 'x' }))
    const files = { path: `/${user.userId}/files` }
    lines.length = 0
    await call(service, { method: 'GET', path: `${files.path}?prefix=dia` })
    await call(service, { method: 'DELETE', path: `${files.path}/none` })
    await call(service, { method: 'DELETE', path: `${files.path}/diary.txt` })
    await call(service, { method: 'GET', at: '/admin/overview' })
    const { userId: user_id } = user
    expect(audits()).toMatchObject([
      { action: 'files.list', user_id, files: 1 },
      { action: 'file.delete', user_id, version },
      { action: 'overview.read' },
    ])
    expect(JSON.stringify(lines)).not.toContain('dia')
  })

  it('has a line for a user who is made, and none for one who was there', async () => {
    await make({ method: 'PUT' })
    expect(audits()).toEqual([])
    const { user_id } = jsonOf(await call(service, { method: 'POST' }))
    await call(service, { method: 'PUT', path: `/${String(user_id)}-2` })
    expect(audits()).toMatchObject([
      { action: 'user.create', user_id },
      { action: 'user.create', user_id: `${String(user_id)}-2` },
    ])
  })

  it.each<[string, Call, Record<string, unknown>]>([
    [
      'user.set_status',
      { method: 'PATCH', body: { status: 'suspended' } },
      { status: 'suspended' },
    ],
    ['user.delete', { method: 'DELETE' }, {}],
    [
      'access_token.issue',
      { method: 'POST', path: '/access-tokens', body: { label: 'phone' } },
      { label: 'phone', token_id: expect.any(String) as string },
    ],
    [
      'device.put',
      {
        method: 'PUT',
        path: '/devices/cam',
        body: { model: 'camera', label: 'Front door', share: 'own' },
      },
      {
        device_id: 'cam',
        model: 'camera',
        bytes: 200,
        label: 'Front door',
        share: 'own',
        created: true,
      },
    ],
    ['device.remove', { method: 'DELETE', path: '/devices/cam' }, { device_id: 'cam' }],
    [
      'grant.put',
      {
        method: 'PUT',
        path: '/grants/gift/1',
        body: { bytes: 5, ends_at: '2099-01-01T00:00:00Z' },
      },
      { source: 'gift', reference: '1', bytes: 5, ends_at: '2099-01-01T00:00:00.000Z' },
    ],
    [
      'grant.revoke',
      { method: 'DELETE', path: '/grants/gift/1' },
      { source: 'gift', reference: '1' },
    ],
  ])('has a line for %s, at any level of the log', async (action, what, terms) => {
    const reply = await make(what)
    expect(reply.status).toBeLessThan(300)
    expect(audits()).toMatchObject([
      {
        msg: 'audit event',
        action,
        user_id: path.slice(1),
        ...terms,
        request_id: reply.headers['x-request-id'],
        address: '127.0.0.1',
      },
    ])
  })

  it('has a line for an upload that is cancelled, without the name of its file', async () => {
    const cookie = await newCookie(service, path)
    const upload_id = await beginUpload(service, { cookie, name: 'diary.txt', length: 5 })
    lines.length = 0
    await make({ method: 'DELETE', path: `/uploads/${upload_id}` })
    expect(audits()).toMatchObject([{ action: 'upload.cancel', user_id: path.slice(1), upload_id }])
    expect(JSON.stringify(lines)).not.toContain('diary')
  })

  it('has a line for a link that is revoked, without what it is for', async () => {
    const token = (await newCookie(service, path)).slice('access_token='.length)
    const link = { token, kind: 'drop', prefix: 'diary-', label: 'diary' }
    const { link_id } = await createLink(service, link)
    lines.length = 0
    await make({ method: 'DELETE', path: `/links/${link_id}` })
    expect(audits()).toMatchObject([{ action: 'link.revoke', user_id: path.slice(1), link_id }])
    expect(JSON.stringify(lines)).not.toContain('diary')
  })

  it('has a line for a token that is revoked, and never the secret of one', async () => {
    const issued = jsonOf(await make({ method: 'POST', path: '/access-tokens' }))
    const { token_id, access_token } = issued
    await make({ method: 'DELETE', path: `/access-tokens/${String(token_id)}` })
    expect(audits()).toMatchObject([{}, { action: 'access_token.revoke', token_id }])
    expect(JSON.stringify(lines)).not.toContain(String(access_token))
    expect(JSON.stringify(lines)).not.toContain(ADMIN_TOKEN)
  })

  it('has a line for each who signs in or out by the page, without the token', async () => {
    const session = { at: '/session', headers: COOKIE }
    const opened = await send(service, {
      method: 'POST',
      at: '/session',
      body: { admin_token: ADMIN_TOKEN },
    })
    const closed = await send(service, { ...session, method: 'DELETE' })
    expect(audits()).toMatchObject(
      Object.entries({ 'session.open': opened, 'session.close': closed }).map(
        ([action, reply]) => ({
          msg: 'audit event',
          action,
          request_id: reply.headers['x-request-id'],
          address: '127.0.0.1',
        }),
      ),
    )
    expect(JSON.stringify(lines)).not.toContain(ADMIN_TOKEN)
  })

  it('has none for who signs out without having been signed in, which anyone may', async () => {
    for (const cookie of ['', 'admin_session=wrong', 'admin_session=', expiredCookie()]) {
      const headers = { cookie }
      const reply = await send(service, { method: 'DELETE', at: '/session', headers })
      expect(reply.status).toBe(204)
    }
    expect(audits()).toEqual([])
  })

  it.each<[keyof typeof ADDRESSES, (headers: Record<string, string>) => Call]>([
    [
      'signing in',
      (headers) => ({ method: 'POST', at: '/session', body: { admin_token: 'wrong' }, headers }),
    ],
    [
      'the cookie',
      (headers) => ({ method: 'GET', headers: { ...headers, cookie: 'admin_session=wrong' } }),
    ],
    [
      'the header',
      (headers) => ({ method: 'GET', headers: { ...headers, authorization: 'Bearer wrong' } }),
    ],
  ])('has a line for each wrong token until its address is blocked: %s', async (how, show) => {
    const address = ADDRESSES[how]
    const attempt = () => send(service, show({ 'x-forwarded-for': address }))
    for (let tries = 0; tries < FAILED_ATTEMPT_POLICY.maxFailedAttempts + 5; tries += 1)
      await attempt()
    expect((await attempt()).status).toBe(429)
    expect(audits()).toHaveLength(FAILED_ATTEMPT_POLICY.maxFailedAttempts)
    expect(audits()[0]).toMatchObject({ action: 'admin_token.refuse', address })
    expect(JSON.stringify(lines)).not.toContain('wrong')
  })

  it('has none for what only reads, and none for what is refused', async () => {
    await call(service, { method: 'GET' })
    await make({ method: 'GET' })
    await make({ method: 'PUT', path: '/devices/cam', body: { bytes: -1 } })
    await make({ method: 'PATCH', body: { status: 'gone' } })
    await call(service, { method: 'DELETE', path: '/unknown' })
    await send(service, { method: 'DELETE', path })
    expect(audits()).toEqual([])
  })

  it('agrees with the trail, but for what strangers can cause and what the page polls', async () => {
    const listed = await allPages(service, { at: '/admin/audit', member: 'actions', limit: 1000 })
    const logged = all.filter(
      ({ audit, action }) =>
        audit === true && action !== 'admin_token.refuse' && action !== 'overview.read',
    )
    expect(listed.length).toBeGreaterThan(0)
    expect(byRequest(listed.map(entryOf))).toEqual(byRequest(logged.map(eventOf)))
  })
})

it('an action that cannot be recorded is logged with the cause, and its answer stands', async () => {
  const lines: Line[] = []
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line)
  const app = fastify({ loggerInstance: pino({ level: 'warn' }, { write }) })
  const audit = createAudit({ record: () => Promise.reject(outage()) })
  app.get('/', async (request) => {
    await audit(request, { action: 'session.open' })
    return 'done'
  })
  expect((await app.inject('/')).body).toBe('done')
  expect(lines).toMatchObject([
    { audit: true, action: 'session.open', address: '127.0.0.1' },
    {
      level: 50,
      action: 'session.open',
      msg: 'recording the action of an operator failed',
      err: { message: outage().message },
    },
  ])
  await app.close()
})

it('an address is recorded without its zone, which can have any length', async () => {
  const addresses: unknown[] = []
  const app = fastify({ trustProxy: true })
  const audit = createAudit({
    record: async (_event, origin) => void addresses.push(origin?.address),
  })
  app.get('/', (request) => audit(request, { action: 'session.open' }))
  for (const address of [`fe80::1%${'z'.repeat(500)}`, '::ffff:203.0.113.7']) {
    await app.inject({ url: '/', headers: { 'x-forwarded-for': address } })
  }
  expect(addresses).toEqual(['fe80::1', '::ffff:203.0.113.7'])
  await app.close()
})

type Line = Record<string, unknown>

const OF_LOG = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'audit'])

/** An entry of the log under the names of the trail. */
function eventOf(line: Line): Line {
  const members = Object.entries(line).filter(([name]) => !OF_LOG.has(name))
  return { user_id: null, operator: null, ...Object.fromEntries(members) }
}

/** An entry of the trail, without what the log does not have. */
function entryOf({ action_id: _id, at: _at, details, ...entry }: Line): Line {
  return { ...entry, ...(details as Line) }
}

function byRequest(events: readonly Line[]): readonly Line[] {
  const idOf = (event: Line): string => String(event['request_id'])
  return events.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
}
