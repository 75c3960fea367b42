import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestService } from '../../support/service/test-service.ts'
import { remove } from '../file-requests.ts'
import {
  download,
  expectProblem,
  jsonOf,
  type OpenService,
  placeFile,
  SHORT_LINGER,
  upload as put,
} from '../fixture.ts'
import {
  append,
  beginAppend,
  cancel,
  createUpload,
  expectFile,
  expectOffset,
  head,
  listed,
  look,
  offsetOf,
  type TusUpload,
  expectOnlyFilesOf,
} from './tus-requests.ts'

const FAILED = { status: 412, code: 'precondition_failed' } as const
const FULL = { status: 403, code: 'capacity_exceeded' } as const

/** What the commit refuses after the last byte leaves the upload complete, and a later request stores the file. */
export function refusedCommitSuite(open: OpenService): void {
  describe('an upload with all its bytes whose commit is refused', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ maxFiles: 2, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())

    /** Has `meanwhile` happen after all tests of the append, and before its commit. */
    async function appendBeside(
      creation: Parameters<typeof createUpload>[1] & { readonly content: Buffer },
      meanwhile: () => Promise<unknown>,
    ) {
      const { content } = creation
      const upload = await createUpload(service, { ...creation, length: content.length })
      const [first, rest] = [content.subarray(0, 100), content.subarray(100)]
      const running = await beginAppend(service, upload, { first, rest })
      await meanwhile()
      running.goOn()
      return { upload, reply: await running.reply }
    }

    /** What a client is told that asks again, and what a look tells. */
    async function expectRefused(upload: TusUpload, problem: { status: number; code: string }) {
      for (const _ of ['first', 'second']) {
        expect((await head(service, upload)).status).toBe(problem.status)
        expect((await append(service, upload, { offset: 400 })).status).toBe(problem.status)
      }
      const elsewhere = await append(service, upload, { offset: 100, body: 'four' })
      expectProblem(elsewhere, { status: 423, code: 'upload_busy' })
      expect(elsewhere.headers['upload-offset']).toBeUndefined()
      expect((await head(service, upload, {})).status).toBe(423)
      const shown = { state: 'complete', offset: 400, refusal: problem.code, file: null }
      expect(jsonOf(await look(service, upload))).toMatchObject(shown)
      expect(await listed(service, upload.user)).toEqual([upload.id])
    }

    it('R12 for the capacity is never told to be whole, and finished once there is room', async () => {
      const { user, content: old } = await placeFile(service, { capacity: 1000, size: 600 })
      const content = randomBytes(400)
      const shrink = () => service.setCapacity(user, 999)
      const { upload, reply } = await appendBeside({ user, name: 'other', content }, shrink)
      expectProblem(reply, FULL)
      await expectRefused(upload, FULL)
      expect((await download(service, { user, name: 'other' })).status).toBe(404)
      await service.setCapacity(user, 1000)
      expect(await offsetOf(service, upload)).toBe(400)
      await expectFile(service, upload, content)
      await expectFile(service, { user, name: 'file.bin' }, old)
    })

    it('R12 R25 for its condition leaves the newer file, until the upload is cancelled', async () => {
      const { user, etag } = await placeFile(service)
      const newer = () => put(service, { user, content: 'newer' })
      const creation = { user, content: randomBytes(400), headers: { 'If-Match': etag } }
      const { upload, reply } = await appendBeside(creation, newer)
      expectProblem(reply, FAILED)
      await expectRefused(upload, FAILED)
      expect((await cancel(service, upload)).status).toBe(204)
      await expectFile(service, upload, 'newer')
      await expectOnlyFilesOf(service, { user, names: ['file.bin'] })
    })

    it('R12 for the number of files is finished once there is one fewer', async () => {
      const { user } = await placeFile(service)
      const content = randomBytes(400)
      const another = () => put(service, { user, name: 'second', content: 'x' })
      const { upload, reply } = await appendBeside({ user, name: 'third', content }, another)
      const refused = { status: 403, code: 'file_count_exceeded' } as const
      expectProblem(reply, refused)
      await expectRefused(upload, refused)
      await remove(service, { user, name: 'second' })
      expectOffset(await append(service, upload, { offset: 400 }), 400)
      await expectFile(service, upload, content)
    })
  })
}
