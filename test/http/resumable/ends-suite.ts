import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  expectNothingReserved,
  expectProblem,
  MIB,
  type OpenService,
  SHORT_LINGER,
  upload,
  usageOf,
} from '../fixture.ts'
import { change, remove } from '../file-requests.ts'
import {
  append,
  appended,
  base64,
  beginAppend,
  cancel,
  createUpload,
  expectFile,
  head,
  headText,
  listed,
  look,
  offsetOf,
  TUS,
  type TusUpload,
  expectOnlyFilesOf,
} from './tus-requests.ts'

const GONE = { status: 410, code: 'upload_gone' } as const

/** tus 1.0.0, extensions "Termination" and "Expiration". */
export function uploadEndsSuite(open: OpenService): void {
  describe('the end of a resumable upload', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(MIB)
    })

    it('a DELETE frees the reservation of an upload at once, and is told for a while', async () => {
      const upload = await createUpload(service, { user, length: 1000 })
      await appended(service, upload, { body: randomBytes(600) })
      const reply = await cancel(service, upload)
      expect(reply).toMatchObject({ status: 204, headers: { 'tus-resumable': '1.0.0' } })
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 0 })
      await expectGone(service, upload, 'cancelled')
      await expectOnlyFilesOf(service, { user, names: [] })
    })

    it('a DELETE ends an append that is running before it responds, without a byte left', async () => {
      const upload = await createUpload(service, { user, length: 300_000 })
      const first = randomBytes(100_000)
      const running = await beginAppend(service, upload, { first, rest: randomBytes(200_000) })
      expect((await cancel(service, upload)).status).toBe(204)
      expect(service.uploads.runningAppends).toBe(0)
      await expectNothingReserved(service, user)
      expect(expectProblem(await running.reply, GONE)['outcome']).toBe('cancelled')
      await expectGone(service, upload, 'cancelled')
      await expectOnlyFilesOf(service, { user, names: [] })
    })

    it('a DELETE is told to an append whose checksum covers bytes that never come', async () => {
      const upload = await createUpload(service, { user, length: 9 })
      const headers = { 'Upload-Checksum': `sha1 ${base64('x'.repeat(20))}` }
      const first = Buffer.from('four')
      const running = await beginAppend(service, upload, { first, missing: 5, headers })
      expect((await cancel(service, upload)).status).toBe(204)
      expect(expectProblem(await running.reply, GONE)['outcome']).toBe('cancelled')
    })

    it.each([
      ['DELETE', 'DELETE', {}],
      ['POST for DELETE', 'POST', { 'X-HTTP-Method-Override': 'DELETE' }],
    ])('is not by a %s whose body is malformed', async (_what, method, more) => {
      const upload = await createUpload(service, { user, length: 9 })
      await appended(service, upload, { body: 'four' })
      const coding = { ...TUS, ...more, 'Transfer-Encoding': 'chunked' }
      const start = headText(`${method} ${upload.path}`, { Cookie: user.cookie, ...coding })
      const reply = await rawRequest({ port: service.port, send: [start, 'no chunk\r\n'] })
      expectProblem(reply, { status: 400, code: 'format_error' })
      expect(await offsetOf(service, upload)).toBe(4)
    })

    it('a DELETE after the upload has finished is 410, and the file stays', async () => {
      const upload = await createUpload(service, { user, length: 4 })
      await appended(service, upload, { body: 'four' })
      expect(expectProblem(await cancel(service, upload), GONE)['outcome']).toBe('finished')
      await expectFile(service, upload, 'four')
    })

    it.each(SUPERSEDED)(
      'R35 after its file was %s is 410 for every request',
      async (_how, change) => {
        const upload = await createUpload(service, { user, name: 'file.bin', length: 4 })
        await appended(service, upload, { body: 'four' })
        expect(await offsetOf(service, upload)).toBe(4)
        await change(service, user)
        for (const reply of [
          await append(service, upload, { offset: 4, body: '' }),
          await append(service, upload, { offset: 0, body: 'four' }),
          await look(service, upload),
          await cancel(service, upload),
        ]) {
          expect(expectProblem(reply, GONE)['outcome']).toBe('finished')
        }
        const { status, headers } = await head(service, upload)
        expect({ status, offset: headers['upload-offset'] }).toEqual({
          status: 410,
          offset: undefined,
        })
      },
    )

    it('R35 after its file was renamed and renamed back says that it is stored', async () => {
      const upload = await createUpload(service, { user, name: 'file.bin', length: 4 })
      await appended(service, upload, { body: 'four' })
      await rename(service, user, { from: 'file.bin', to: 'other' })
      expect((await head(service, upload)).status).toBe(410)
      await rename(service, user, { from: 'other', to: 'file.bin' })
      expect(await offsetOf(service, upload)).toBe(4)
    })

    it('R35 is forgotten with its journal, unless nothing has changed its file since', async () => {
      await using opened = new AsyncDisposableStack()
      const service = await open({ ...SHORT_LINGER, retentionMs: -60_000 })
      opened.defer(() => service.stop())
      const user = await service.createUser(MIB)
      const forgotten = async (name: string) => {
        const upload = await createUpload(service, { user, name, length: 4 })
        await appended(service, upload, { body: 'four' })
        return upload
      }
      const [kept, renamed] = [await forgotten('kept'), await forgotten('renamed')]
      await rename(service, user, { from: 'renamed', to: 'other' })
      await service.ledger.forgetUploads({ limit: 1000 })
      expect(await offsetOf(service, kept)).toBe(4)
      expect((await head(service, renamed)).status).toBe(404)
    })

    it('an expired upload is 410 with that reason', async () => {
      const upload = await createUpload(service, { user, length: 9 })
      await appended(service, upload, { body: 'four' })
      await expireNow(service, upload)
      await expectGone(service, upload, 'expired')
      expect(await usageOf(service, user)).toMatchObject({ reserved: 0 })
      await service.sweep()
      await expectGone(service, upload, 'expired')
      await expectOnlyFilesOf(service, { user, names: [] })
    })
  })
}

