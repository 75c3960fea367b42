import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { digest } from '../../support/objects.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { remove } from '../file-requests.ts'
import {
  ask,
  download,
  expectProblem,
  jsonOf,
  type OpenService,
  type Placed,
  placeFile,
  SHORT_LINGER,
  upload as put,
  usageOf,
} from '../fixture.ts'
import {
  append,
  appended,
  base64,
  create,
  createUpload,
  expectFile,
  expectOffset,
  head,
  listed,
  look,
  expectOldFile,
} from './tus-requests.ts'

const FAILED = { status: 412, code: 'precondition_failed' } as const

/** The preconditions, the digest and the visibility of a creation, and the file that results. */
export function termsSuite(open: OpenService): void {
  describe('the file that a resumable upload makes', () => {
    let service: TestService
    let placed: Placed
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      placed = await placeFile(service)
    })

    it('replaces the old one only when it stands (I2)', async () => {
      const { user, content } = placed
      const upload = await createUpload(service, { user, length: 4 })
      await appended(service, upload, { body: 'fou' })
      expect((await download(service, { user })).body.equals(content)).toBe(true)
      await appended(service, upload, { offset: 3, body: 'r' })
      await expectFile(service, upload, 'four')
    })

    it('gets the visibility that the query or the metadata names, else keeps that of the old one', async () => {
      const { user } = placed
      const visibilityOf = async (creation: object): Promise<unknown> => {
        const upload = await createUpload(service, { user, length: 1, ...creation })
        await appended(service, upload, { body: 'x' })
        return (jsonOf(await look(service, upload))['file'] as { visibility: unknown }).visibility
      }
      const metadata = `filename ${base64('file.bin')},visibility ${base64('public')}`
      expect(await visibilityOf({})).toBe('private')
      expect(await visibilityOf({ metadata })).toBe('public')
      expect(await visibilityOf({})).toBe('public')
      expect(await visibilityOf({ metadata, query: '?visibility=users' })).toBe('users')
      expect((await download(service, { owner: user.userId })).status).not.toBe(200)
    })

    it.each(['?visibility=all', '?visibility=', '?visibility=public&visibility=users'])(
      'is not begun with the query %s',
      async (query) => {
        const { user } = placed
        const reply = await create(service, { user, length: 1, query })
        expectProblem(reply, { status: 400, code: 'invalid_parameter' })
        expect(await listed(service, user)).toEqual([])
      },
    )

    describe('under a condition', () => {
      it('is not begun when that fails, whatever else would be refused', async () => {
        const { user, etag } = placed
        for (const headers of [
          { 'If-None-Match': '*' },
          { 'If-Match': '"other"' },
          { 'If-None-Match': etag },
        ]) {
          const reply = await create(service, { user, length: 10 ** 15, headers })
          expectProblem(reply, FAILED)
        }
        expect(await listed(service, user)).toEqual([])
      })

      it.each([
        ['If-Match', (etag: string) => ({ 'If-Match': etag })],
        ['If-Unmodified-Since', () => ({ 'If-Unmodified-Since': new Date().toUTCString() })],
      ])(
        'a condition of %s is stored, and no later append needs it',
        async (_name, conditionOf) => {
          const { user, etag } = placed
          const upload = await createUpload(service, {
            user,
            length: 4,
            headers: conditionOf(etag),
          })
          const other = { 'If-Match': '"other"', 'If-None-Match': '*' }
          expectOffset(await append(service, upload, { body: 'four', headers: other }), 4)
          await expectFile(service, upload, 'four')
        },
      )

      it('R25 that a change breaks is refused before the next body, and the newer file stays', async () => {
        const { user, etag } = placed
        const upload = await createUpload(service, {
          user,
          length: 4,
          headers: { 'If-Match': etag },
        })
        await appended(service, upload, { body: 'fo' })
        await put(service, { user, content: 'newer', query: '?visibility=users' })
        const newer = await filesOf(user)
        const headers = { Expect: '100-continue' }
        const reply = await append(service, upload, { offset: 2, body: 'ur', headers })
        expectProblem(reply, FAILED)
        expect(await filesOf(user)).toEqual(newer)
        expect(reply.all.map(({ status }) => status)).toEqual([412])
        expect((await download(service, { user })).body.toString()).toBe('newer')
      })

      it('R25 without one, replaces what has come meanwhile, and stands where it was deleted', async () => {
        const { user } = placed
        const upload = await createUpload(service, { user, length: 4 })
        await appended(service, upload, { body: 'fo' })
        await put(service, { user, content: randomBytes(3000) })
        await appended(service, upload, { offset: 2, body: 'u' })
        await remove(service, { user })
        await appended(service, upload, { offset: 3, body: 'r' })
        await expectFile(service, upload, 'four')
        expect(await usageOf(service, user)).toMatchObject({ used: 4, fileCount: 1 })
      })

      it('keeps created_at and the visibility of the file that it replaces, as a PUT does', async () => {
        const { user } = placed
        const [old] = await filesOf(user)
        for (const query of ['?visibility=users', '']) {
          const upload = await createUpload(service, { user, length: 1, query })
          await appended(service, upload, { body: 'x' })
          const [stored, ...others] = await filesOf(user)
          expect(stored).toEqual(jsonOf(await look(service, upload))['file'])
          const kept = { created_at: old?.['created_at'], visibility: 'users', version: upload.id }
          expect(stored).toMatchObject(kept)
          expect(stored?.['etag']).not.toBe(old?.['etag'])
          expect(others).toEqual([])
        }
      })

      const filesOf = async (user: TestUser): Promise<readonly Record<string, unknown>[]> =>
        jsonOf(await ask(service, { user, path: '/users/me/repo' }))['files'] as never
    })

    describe('with a digest', () => {
      const reprDigest = (content: string) =>
        `sha-256=:${Buffer.from(digest(Buffer.from(content)), 'hex').toString('base64')}:`

      it('is stored if it has it, and the last answer repeats it', async () => {
        const { user } = placed
        const headers = { 'Repr-Digest': reprDigest('four') }
        const upload = await createUpload(service, { user, length: 4, headers })
        await appended(service, upload, { body: 'fo' })
        const reply = await appended(service, upload, { offset: 2, body: 'ur' })
        expect(reply.headers['repr-digest']).toBe(reprDigest('four'))
        expect(reply.headers['upload-expires']).toBeUndefined()
      })

      it('is not stored if it has another one, and the upload ends (I2)', async () => {
        const { user } = placed
        const headers = { 'Repr-Digest': reprDigest('five') }
        const upload = await createUpload(service, { user, length: 4, headers })
        await appended(service, upload, { body: 'fo' })
        const reply = await append(service, upload, { offset: 2, body: 'ur' })
        const wrong = expectProblem(reply, { status: 400, code: 'digest_mismatch' })
        expect(wrong['sha256']).toBe(digest(Buffer.from('four')))
        expect((await head(service, upload)).status).toBe(410)
        await expectOldFile(service, placed)
      })

      it.each(['sha-256=four', 'sha-256=:AAAA:', 'x=:', 'sha-256'])(
        'an upload with a digest that reads %s is not begun',
        async (value) => {
          const { user } = placed
          const reply = await create(service, {
            user,
            length: 4,
            headers: { 'Repr-Digest': value },
          })
          expect({ status: reply.status, ...jsonOf(reply) }).toMatchObject({
            status: 400,
            code: 'invalid_parameter',
            parameter: 'Repr-Digest',
          })
          expect(await listed(service, user)).toEqual([])
        },
      )
    })
  })
}
