import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import { fileBody } from '../../support/http/multipart-body.ts'
import { rawRequest } from '../../support/http/raw-http.ts'
import type { TestService } from '../../support/service/test-service.ts'
import {
  bodyOf,
  download,
  expectNothingReserved,
  expectOnlyObjectsOf,
  expectProblem,
  expectUntouched,
  headOf,
  MIB,
  type OpenService,
  placeFile,
  startDownload,
  upload,
  usageOf,
} from '../fixture.ts'

const FULL = { status: 403, code: 'capacity_exceeded' } as const
const CLOSED_DOWNLOADS = 500

/** Connections that end early, go on, or need no object. */
export function connectionsSuite(open: OpenService): void {
  describe('a client', () => {
    let service: TestService
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.stop())

    it.each(['POST', 'PUT'] as const)(
      'H02 that is gone before the answer to its whole %s has all of it stored or nothing (I1, I4)',
      async (method) => {
        const { user, name, content: first } = await placeFile(service)
        let before = first
        for (let round = 0; round < 10; round += 1) {
          const content = randomBytes(50_000 + round)
          const body = bodyOf(content, method)
          const send = [
            Buffer.concat([Buffer.from(headOf({ method, user, length: body.length })), body]),
          ]
          await rawRequest({ port: service.port, send, afterwards: 'reset' }).catch(() => undefined)
          await expectNothingReserved(service, user)
          const found = (await download(service, { user })).body
          expect(found.equals(before) || found.equals(content)).toBe(true)
          expect(await usageOf(service, user)).toMatchObject({ used: found.length, fileCount: 1 })
          // What it does not know it may send again.
          expect((await upload(service, { method, user, content })).status).toBe(200)
          before = content
        }
        expect((await download(service, { user })).body.equals(before)).toBe(true)
        await expectOnlyObjectsOf(service, { user, names: [name] })
      },
    )

    it(`H06 leaves nothing open after closing its connection in ${CLOSED_DOWNLOADS} downloads`, async () => {
      const placed = await placeFile(service, { size: 4 * MIB })
      await closeInMidDownload(5)
      const before = await openDescriptors()
      await closeInMidDownload(CLOSED_DOWNLOADS)
      await expect.poll(openDescriptors, { timeout: 20_000 }).toBeLessThan(before + 50)
      await expectUntouched(service, placed)

      async function closeInMidDownload(times: number): Promise<void> {
        for (let at = 0; at < times; at += 10) {
          const one = async (): Promise<void> => {
            const response = await startDownload(service, { user: placed.user })
            expect(response.statusCode).toBe(200)
            response.destroy()
          }
          await Promise.all(Array.from({ length: 10 }, one))
        }
      }
    })

    it('H07 that asks for a head is answered without the object', async () => {
      const { user, name, content } = await placeFile(service, { size: 100_000 })
      const { headers } = await download(service, { user })
      const file = await service.ledger.findFile({
        userId: user.userId,
        name: parseFileName(name),
        audience: 'owner',
      })
      if (file === undefined) throw new Error('There is no such file.')
      await service.objects.remove({ key: file.objectKey, signal: AbortSignal.timeout(10_000) })
      const head = await download(service, { user, method: 'HEAD' })
      expect(head).toMatchObject({
        status: 200,
        headers: { 'content-length': `${content.length}`, etag: headers['etag'] },
        body: Buffer.of(),
      })
      expect((await download(service, { user })).status).toBeGreaterThanOrEqual(500)
    })

    it('H08 that goes on after its refusal is answered, or its connection closed', async () => {
      const { user } = await placeFile(service, { capacity: 1000 })
      const form = fileBody(Buffer.alloc(5000))
      const get = `GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n`
      for (const part of [form.length, 200]) {
        const send = [headOf({ user, name: 'b', length: form.length }), form.subarray(0, part), get]
        const reply = await rawRequest({
          port: service.port,
          send,
          responses: 2,
          timeoutMs: 20_000,
        })
        expectProblem(reply, FULL)
        expect(reply.all.length === 2 || reply.closed).toBe(true)
      }
    })

    it('H08 that goes on after an upload is answered on the same connection', async () => {
      const { user } = await placeFile(service)
      const content = randomBytes(3000)
      const form = fileBody(content)
      const get = `GET /users/me/repo/file.bin HTTP/1.1\r\nHost: x\r\nCookie: ${user.cookie}\r\n\r\n`
      const first = rawRequest({
        port: service.port,
        responses: 2,
        send: [headOf({ user, length: form.length }), form, { answers: 1 }, get],
      })
      const { all } = await first
      expect(all.map(({ status }) => status)).toEqual([200, 200])
      expect(all[1]?.body.equals(content)).toBe(true)
    })
  })
}

/** Files and sockets that this process has open. */
async function openDescriptors(): Promise<number> {
  return (await readdir('/dev/fd')).length
}
