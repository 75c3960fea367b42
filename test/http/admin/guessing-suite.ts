import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FAILED_ATTEMPT_POLICY } from '../../../src/core/auth/failed-attempt-limiter.ts'
import { expectProblem, type OpenService, type Reply } from '../fixture.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { ADMIN_OPTIONS, ADMIN_TOKEN, call, send } from './fixture.ts'

const { maxFailedAttempts } = FAILED_ATTEMPT_POLICY
const UNAUTHORIZED = { status: 401, code: 'unauthorized' } as const
const TOO_MANY = { status: 429, code: 'too_many_requests' } as const

/** Row C09 of the list of bad input: guessing the token of the admin API. */
export function adminGuessingSuite(open: OpenService): void {
  describe('guessing the admin token', () => {
    let service: TestService
    let address: string
    let tests = 0
    beforeAll(async () => {
      const options = {
        failedAttemptPolicy: FAILED_ATTEMPT_POLICY,
        trustedProxies: ['127.0.0.0/8'],
      }
      service = await open({ ...ADMIN_OPTIONS, ...options })
    })
    afterAll(() => service.stop())
    beforeEach(() => {
      tests += 1
      address = `203.0.113.${tests}`
    })

    function show(token: string, from = address): Promise<Reply> {
      const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': from }
      return send(service, { method: 'GET', headers })
    }

    it('C09 is refused with 401, then with 429 and the time to wait', async () => {
      for (let attempt = 0; attempt < maxFailedAttempts; attempt += 1) {
        const reply = await show(wrongToken(attempt))
        expectProblem(reply, UNAUTHORIZED)
        expect(reply.headers['www-authenticate']).toBe('Bearer')
      }
      const reply = await show(wrongToken(99))
      const { retry_after: seconds } = expectProblem(reply, TOO_MANY)
      expect(reply.headers['retry-after']).toBe(String(seconds))
      expect(seconds).toBeGreaterThan(FAILED_ATTEMPT_POLICY.firstBlockMs / 1000 - 30)
      expect(seconds).toBeLessThanOrEqual(FAILED_ATTEMPT_POLICY.firstBlockMs / 1000)
      expectProblem(await show(wrongToken(99), '198.51.100.8'), UNAUTHORIZED)
    })

    it('C09 does not keep out the right token, and whoever shows none is told so', async () => {
      for (let attempt = 0; attempt < maxFailedAttempts; attempt += 1)
        await show(wrongToken(attempt))
      expectProblem(await show(wrongToken(99)), TOO_MANY)
      expect((await show(ADMIN_TOKEN)).status).toBe(200)
      const headers = { 'x-forwarded-for': address }
      expect((await call(service, { method: 'GET', headers })).status).toBe(200)
      expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
    })

    it('C09 looks for the token in its header alone', async () => {
      const right = encodeURIComponent(ADMIN_TOKEN)
      for (const path of [`?token=${right}`, `?access_token=${right}`, `?ADMIN_TOKEN=${right}`]) {
        expectProblem(await send(service, { method: 'GET', path }), UNAUTHORIZED)
      }
      const headers = { cookie: `access_token=${ADMIN_TOKEN}`, 'x-api-key': ADMIN_TOKEN }
      expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
      expectProblem(await show(ADMIN_TOKEN.slice(0, -1)), UNAUTHORIZED)
      expectProblem(await show(`${ADMIN_TOKEN}x`), UNAUTHORIZED)
    })

    it('C09 is not counted where no token is shown', async () => {
      const headers = { 'x-forwarded-for': address }
      for (let request = 0; request < 2 * maxFailedAttempts; request += 1) {
        expectProblem(await send(service, { method: 'GET', headers }), UNAUTHORIZED)
      }
      expectProblem(await show(wrongToken(1)), UNAUTHORIZED)
    })
  })
}

/** As long as the right one. */
function wrongToken(seed: number): string {
  return String(seed).padStart(ADMIN_TOKEN.length, 'x')
}
