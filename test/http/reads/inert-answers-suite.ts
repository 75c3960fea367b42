import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_OPTIONS } from '../admin/fixture.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import type { OpenService } from '../fixture.ts'

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

/** No browser runs anything of an answer that no handler makes; see `operations/answers.test.ts` for the others. */
export function inertAnswersSuite(open: OpenService): void {
  describe('an answer of the HTTP parser', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open(ADMIN_OPTIONS)
    })
    afterAll(() => service.stop())

    it.each(['port', 'adminPort'] as const)('is inert on the listener of %s', async (which) => {
      for (const bytes of NO_REQUESTS) {
        const reply = await rawRequest({ port: service[which], send: [bytes] })
        expect(reply.status).toBeGreaterThanOrEqual(400)
        expect(reply.headers).toMatchObject({ ...INERT, 'cache-control': 'no-store' })
      }
    })
  })
}
