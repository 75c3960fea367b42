import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService } from '../../support/service/test-service.ts'
import { expectProblem, MIB, type OpenService, SHORT_LINGER } from '../fixture.ts'
import {
  append,
  base64,
  beginAppend,
  createUpload,
  expectFile,
  expectOffset,
  offsetOf,
  type TusUpload,
} from './tus-requests.ts'

/** tus 1.0.0, extension "Checksum". */
export function uploadChecksumsSuite(open: OpenService): void {
  describe('the checksum of an append', () => {
    let service: TestService
    let upload: TusUpload
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      upload = await createUpload(service, { user: await service.createUser(MIB), length: 9 })
    })

    it.each(['sha1', 'sha256', 'SHA1'])('a checksum of %s is checked', async (algorithm) => {
      const checksum = (text: string) =>
        `${algorithm} ${createHash(algorithm.toLowerCase()).update(text).digest('base64')}`
      const send = (offset: number, body: string, of = body) =>
        append(service, upload, { offset, body, headers: { 'Upload-Checksum': checksum(of) } })
      expectOffset(await send(0, 'four'), 4)
      expectProblem(await send(4, 'five!', 'five?'), { status: 460, code: 'checksum_mismatch' })
      expect(await offsetOf(service, upload)).toBe(4)
      expectOffset(await send(4, 'five!'), 9)
      await expectFile(service, upload, 'fourfive!')
    })

    it('R31 makes the append count whole or not at all', async () => {
      const headers = {
        'Upload-Checksum': `sha1 ${createHash('sha1').update('fourfive!').digest('base64')}`,
      }
      const first = Buffer.from('four')
      const running = await beginAppend(service, upload, {
        first,
        rest: Buffer.from('five!'),
        headers,
        afterwards: 'reset',
      })
      const wrong = { ...headers, 'Upload-Checksum': `sha1 ${base64('x'.repeat(20))}` }
      expect(await offsetOf(service, upload)).toBe(0)
      await running.reply
      expectProblem(await append(service, upload, { body: 'fourfive!', headers: wrong }), {
        status: 460,
        code: 'checksum_mismatch',
      })
      expect(await offsetOf(service, upload)).toBe(0)
      expectOffset(await append(service, upload, { body: 'fourfive!', headers }), 9)
      await expectFile(service, upload, 'fourfive!')
    })

    it('R31 of an append that a newer request stops is not answered', async () => {
      const headers = { 'Upload-Checksum': `sha1 ${base64('x'.repeat(20))}` }
      const first = Buffer.from('four')
      const running = await beginAppend(service, upload, { first, missing: 5, headers })
      expect(await offsetOf(service, upload)).toBe(0)
      expect(await running.reply).toMatchObject({ status: 0, closed: true })
      expect(await offsetOf(service, upload)).toBe(0)
    })

    it.each([
      'md5 CY9rzUYh03PK3k6DJie09g==',
      'sha1',
      'sha1 x',
      `sha1  ${base64('x'.repeat(20))}`,
      `sha256 ${base64('x'.repeat(20))}`,
      `sha1 ${base64('x'.repeat(20))}, sha1 ${base64('x'.repeat(20))}`,
      `sha1 ${base64('x'.repeat(20))} more`,
      '',
    ])('a checksum that reads "%s" is 400, and changes nothing', async (checksum) => {
      const headers = { 'Upload-Checksum': checksum }
      const reply = await append(service, upload, { body: 'four', headers })
      expectProblem(reply, { status: 400, code: 'invalid_parameter' })
      expect(await offsetOf(service, upload)).toBe(0)
    })
  })
}
