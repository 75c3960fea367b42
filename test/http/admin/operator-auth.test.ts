import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFailedAttemptLimiter } from '../../../src/core/auth/failed-attempt-limiter.ts'
import { sha256 } from '../../../src/core/auth/sha256.ts'
import { createOperators } from '../../../src/core/operators/operators.ts'
import type { OperatorLedger } from '../../../src/core/operators/operator-ledger.ts'
import { createAdminSessions } from '../../../src/http/admin/admin-session.ts'
import {
  bearerPlugin,
  createOperatorAuth,
  leastRole,
} from '../../../src/http/admin/operator-auth.ts'
import { outage } from '../../support/faults/faults.ts'
import { createBareListener } from '../server/bare-listener.ts'
import { ADMIN_TOKEN } from './fixture.ts'

const TOKEN = `cro_${'t'.repeat(43)}`
const DANA = { name: 'dana', role: 'viewer', createdAt: 0 } as const

let app: FastifyInstance
let digests: string[]
let find: OperatorLedger['findOperatorOfToken']
beforeEach(async () => {
  digests = []
  find = async (digest) => (digest === sha256(TOKEN) ? DANA : undefined)
  const failedAttempts = createFailedAttemptLimiter()
  const ledger = {
    findOperatorOfToken: (digest: string) => {
      digests.push(digest)
      return find(digest)
    },
  } as OperatorLedger
  const operators = createOperators({ ledger, failedAttempts })
  const sessions = createAdminSessions(ADMIN_TOKEN)
  const operatorAuth = createOperatorAuth({
    token: ADMIN_TOKEN,
    operators,
    failedAttempts,
    sessions,
  })
  app = await createBareListener()
  await app.register(fastifyCookie, { hook: false })
  await app.register(bearerPlugin, { operatorAuth })
  app.get('/', async ({ operator }) => operator?.name ?? 'the ADMIN_TOKEN')
  app.post('/', async () => 'done')
})
afterEach(() => app.close())

const statusFor = async (headers: Record<string, string>) =>
  (await app.inject({ url: '/', headers })).statusCode
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const cookie = (token?: string) => {
  const value = createAdminSessions(ADMIN_TOKEN).open(token && sha256(token))
  return { cookie: `admin_session=${value}` }
}

describe('who sends a request of the admin API', () => {
  it('is asked of the database for operators alone, each time', async () => {
    for (const headers of [bearer(ADMIN_TOKEN), cookie(), bearer('wrong'), bearer('crt_x')]) {
      await statusFor(headers)
    }
    expect(digests).toEqual([])
    for (const headers of [bearer(TOKEN), bearer(TOKEN), cookie(TOKEN)]) {
      expect(await statusFor(headers)).toBe(200)
    }
    expect(digests).toEqual(Array.from({ length: 3 }, () => sha256(TOKEN)))
  })

  it('is 503 for operators while the database does not answer, and known with the ADMIN_TOKEN', async () => {
    find = () => Promise.reject(outage())
    const unknown = bearer(`cro_${'x'.repeat(43)}`)
    for (const headers of [bearer(TOKEN), cookie(TOKEN), unknown]) {
      expect(await statusFor(headers)).toBe(503)
    }
    for (const headers of [bearer(ADMIN_TOKEN), cookie()]) {
      expect(await statusFor(headers)).toBe(200)
    }
    expect(await statusFor(bearer('wrong'))).toBe(401)
  })

  it('is the next good session beside one of an operator who was removed', async () => {
    const removed = cookie(`cro_${'r'.repeat(43)}`).cookie
    const { payload } = await app.inject({
      url: '/',
      headers: { cookie: `${removed}; __Host-${cookie(TOKEN).cookie}` },
    })
    expect(payload).toBe('dana')
    expect(await statusFor({ cookie: removed })).toBe(401)
  })

  it('is no failed attempt with the session of an operator who was removed', async () => {
    const headers = cookie(`cro_${'r'.repeat(43)}`)
    for (let tries = 0; tries < 50; tries += 1) expect(await statusFor(headers)).toBe(401)
  })
})

it('a route that names no role is open to admins alone, but for reads', async () => {
  expect((await app.inject({ url: '/', method: 'POST', headers: bearer(TOKEN) })).statusCode).toBe(
    403,
  )
  expect(['GET', 'HEAD'].map((method) => leastRole(method, {}))).toEqual(['viewer', 'viewer'])
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'NEW']) {
    expect(leastRole(method, {})).toBe('admin')
  }
  expect(leastRole('POST', { role: 'support' })).toBe('support')
})
