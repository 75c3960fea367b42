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
  usageOf,
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
      ['beside another algorithm', `sha-512=:AAAA:, ${member(content)}`],
      ['that is given twice, the last one right', `${member('x')}, ${member(content)}`],
      ['with a parameter', `${member(content)};note="x"`],
      ['of other algorithms alone', 'sha-512=:AAAA:, md5=:AAAA:'],
      ['that has no members', ''],
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

    it('the digest of the empty file is that of no bytes', async () => {
      const { user } = placed
      const headers = { 'Repr-Digest': member('') }
      expect((await upload(service, { method, user, content: '', headers })).status).toBe(200)
      const reply = await upload(service, { method, user, content: 'x', headers })
      expectProblem(reply, MISMATCH)
      expect(await usageOf(service, user)).toMatchObject({ used: 0, fileCount: 1 })
    })
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

    const content = randomBytes(100_000)

    it.each([
      'sha-256=:AAAA:',
      'sha-256',
      'sha-256=1',
      'sha-256="text"',
      `sha-256=${digest(content)}`,
      'sha-256=:***:',
      `sha-256=(${member(content).slice('sha-256='.length)})`,
      'sha-256=:AAAA',
      ';;',
      ',',
      `SHA-256=${member(content).slice('sha-256='.length)}`,
      member(content).replace(/.{4}=:$/, ':'),
    ])('%s is refused before the body', async (value) => {
      const headers = { 'Repr-Digest': value }
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