type Change = (service: TestService, user: TestUser) => Promise<unknown>

/** What makes another content, or none, of the name of an upload. */
const SUPERSEDED: readonly (readonly [how: string, change: Change])[] = [
  ['deleted', (service, user) => remove(service, { user })],
  ['replaced', (service, user) => upload(service, { method: 'PUT', user, content: 'five!' })],
  [
    'replaced by the same content',
    (service, user) => upload(service, { method: 'PUT', user, content: 'four' }),
  ],
  ['renamed', (service, user) => rename(service, user, { from: 'file.bin', to: 'other' })],
  [
    'replaced by a rename',
    async (service, user) => {
      await upload(service, { method: 'PUT', user, name: 'other', content: 'other' })
      await rename(service, user, { from: 'other', to: 'file.bin' })
    },
  ],
]

async function rename(
  service: TestService,
  user: TestUser,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const body = { name: to, overwrite: true }
  expect((await change(service, { user, name: from, body })).status).toBe(200)
}

/** Ends an upload as the check for expired leases does. */
async function expireNow({ ledger }: TestService, { user, id }: TusUpload): Promise<void> {
  const { userId } = user
  expect(await ledger.abort({ userId, version: id })).toBe('aborted')
}

async function expectGone(service: TestService, upload: TusUpload, outcome: string): Promise<void> {
  expect((await head(service, upload)).status).toBe(410)
  for (const reply of [
    await append(service, upload, { body: 'four' }),
    await cancel(service, upload),
    await look(service, upload),
  ]) {
    const detail: unknown = expect.stringMatching(/Create a new upload\.$/)
    expect(expectProblem(reply, GONE)).toMatchObject({ outcome, detail })
  }
  expect(await listed(service, upload.user)).toEqual([])
}
