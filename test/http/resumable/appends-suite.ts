import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpChunk } from '../../support/http/multipart-body.ts'
import { type Piece, rawRequest } from '../../support/http/raw-http.ts'
import { callerNamed } from '../../support/caller.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { expectProblem, jsonOf, MIB, type OpenService, SHORT_LINGER, usageOf } from '../fixture.ts'
import {
  append,
  appended,
  beginAppend,
  createUpload,
  expectFile,
  expectOffset,
  hasReceived,
  head,
  headText,
  listed,
  look,
  OFFSET_TYPE,
  offsetOf,
  POLL,
  stateOf,
  TUS,
  type TusUpload,
} from './tus-requests.ts'

/** What appends to one upload do to each other, and what becomes of those that break off. */
export function appendsSuite(open: OpenService): void {
  describe('the appends to a resumable upload', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(64 * MIB)
    })

    it.each(['end', 'reset'] as const)(
      'R01 keep all bytes that came before the connection broke (%s)',
      async (afterwards) => {
        const content = randomBytes(300_000)
        const upload = await createUpload(service, { user, length: 'deferred' })
        const first = content.subarray(0, 10_000)
        const running = await beginAppend(service, upload, { first, chunked: true, afterwards })
        await hasReceived(service, upload, first.length)
        running.goOn()
        await running.reply
        await expect.poll(() => stateOf(service, upload), POLL).toBe('open')
        expect(await offsetOf(service, upload)).toBe(first.length)
        const headers = { 'Upload-Length': `${content.length}` }
        const body = content.subarray(first.length)
        expectOffset(
          await append(service, upload, { offset: first.length, body, headers }),
          content.length,
        )
        await expectFile(service, upload, content)
      },
    )

    it('R01 come back byte for byte from thirty breaks at random places', async () => {
      const content = randomBytes(3 * MIB)
      const upload = await createUpload(service, { user, length: content.length })
      let offset = 0
      for (let breaks = 0; breaks < 30; breaks += 1) {
        const sent = 1 + (randomBytes(2).readUInt16LE() % 60_000)
        const first = content.subarray(offset, offset + 1)
        const rest = content.subarray(offset + 1, offset + sent)
        const missing = content.length - offset - sent
        const broken = await beginAppend(service, upload, {
          offset,
          first,
          rest,
          missing,
          afterwards: 'end',
        })
        broken.goOn()
        await broken.reply
        const next = await offsetOf(service, upload)
        expect(next).toBeGreaterThan(offset)
        expect(next).toBeLessThanOrEqual(offset + sent)
        offset = next
      }
      await appended(service, upload, { offset, body: content.subarray(offset) })
      await expectFile(service, upload, content)
    })

    it('R02 are stopped by a HEAD of the client that comes back, within a second', async () => {
      const content = randomBytes(300_000)
      const upload = await createUpload(service, { user, length: 'deferred' })
      const first = content.subarray(0, 10_000)
      const dead = await beginAppend(service, upload, { first, rest: content, chunked: true })
      await hasReceived(service, upload, first.length)
      const start = performance.now()
      expect(await offsetOf(service, upload)).toBe(first.length)
      expect(performance.now() - start).toBeLessThan(1000)
      expect(await dead.reply).toMatchObject({ status: 0, closed: true })
      const headers = { 'Upload-Length': `${content.length}` }
      const body = content.subarray(first.length)
      expectOffset(
        await append(service, upload, { offset: first.length, body, headers }),
        content.length,
      )
      await expectFile(service, upload, content)
    })

    it('are not stopped by a look, nor by a HEAD without Tus-Resumable', async () => {
      const content = randomBytes(200_000)
      const upload = await createUpload(service, { user, length: content.length })
      const [first, rest] = [content.subarray(0, 100_000), content.subarray(100_000)]
      const running = await beginAppend(service, upload, { first, rest })
      expect(jsonOf(await look(service, upload))).toMatchObject({ state: 'receiving' })
      expect(await head(service, upload, {})).toMatchObject({ status: 200 })
      expect(await listed(service, user)).toEqual([upload.id])
      running.goOn()
      expectOffset(await running.reply, content.length)
      await expectFile(service, upload, content)
    })

    it('are not stopped by one that is refused for its headers', async () => {
      const content = randomBytes(200_000)
      const upload = await createUpload(service, { user, length: content.length })
      const [first, rest] = [content.subarray(0, 100_000), content.subarray(100_000)]
      const running = await beginAppend(service, upload, { first, rest })
      for (const [offset, headers] of [
        ['x', {}],
        [0, { 'Content-Type': 'text/plain' }],
        [0, { 'Content-Encoding': 'gzip' }],
        [0, { 'Content-Range': 'bytes 0-3/9' }],
        [0, { 'Upload-Checksum': 'md5 x' }],
        [0, { 'Tus-Resumable': '0.2.2' }],
        [0, { Expect: 'banana' }],
      ] as const) {
        const { status } = await append(service, upload, { offset, body: 'four', headers })
        expect({ headers, status: Math.floor(status / 100) }).toEqual({ headers, status: 4 })
      }
      running.goOn()
      expectOffset(await running.reply, content.length)
      await expectFile(service, upload, content)
    })

    it('R07 of two at one offset let only one add its bytes, twenty times', async () => {
      for (let round = 0; round < 20; round += 1) {
        const name = `file-${round}`
        const contents = [randomBytes(50_000), randomBytes(50_000)]
        const upload = await createUpload(service, { user, name, length: 50_000 })
        const replies = await Promise.all(contents.map((body) => append(service, upload, { body })))
        await expectOneWinner(service, upload, {
          replies: replies.map(({ status }) => status),
          contents,
        })
      }
    })

    it('R09 finish beside a client that asks for the offset again and again', async () => {
      const content = randomBytes(2 * MIB)
      const upload = await createUpload(service, { user, length: content.length })
      const over = new AbortController()
      const asking = (async () => {
        while (!over.signal.aborted)
          expect([200, 423]).toContain((await head(service, upload)).status)
      })()
      let offset = 0
      for (let requests = 0; offset < content.length && requests < 1000; requests += 1) {
        const body = content.subarray(offset, offset + 256 * 1024)
        await append(service, upload, { offset, body })
        const next = Number((await head(service, upload)).headers['upload-offset'])
        expect(next).toBeGreaterThanOrEqual(offset)
        offset = next
      }
      over.abort()
      await asking
      expect(offset).toBe(content.length)
      await expectFile(service, upload, content)
    })

    it('are finished by a HEAD when the last one could not do it any more (I12)', async () => {
      const upload = await createUpload(service, { user, length: 'deferred' })
      await appended(service, upload, { body: 'four' })
      const caller = await callerNamed(service.users, user.userId)
      const declared = { version: upload.id, bytes: 4, length: 4 }
      await service.ledger.prepareAppend({ ...caller, ...declared })
      expect((await head(service, upload, {})).status).toBe(423)
      expect((await append(service, upload, { offset: 3, body: 'x' })).status).toBe(423)
      expect(await usageOf(service, user)).toMatchObject({ fileCount: 0 })
      expect(await offsetOf(service, upload)).toBe(4)
      await expectFile(service, upload, 'four')
    })

    it('R10 are known to have finished when the last answer is lost', async () => {
      const content = randomBytes(100_000)
      const upload = await createUpload(service, { user, length: content.length })
      const lines = { ...TUS, ...OFFSET_TYPE, Cookie: user.cookie, 'Upload-Offset': '0' }
      const start = headText(`PATCH ${upload.path}`, {
        ...lines,
        'Content-Length': `${content.length}`,
      })
      async function* send(): AsyncGenerator<Piece> {
        yield start
        yield content
        await expect.poll(() => stateOf(service, upload), POLL).toBe('finished')
      }
      await rawRequest({ port: service.port, send: send(), afterwards: 'reset' })
      expect(await offsetOf(service, upload)).toBe(content.length)
      await expectFile(service, upload, content)
      expect(await usageOf(service, user)).toMatchObject({ fileCount: 1 })
    })

    it('R32 take no byte beyond the length, chunked or announced', async () => {
      const content = randomBytes(100_000)
      const upload = await createUpload(service, { user, length: content.length })
      const tooLong = { status: 413, code: 'upload_length_exceeded' } as const
      const long = Buffer.concat([content, Buffer.from('x')])
      const announced = expectProblem(await append(service, upload, { body: long }), tooLong)
      expect(announced['length']).toBe(content.length)
      expect(await offsetOf(service, upload)).toBe(0)
      for (const pieces of [[long], [content, Buffer.from('x')]]) {
        const lines = { ...TUS, ...OFFSET_TYPE, Cookie: user.cookie, 'Upload-Offset': '0' }
        const start = headText(`PATCH ${upload.path}`, { ...lines, 'Transfer-Encoding': 'chunked' })
        const send = [start, ...pieces.map((piece) => httpChunk(piece)), httpChunk('')]
        expectProblem(await rawRequest({ port: service.port, send }), tooLong)
        const { headers } = await head(service, upload)
        expect(headers['upload-offset']).toBe('0')
      }
      await appended(service, upload, { body: content })
      await expectFile(service, upload, content)
    })

    it('R33 of a byte each make the right file', async () => {
      const content = randomBytes(150)
      const upload = await createUpload(service, { user, length: content.length })
      for (let offset = 0; offset < content.length; offset += 1) {
        await appended(service, upload, { offset, body: content.subarray(offset, offset + 1) })
      }
      await expectFile(service, upload, content)
    })

    it('H08 that are pipelined are answered up to the first, and nothing of the others counts', async () => {
      const upload = await createUpload(service, { user, length: 9 })
      const lines = { ...TUS, ...OFFSET_TYPE, Cookie: user.cookie }
      const start = (offset: string, length: string) =>
        headText(`PATCH ${upload.path}`, {
          ...lines,
          'Upload-Offset': offset,
          'Content-Length': length,
        })
      const send = [`${start('0', '4')}four${start('4', '5')}five!`]
      const { all, closed } = await rawRequest({ port: service.port, send, responses: 2 })
      expect(all.map(({ status, headers }) => [status, headers['upload-offset']])).toEqual([
        [204, '4'],
      ])
      expect(closed).toBe(true)
      await appended(service, upload, { offset: 4, body: 'five!' })
      await expectFile(service, upload, 'fourfive!')
    })

    it('are told to continue only when they may send', async () => {
      const upload = await createUpload(service, { user, length: 4 })
      const headers = { Expect: '100-continue' }
      const refused = await append(service, upload, { offset: 1, body: 'four', headers })
      expect(refused.all.map(({ status }) => status)).toEqual([409])
      const taken = await append(service, upload, { body: 'four', headers })
      expect(taken.all.map(({ status }) => status)).toEqual([100, 204])
    })
  })

  describe('an upload that falls silent', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open({ idleTimeoutMs: 300, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())

    it('is answered with what it has, and with 503 if that is nothing new', async () => {
      const user = await service.createUser(MIB)
      const upload = await createUpload(service, { user, length: 1000 })
      const first = randomBytes(400)
      const silent = await beginAppend(service, upload, { first, rest: randomBytes(600) })
      expectOffset(await silent.reply, 400)
      const nothing = { offset: 400, first: Buffer.alloc(0), rest: randomBytes(600) }
      const mute = await beginAppend(service, upload, nothing)
      const reply = await mute.reply
      expectProblem(reply, { status: 503, code: 'unavailable' })
      expect(await offsetOf(service, upload)).toBe(400)
    })
  })

  describe('a service that stops', () => {
    let service: TestService
    beforeAll(async () => {
      // One that no other suite shares: it takes no append any more. Silence alone would end none within the test.
      service = await open({ idleTimeoutMs: 300_000, ...SHORT_LINGER })
    })
    afterAll(() => service.stop())

    it('answers an append that is running with 204 and what has come', async () => {
      const user = await service.createUser(MIB)
      const content = randomBytes(300_000)
      const upload = await createUpload(service, { user, length: 'deferred' })
      const first = content.subarray(0, 10_000)
      const running = await beginAppend(service, upload, { first, rest: content, chunked: true })
      await hasReceived(service, upload, first.length)
      await service.uploads.stopAll()
      const reply = await running.reply
      expectOffset(reply, first.length)
      expect(reply).toMatchObject({ closed: true, headers: { connection: 'close' } })
      expect(await offsetOf(service, upload)).toBe(first.length)
    })
  })
}

/** One append has added all of its bytes; what the other was told says that it has not. */
async function expectOneWinner(
  service: TestService,
  upload: TusUpload,
  {
    replies,
    contents,
  }: { readonly replies: readonly number[]; readonly contents: readonly Buffer[] },
): Promise<void> {
  const won = replies.indexOf(204)
  for (const status of replies) expect([0, 204, 409, 410, 413, 423, 503]).toContain(status)
  expect(replies.filter((status) => status === 204).length).toBeLessThanOrEqual(1)
  const offset = await offsetOf(service, upload)
  if (won >= 0) return void (await expectFile(service, upload, contents[won] ?? ''))
  // Each was stopped by the other; the one whose bytes are there goes on.
  expect(offset).toBeLessThan(50_000)
}
