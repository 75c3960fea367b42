import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { digest } from '../../support/objects.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  bodyOf,
  expectNothingChanged,
  expectProblem,
  expectUntouched,
  headOf,
  jsonOf,
  type OpenService,
  type Placed,
  placeFile,
  SHORT_LINGER,
  upload,
} from '../fixture.ts'

const MISMATCH = { status: 400, code: 'digest_mismatch' } as const

/** What an upload's `Repr-Digest` guards. */
export function digestsSuite(open: OpenService): void {
  describe.each(['PUT', 'POST'] as const)('a %s with Repr-Digest', (method) => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    const content = randomBytes(100_000)

    it.each([
      ['of the file', member(content)],
      ['of other algorithms alone', 'sha-512=:AAAA:, md5=:AAAA:'],
    ])('%s is taken', async (_what, value) => {
      const headers = { 'Repr-Digest': value }
      const reply = await upload(service, { method, user: placed.user, content, headers })
      expect({ status: reply.status, body: reply.body.toString() }).toMatchObject({ status: 200 })
      expect(jsonOf(reply)).toMatchObject({ sha256: digest(content), size: content.length })
    })

    it.each([
      ['a Content-Length', false],
      ['chunks', true],
    ])(
      'a digest of something else is refused, with %s, and changes nothing (I2)',
      async (_how, chunked) => {
        const headers = { 'Repr-Digest': member('something else') }
        const { user } = placed
        const reply = await upload(service, { method, user, content, headers, chunked })
        expect(expectProblem(reply, MISMATCH)).toMatchObject({ sha256: digest(content) })
        await expectUntouched(service, placed)
      },
    )
  })

  describe('a form with Repr-Digest', () => {
    it('has that of its file, and not of itself', async () => {
      const service = await open()
      try {
        const placed = await placeFile(service)
        const { user } = placed
        const headers = { 'Repr-Digest': member(bodyOf('content')) }
        expectProblem(await upload(service, { user, content: 'content', headers }), MISMATCH)
        await expectUntouched(service, placed)
      } finally {
        await service.stop()
      }
    })
  })
}

/** A digest that is refused above the ports: nothing is called that could change anything. */
export function refusedDigestsSuite(open: OpenService): void {
  describe.each(['PUT', 'POST'] as const)('a %s with a malformed Repr-Digest', (method) => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it('is refused before the body', async () => {
      const headers = { 'Repr-Digest': 'sha-256=:AAAA:' }
      const head = headOf({ method, user: placed.user, length: 1_000_000, headers })
      const send = [head, { pauseMs: 9000 }]
      const reply = await rawRequest({ port: service.port, send, timeoutMs: 8000 })
      expect(reply.status).toBe(400)
      expect(jsonOf(reply)).toMatchObject({ code: 'invalid_parameter', parameter: 'Repr-Digest' })
      expectNothingChanged(service, placed)
    })
  })
}

/** The member that states the SHA-256 of a content. */
function member(content: string | Buffer): string {
  return `sha-256=:${Buffer.from(digest(Buffer.from(content)), 'hex').toString('base64')}:`
}
