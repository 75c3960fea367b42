import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempt-limiter.ts'
import { OPERATOR_ROLES } from '../../../src/core/operators/operator.ts'
import { MAX_OPERATORS } from '../../../src/core/operators/operator-ledger.ts'
import { NO_BUILD } from '../../support/http/page.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { expectProblem, jsonOf, type OpenService } from '../fixture.ts'
import {
  addOperator,
  ADMIN_OPTIONS,
  ADMIN_TOKEN,
  allPages,
  call,
  callAs,
  done,
  expectFault,
  OPERATORS,
  send,
} from './fixture.ts'

const UNAUTHORIZED = { status: 401, code: 'unauthorized' } as const
const FORBIDDEN = { status: 403, code: 'operator_forbidden' } as const

/** Operators with a name, a role and a token. The catalogue tests what each role may do. */
export function adminOperatorsSuite(open: OpenService): void {
  describe('admin: operators', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({
        ...ADMIN_OPTIONS,
        operatorPage: NO_BUILD,
        failedAttemptPolicy: FAILED_ATTEMPT_POLICY,
        trustedProxies: ['127.0.0.0/8'],
      })
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      const listed = await allPages(service, { at: OPERATORS, member: 'operators', limit: 50 })
      for (const { name } of listed) await remove(String(name))
    })

    const add = (body: unknown) => call(service, { method: 'POST', at: OPERATORS, body })
    const remove = (name: string) => call(service, { method: 'DELETE', at: `${OPERATORS}/${name}` })
    const read = (token: string, headers = {}) =>
      callAs(service, { token, method: 'GET', at: '/session', headers })

    async function openSession(token: string): Promise<string> {
      const body = { admin_token: token }
      const { status, headers } = await send(service, { method: 'POST', at: '/session', body })
      expect(status).toBe(204)
      const lines = [headers['set-cookie'] ?? []].flat()
      const cookie = lines.find((line) => !line.includes('Max-Age=0;'))
      return cookie?.split(';', 1)[0] ?? ''
    }

    const readBy = (cookie: string) =>
      send(service, { method: 'GET', at: '/session', headers: { cookie } })

    it('are added with a token that is shown once, listed by name, and removed', async () => {
      const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string
      const dana = { name: 'dana', role: 'support', created_at }
      const at = OPERATORS
      const body = { name: 'dana', role: 'support' }
      const added = await done(service, { method: 'POST', at, body, status: 201 })
      const token = expect.stringMatching(/^cro_[\w-]{43}$/) as string
      expect(added).toEqual({ ...dana, token })
      await addOperator(service, { name: '0.first_one-', role: 'viewer' })
      const listed = await done(service, { method: 'GET', at, status: 200 })
      expect(listed).toEqual({
        operators: [{ name: '0.first_one-', role: 'viewer', created_at }, dana],
        next_cursor: null,
      })
      const one = await done(service, { method: 'GET', at: `${at}/dana`, status: 200 })
      expect(one).toEqual(dana)
      const listing = { at, member: 'operators', limit: 1 }
      expect(await allPages(service, listing)).toEqual(listed['operators'])
      expect((await remove('dana')).status).toBe(204)
      expectProblem(await remove('dana'), { status: 404, code: 'not_found' })
      const gone = await call(service, { method: 'GET', at: `${at}/dana` })
      expectProblem(gone, { status: 404, code: 'not_found' })
    })

    it.each([
      ['name', { role: 'viewer' }],
      ['name', { name: '', role: 'viewer' }],
      ['name', { name: 'Dana', role: 'viewer' }],
      ['name', { name: '.dana', role: 'viewer' }],
      ['name', { name: '-dana', role: 'viewer' }],
      ['name', { name: 'da na', role: 'viewer' }],
      ['name', { name: 'dänä', role: 'viewer' }],
      ['name', { name: 'dana\n', role: 'viewer' }],
      ['name', { name: 'a/b', role: 'viewer' }],
      ['name', { name: 'n'.repeat(65), role: 'viewer' }],
      ['name', { name: 5, role: 'viewer' }],
      ['role', { name: 'dana' }],
      ['role', { name: 'dana', role: '' }],
      ['role', { name: 'dana', role: 'Admin' }],
      ['role', { name: 'dana', role: 'owner' }],
      ['role', { name: 'dana', role: null }],
      ['token', { name: 'dana', role: 'viewer', token: 'cro_mine' }],
    ])('are not added with another %s: %j', async (parameter, body) => {
      expectFault(await add(body), parameter)
      const { operators } = await done(service, { method: 'GET', at: OPERATORS, status: 200 })
      expect(operators).toEqual([])
    })

    it('have names of up to 64 characters', async () => {
      const name = `0${'.'.repeat(63)}`
      await addOperator(service, { name, role: 'viewer' })
      expect((await remove(name)).status).toBe(204)
    })

    it('are one of each name, also if two are added at once', async () => {
      const twice = Array.from({ length: 6 }, () => add({ name: 'dana', role: 'viewer' }))
      const replies = await Promise.all(twice)
      const added = replies.filter(({ status }) => status === 201)
      expect(added).toHaveLength(1)
      for (const reply of replies.filter(({ status }) => status !== 201)) {
        expectProblem(reply, { status: 409, code: 'operator_exists' })
      }
      const [{ token } = {}] = added.map(jsonOf)
      expect((await read(String(token))).status).toBe(200)
      expectProblem(await add({ name: 'dana', role: 'admin' }), {
        status: 409,
        code: 'operator_exists',
      })
      expect(jsonOf(await read(String(token)))).toEqual({ operator: 'dana', role: 'viewer' })
    })

    it('are at most a hundred', async () => {
      for (let at = 0; at < MAX_OPERATORS; at += 1) {
        await addOperator(service, { name: `n${at}`, role: 'viewer' })
      }
      const reply = await add({ name: 'one-more', role: 'viewer' })
      const problem = expectProblem(reply, { status: 403, code: 'operator_count_exceeded' })
      expect(problem).toMatchObject({ max_operators: 100 })
      expect(problem['detail']).toContain('100')
    })

    it('are known by their token and by a session, with their role', async () => {
      for (const role of OPERATOR_ROLES) {
        const token = await addOperator(service, { name: role, role })
        expect(jsonOf(await read(token))).toEqual({ operator: role, role })
        const cookie = await openSession(token)
        expect(cookie).not.toContain(token)
        expect(jsonOf(await readBy(cookie))).toEqual({ operator: role, role })
      }
      const admin = { operator: null, role: 'admin' }
      expect(jsonOf(await read(ADMIN_TOKEN))).toEqual(admin)
      expect(jsonOf(await readBy(await openSession(ADMIN_TOKEN)))).toEqual(admin)
    })

    it('may do by a session what their role permits', async () => {
      const cookie = await openSession(await addOperator(service, { name: 'v', role: 'viewer' }))
      const make = await send(service, { method: 'POST', headers: { cookie } })
      expect(expectProblem(make, FORBIDDEN)).toMatchObject({ required: 'admin' })
      expect((await send(service, { method: 'GET', headers: { cookie } })).status).toBe(200)
    })

    it('have no access once they are removed, nor once another one has their name', async () => {
      const token = await addOperator(service, { name: 'dana', role: 'admin' })
      const cookie = await openSession(token)
      expect((await callAs(service, { token, method: 'POST' })).status).toBe(201)
      expect((await remove('dana')).status).toBe(204)
      for (const _again of [1, 2]) {
        expectProblem(await read(token), UNAUTHORIZED)
        expectProblem(await readBy(cookie), UNAUTHORIZED)
        const other = await addOperator(service, { name: 'dana', role: 'viewer' })
        expect((await read(other)).status).toBe(200)
        await remove('dana')
      }
    })

    it('may remove themselves, if they are admins', async () => {
      const token = await addOperator(service, { name: 'self', role: 'admin' })
      const removed = await callAs(service, { token, method: 'DELETE', at: `${OPERATORS}/self` })
      expect(removed.status).toBe(204)
      expectProblem(await read(token), UNAUTHORIZED)
      const { actions } = await done(service, {
        method: 'GET',
        at: '/admin/audit?operator=self',
        status: 200,
      })
      expect(actions).toMatchObject([{ action: 'operator.remove', details: { name: 'self' } }])
    })

    it('are refused before their request is read', async () => {
      const token = await addOperator(service, { name: 'v', role: 'viewer' })
      const raw = '{"status":'
      const bad = { method: 'PATCH', path: '/no%20body', raw }
      expect(expectProblem(await callAs(service, { token, ...bad }), FORBIDDEN)).toMatchObject({
        required: 'support',
      })
    })

    it('are named in the audit trail, which can be asked for one of them', async () => {
      const token = await addOperator(service, { name: 'sam', role: 'support' })
      const user = await service.createUser(10)
      const path = `/${user.userId}`
      const body = { status: 'suspended' }
      expect((await callAs(service, { token, method: 'PATCH', path, body })).status).toBe(200)
      await call(service, { method: 'PATCH', path, body: { status: 'active' } })
      const cookie = await openSession(token)
      await send(service, { method: 'DELETE', at: '/session', headers: { cookie } })
      const listed = async (query: string) => {
        const at = `/admin/audit?${query}`
        const { actions } = await done(service, { method: 'GET', at, status: 200 })
        return (actions as readonly Record<string, unknown>[]).map((entry) => [
          entry['action'],
          entry['operator'],
        ])
      }
      expect(await listed(`user_id=${user.userId}`)).toEqual([
        ['user.set_status', null],
        ['user.set_status', 'sam'],
      ])
      expect(await listed('operator=sam')).toEqual([
        ['session.close', 'sam'],
        ['session.open', 'sam'],
        ['user.set_status', 'sam'],
      ])
      expect(await listed(`operator=sam&user_id=${user.userId}`)).toEqual([
        ['user.set_status', 'sam'],
      ])
      expect(await listed('operator=nobody')).toEqual([])
      expectFault(await call(service, { method: 'GET', at: '/admin/audit?operator=A' }), 'operator')
    })

    it('C09 are guessed in vain, and not kept out by those who guess', async () => {
      const token = await addOperator(service, { name: 'dana', role: 'viewer' })
      const headers = { 'x-forwarded-for': '203.0.113.77' }
      const guess = (at: number) => read(`cro_${String(at).padStart(43, 'x')}`, headers)
      expect((await read(token)).status).toBe(200)
      for (let at = 0; at < FAILED_ATTEMPT_POLICY.maxFailedAttempts; at += 1) {
        expectProblem(await guess(at), UNAUTHORIZED)
      }
      expectProblem(await guess(99), { status: 429, code: 'too_many_requests' })
      expect((await read(token, headers)).status).toBe(200)
      for (const other of [token.slice(0, -1), `${token}x`, token.toUpperCase()]) {
        expectProblem(await read(other, { 'x-forwarded-for': '203.0.113.78' }), UNAUTHORIZED)
      }
    })

    it('have no access to the API of users', async () => {
      const token = await addOperator(service, { name: 'dana', role: 'admin' })
      const reply = await fetch(`${service.url}/users/me/repo`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(reply.status).toBe(403)
      expect(await reply.json()).toMatchObject({ code: 'access_token_invalid' })
    })
  })
}
