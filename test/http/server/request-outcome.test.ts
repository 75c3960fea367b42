import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { ask, jsonOf } from '../fixture.ts'

const verifier = {
  verify: () => {
    const told = { code: 'ERR_JWT_CLAIM_VALIDATION_FAILED', claim: 'aud' }
    const cause = Object.assign(new Error('unexpected "aud" claim value'), told)
    return Promise.reject(new AppError('access_token_invalid', 'It is not valid.', { cause }))
  },
}

describe('the log of requests', () => {
  const lines: Record<string, unknown>[] = []
  let service: TestService
  beforeAll(async () => {
    const write = (line: string): void => {
      lines.push(JSON.parse(line) as Record<string, unknown>)
    }
    service = await openEmbedded({
      logger: pino({}, { write }),
      jwt: { verifier, createsUsers: false },
    })
  })
  afterAll(() => service.stop())
  beforeEach(() => {
    lines.length = 0
  })

  /** The only line about the request that was answered so. */
  async function lineOf(reply: { readonly body: Buffer }): Promise<Record<string, unknown>> {
    const { request_id } = jsonOf(reply)
    const find = () => lines.filter((line) => line['request_id'] === request_id)
    await expect.poll(find).toHaveLength(1)
    return find()[0] ?? {}
  }

  it('has a line for a request, which names the route and no file', async () => {
    const user = await service.createUser(0)
    const line = await lineOf(await ask(service, { user, path: '/users/me/repo/diary.txt' }))
    expect(line).toMatchObject({
      method: 'GET',
      route: '/users/:user_id/repo/*',
      status: 404,
      code: 'not_found',
      user_id: user.userId,
      address: '127.0.0.1',
    })
    expect(JSON.stringify(line)).not.toContain('diary')
  })

  it('has one for a path that the router can not read', async () => {
    const line = await lineOf(await ask(service, { path: '/users/me/repo/%zz' }))
    expect(line).toMatchObject({ status: 400, code: 'invalid_file_name' })
  })

  it('has one for an expectation that is refused', async () => {
    const headers = { expect: 'a-miracle' }
    const line = await lineOf(await ask(service, { path: '/users/me/repo', headers }))
    expect(line).toMatchObject({ route: '/users/:user_id/repo', status: 400, code: 'format_error' })
  })

  it('has one for what the HTTP parser refuses', async () => {
    const send = ['GRAB / HTTP/1.1\r\n\r\n']
    const line = await lineOf(await rawRequest({ port: service.port, send }))
    expect(line).toMatchObject({ status: 400, code: 'format_error', address: '127.0.0.1' })
    expect(line['reason']).toMatch(/^Parse Error/)
  })

  it('says why a JWT is not valid, and the answer does not', async () => {
    const cookie = 'access_token=aa.bb.cc'
    const reply = await ask(service, { path: '/users/me/repo', headers: { cookie } })
    expect(await lineOf(reply)).toMatchObject({
      code: 'access_token_invalid',
      reason: 'ERR_JWT_CLAIM_VALIDATION_FAILED (aud)',
    })
    expect(reply.body.toString()).not.toContain('aud')
  })
})
