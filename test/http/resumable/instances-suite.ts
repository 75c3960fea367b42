import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { digest } from '../../support/objects.ts'
import type {
  TestService,
  TestServiceOptions,
  TestUser,
} from '../../support/service/test-service.ts'
import { download, jsonOf, MIB, SHORT_LINGER, usageOf } from '../fixture.ts'
import {
  answerOthers,
  append,
  appended,
  beginAppend,
  cancel,
  createUpload,
  expectFile,
  expectOffset,
  hasReceived,
  head,
  listed,
  look,
  offsetOf,
  POLL,
  stateOf,
} from './tus-requests.ts'

type OpenTwins = (options: TestServiceOptions) => Promise<readonly [TestService, TestService]>

/** One resumable upload through two instances, and through one that starts after the other has ended. */
export function uploadInstancesSuite(openTwins: OpenTwins): void {
  describe('a resumable upload through two instances', () => {
    let here: TestService
    let there: TestService
    let user: TestUser
    beforeAll(async () => {
      ;[here, there] = await openTwins(SHORT_LINGER)
    })
    afterAll(() => Promise.all([here.stop(), there.stop()]))
    beforeEach(async () => {
      user = await here.createUser(64 * MIB)
    })

    it('R33 takes its appends by turns, and is read whole for its digest', async () => {
      const content = randomBytes(300_000)
      const upload = await createUpload(here, { user, length: content.length })
      for (let offset = 0, turn = 0; offset < content.length; offset += 10_000, turn += 1) {
        const service = turn % 2 === 0 ? here : there
        await appended(service, upload, { offset, body: content.subarray(offset, offset + 10_000) })
        expect(await offsetOf(turn % 3 === 0 ? here : there, upload)).toBe(offset + 10_000)
      }
      await expectFile(there, upload, content)
      const { file } = jsonOf(await look(here, upload))
      expect(file).toMatchObject({ size: content.length, version: upload.id })
    })

    it('R02 is continued on the other within 5 s, with all that the first has received', async () => {
      const content = randomBytes(300_000)
      const upload = await createUpload(here, { user, length: 'deferred' })
      const first = content.subarray(0, 10_000)
      const dead = await beginAppend(here, upload, { first, rest: content, chunked: true })
      await hasReceived(here, upload, first.length)
      using _job = answerOthers(here)
      const start = performance.now()
      expect(await offsetOf(there, upload)).toBe(first.length)
      expect(performance.now() - start).toBeLessThan(5_000)
      expect(await dead.reply).toMatchObject({ status: 0, closed: true })
      const headers = { 'Upload-Length': `${content.length}` }
      const body = content.subarray(first.length)
      expectOffset(
        await append(there, upload, { offset: first.length, body, headers }),
        content.length,
      )
      await expectFile(here, upload, content)
    })

    it('R06 is taken from one that does not answer, which records nothing any more', async () => {
      const content = randomBytes(300_000)
      const upload = await createUpload(here, { user, length: content.length })
      const [first, rest] = [content.subarray(0, 100_000), content.subarray(100_000, 200_000)]
      // Nobody asks it to stop: its job does not run.
      const stuck = await beginAppend(here, upload, { first, rest })
      const offset = await offsetOf(there, upload)
      expect(offset).toBe(0)
      await appended(there, upload, { offset, body: content.subarray(offset, 150_000) })
      stuck.goOn()
      expect(await stuck.reply).toMatchObject({ status: 0, closed: true })
      expect(await offsetOf(there, upload)).toBe(150_000)
      await appended(there, upload, { offset: 150_000, body: content.subarray(150_000) })
      await expectFile(here, upload, content)
    })

    it('R07 takes the bytes of one of two appends at once, twenty times', async () => {
      using _here = answerOthers(here)
      using _there = answerOthers(there)
      for (let round = 0; round < 20; round += 1) {
        const contents = [randomBytes(40_000), randomBytes(40_000)] as const
        const name = `file-${round}`
        const upload = await createUpload(here, { user, name, length: 40_000 })
        const replies = await Promise.all([
          append(here, upload, { body: contents[0] }),
          append(there, upload, { body: contents[1] }),
        ])
        const statuses = replies.map(({ status }) => status)
        expect(statuses.filter((status) => status === 204).length).toBeLessThanOrEqual(1)
        for (const status of statuses) expect([0, 204, 409, 410, 423, 503]).toContain(status)
        const won = statuses.indexOf(204)
        const winner = contents[won]
        const offset = winner === undefined ? await offsetOf(here, upload) : 0
        expect(offset).toBeLessThan(40_000)
        if (winner !== undefined) await expectFile(here, upload, winner)
      }
    })

    it('R08 of different contents ends as the bytes of one file, or is lost', async () => {
      using _here = answerOthers(here)
      using _there = answerOthers(there)
      const size = 9 * MIB
      const contents = [Buffer.alloc(size, 'a'), Buffer.alloc(size, 'b')] as const
      const upload = await createUpload(here, { user, length: size })
      let status = 200
      for (let offset = 0, turn = 0; offset < size && turn < 40; turn += 1) {
        const service = turn % 2 === 0 ? here : there
        const body = contents[turn % 2 === 0 ? 0 : 1].subarray(offset, offset + 1.5 * MIB)
        await append(service, upload, { offset, body })
        const reply = await head(service, upload)
        status = reply.status
        if (status !== 200) break
        offset = Number(reply.headers['upload-offset'])
      }
      const told = await look(here, upload)
      const isLost = status === 410
      const end = isLost ? { outcome: 'lost' } : { state: 'finished', file: { size } }
      expect(jsonOf(told)).toMatchObject(end)
      if (isLost) return
      const { body } = await download(here, { user })
      expect(jsonOf(told)['file']).toMatchObject({ sha256: digest(body) })
      expect(await usageOf(here, user)).toMatchObject({ used: size, reserved: 0, fileCount: 1 })
    })

    it('R10 is finished once, whoever asks', async () => {
      for (let round = 0; round < 2; round += 1) {
        using _job = round === 0 ? undefined : answerOthers(here)
        const content = randomBytes(50_000)
        const name = `file-${round}`
        const upload = await createUpload(here, { user, name, length: content.length })
        const last = append(here, upload, { body: content })
        await expect
          .poll(() => stateOf(there, upload), { interval: 1, timeout: 10_000 })
          .not.toBe('open')
        const told = await Promise.all([head(here, upload), head(there, upload), last])
        for (const { status } of told) expect([0, 200, 204, 423]).toContain(status)
        await expect.poll(async () => (await head(there, upload)).status, POLL).toBe(200)
        const offset = await offsetOf(there, upload)
        if (offset < content.length) {
          await appended(there, upload, { offset, body: content.subarray(offset) })
        }
        await expectFile(there, upload, content)
      }
      expect(await usageOf(here, user)).toMatchObject({ fileCount: 2, reserved: 0 })
    })

    it('is cancelled through the other one, and its append ends', async () => {
      using _job = answerOthers(here)
      const upload = await createUpload(here, { user, length: 300_000 })
      const first = randomBytes(100_000)
      const running = await beginAppend(here, upload, { first, rest: randomBytes(200_000) })
      expect((await cancel(there, upload)).status).toBe(204)
      expect((await running.reply).status).toBe(410)
      expect(await usageOf(here, user)).toMatchObject({ used: 0, reserved: 0 })
      expect(await listed(here, user)).toEqual([])
    })
  })

  describe('a resumable upload over a restart', () => {
    it('R30 goes on where the instance that stopped has answered', async () => {
      const [here, there] = await openTwins(SHORT_LINGER)
      const user = await here.createUser(64 * MIB)
      const content = randomBytes(10 * MIB)
      const upload = await createUpload(here, { user, length: 'deferred' })
      await appended(here, upload, { body: content.subarray(0, 3 * MIB) })
      const offset = 3 * MIB
      const first = content.subarray(offset, offset + 10_000)
      const end = offset + first.length
      const running = await beginAppend(here, upload, {
        offset,
        first,
        rest: content,
        chunked: true,
      })
      await hasReceived(here, upload, end)
      await here.uploads.stopAll()
      expectOffset(await running.reply, end)
      await here.stop()
      const next = await offsetOf(there, upload)
      expect(next).toBe(end)
      const headers = { 'Upload-Length': `${content.length}` }
      const body = content.subarray(next)
      expectOffset(await append(there, upload, { offset: next, body, headers }), content.length)
      await expectFile(there, upload, content)
      await there.stop()
    })
  })
}
