import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { expectProblem, jsonOf, MIB, type OpenService, SHORT_LINGER, usageOf } from '../fixture.ts'
import {
  append,
  appended,
  create,
  createUpload,
  expectFile,
  expectOffset,
  head,
  look,
  offsetOf,
} from './tus-requests.ts'

const WRONG_HEADER = { status: 400, code: 'invalid_parameter' } as const

/** tus 1.0.0, extension "Creation Defer Length". */
export function deferredLengthSuite(open: OpenService): void {
  describe('a resumable upload of deferred length', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    it('tells so until it is declared, and reserves as it grows', async () => {
      const upload = await createUpload(service, { user, length: 'deferred' })
      expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
      const before = await head(service, upload)
      expect(before.headers).toMatchObject({ 'upload-defer-length': '1', 'upload-offset': '0' })
      expect(before.headers['upload-length']).toBeUndefined()
      expect(jsonOf(await look(service, upload))['length']).toBeNull()
      await appended(service, upload, { body: 'four' })
      expect((await usageOf(service, user)).reserved).toBeGreaterThanOrEqual(4)
      const headers = { 'Upload-Length': '9' }
      expectOffset(await append(service, upload, { offset: 4, body: '', headers }), 4)
      const after = await head(service, upload)
      expect(after.headers).toMatchObject({ 'upload-length': '9', 'upload-offset': '4' })
      expect(after.headers['upload-defer-length']).toBeUndefined()
      await appended(service, upload, { offset: 4, body: 'five!' })
      await expectFile(service, upload, 'fourfive!')
    })

    it('ends with an append that declares what it reaches, or what is there already', async () => {
      for (const [body, offset] of [
        ['five!', 9],
        ['', 4],
      ] as const) {
        const upload = await createUpload(service, { user, length: 'deferred' })
        await appended(service, upload, { body: 'four' })
        const headers = { 'Upload-Length': `${offset}` }
        expectOffset(await append(service, upload, { offset: 4, body, headers }), offset)
        await expectFile(service, upload, `four${body}`)
      }
    })

    it('may be created with content', async () => {
      const reply = await create(service, { user, length: 'deferred', body: 'four' })
      expect(reply).toMatchObject({ status: 201, headers: { 'upload-offset': '4' } })
    })

    it('R27 takes no length below the offset, nor another one than was declared', async () => {
      const upload = await createUpload(service, { user, length: 'deferred' })
      await appended(service, upload, { body: 'four' })
      const declare = (length: number) =>
        append(service, upload, { offset: 4, headers: { 'Upload-Length': `${length}` } })
      expectProblem(await declare(3), WRONG_HEADER)
      expectOffset(await declare(9), 4)
      expectProblem(await declare(10), WRONG_HEADER)
      expectProblem(await declare(8), WRONG_HEADER)
      await appended(service, upload, { offset: 4, body: 'five!' })
      await expectFile(service, upload, 'fourfive!')
    })

    it('R27 takes the length again that was declared, as a client that tries again sends it', async () => {
      const upload = await createUpload(service, { user, length: 'deferred' })
      const headers = { 'Upload-Length': '4' }
      expectOffset(await append(service, upload, { headers }), 0)
      expectOffset(await append(service, upload, { body: 'four', headers }), 4)
      await expectFile(service, upload, 'four')
    })

    it('R27 is refused where the capacity ends, and goes on when there is room', async () => {
      const poor = await service.createUser(1000)
      const upload = await createUpload(service, { user: poor, length: 'deferred' })
      await appended(service, upload, { body: randomBytes(600) })
      const reply = await append(service, upload, { offset: 600, body: randomBytes(500) })
      expectProblem(reply, { status: 403, code: 'capacity_exceeded' })
      expect(await offsetOf(service, upload)).toBe(600)
      await service.setCapacity(poor, 2000)
      await appended(service, upload, { offset: 600, body: randomBytes(500) })
    })
  })
}
