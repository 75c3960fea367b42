import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ADMIN_OPTIONS } from '../admin/fixture.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import { ask, type OpenService, type Placed, placeFile } from '../fixture.ts'

const INERT = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

/** Bytes that no request begins with, or whose head is beyond all limits. */
const NO_REQUESTS = [
  'hello\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: x\r\nA: ${'<script>'.repeat(5_000)}\r\n\r\n`,
]

/** Whatever an answer is, no browser runs anything of it. */
export function inertAnswersSuite(open: OpenService): void {
  describe('in a browser', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service, { capacity: 1500 })
    })

    it('the answer to OPTIONS is inert', async () => {
      const reply = await ask(service, { method: 'OPTIONS', path: '/users/me/repo/a' })
      expect(reply.headers).toMatchObject(INERT)
    })

    it.each(['port', 'adminPort'] as const)('so is what the parser refuses: %s', async (which) => {
      for (const bytes of NO_REQUESTS) {
        const reply = await rawRequest({ port: service[which], send: [bytes] })
        expect(reply.status).toBeGreaterThanOrEqual(400)
        expect(reply.headers).toMatchObject({ ...INERT, 'cache-control': 'no-store' })
      }
    })

    it('so is a refusal, whatever it quotes', async () => {
      const markup = '<script>alert(1)</script>'
      const encoded = encodeURIComponent(markup)
      const { user } = placed
      const json = { 'Content-Type': 'application/json' }
      const replies = [
        await ask(service, { user, path: `/users/me/repo/${encoded}%zz` }),
        await ask(service, { user, path: `/users/me/repo?order=${encoded}` }),
        await ask(service, { user, path: `/users/me/repo?${encoded}=1` }),
        await ask(service, { user, path: `/users/me/repo/a?visibility=${encoded}`, method: 'PUT' }),
        await ask(service, {
          user,
          path: '/users/me/repo/file.bin',
          method: 'PATCH',
          headers: json,
          body: JSON.stringify({ [markup]: 1 }),
        }),
        await ask(service, { user, path: `/${encoded}` }),
      ]
      for (const { status, body, headers } of replies) {
        expect(status).toBeGreaterThanOrEqual(400)
        expect(headers).toMatchObject(INERT)
        expect(headers['content-type']).toMatch(/^application\/problem\+json/)
        expect(() => JSON.parse(body.toString()) as unknown).not.toThrow()
      }
    })
  })
}
