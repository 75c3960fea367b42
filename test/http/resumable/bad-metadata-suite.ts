import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import {
  ask,
  expectProblem,
  jsonOf,
  MIB,
  type OpenService,
  SHORT_LINGER,
  usageOf,
} from '../fixture.ts'
import {
  appended,
  base64,
  create,
  createUpload,
  expectFile,
  listed,
  TUS,
  UPLOADS,
} from './tus-requests.ts'

const WRONG_METADATA = [
  '',
  ' ',
  ',',
  'filename',
  'filename ',
  'filename %%%',
  'filename YQ',
  'filename YQ=',
  'filename YQ===',
  'filename Y Q==',
  'filename YR==',
  'filename YQ==,filename Yg==',
  'filename YQ==,',
  ',filename YQ==',
  'filename YQ== extra',
  'filename YQ==;name Yg==',
  'FILENAME YQ==',
  'note YQ==',
  `filename ${base64(Buffer.from([0xff, 0xfe]))}`,
  `filename ${base64(Buffer.from([0xed, 0xa0, 0x80]))}`,
  `filename ${base64(Buffer.from([0xc0, 0xaf]))}`,
  `filename ${base64('a')},note ${base64('x'.repeat(4000))}`,
  `filename ${base64('a')},visibility ${base64('all')}`,
  // A page of 100 uploads with 1,400 keys each would take the event loop 120 ms.
  `filename ${base64('a')},${keys(64)}`,
  `filename ${base64('a')},visibility`,
]

/** Keys without values. */
function keys(count: number): string {
  return Array.from({ length: count }, (_, index) => `key-${index}`).join(',')
}

/** The file names that a PUT refuses, too. */
const WRONG_NAMES = [
  '',
  '.',
  '..',
  'a//b',
  '/',
  'a\\b',
  'a\0b',
  'a\nb',
  'a\u007fb',
  'x'.repeat(256),
  'ü'.repeat(128),
]

/** tus 1.0.0, header `Upload-Metadata`: input that no client should send gets a 400, and nothing is created. */
export function badMetadataSuite(open: OpenService): void {
  describe('wrong metadata of a resumable upload', () => {
    let service: TestService
    let user: TestUser
    beforeAll(async () => {
      service = await open(SHORT_LINGER)
      user = await service.createUser(MIB)
    })
    afterAll(() => service.stop())
    afterEach(async () => {
      expect(await listed(service, user)).toEqual([])
      expect(await usageOf(service, user)).toMatchObject({ used: 0, reserved: 0 })
    })

    it.each(WRONG_METADATA)('an Upload-Metadata of "%s" is 400', async (value) => {
      const reply = await create(service, { user, length: 4, metadata: value })
      expect(reply.status).toBe(400)
      expect(jsonOf(reply)['code']).toMatch(/^invalid_(parameter|file_name)$/)
    })

    it('none at all is 400', async () => {
      const headers = { ...TUS, 'Upload-Length': '4', 'Content-Length': '0' }
      const reply = await ask(service, { user, method: 'POST', path: UPLOADS, headers })
      expect(expectProblem(reply, { status: 400, code: 'invalid_parameter' })['parameter']).toBe(
        'Upload-Metadata',
      )
    })

    it.each(WRONG_NAMES)('the file name %j is refused, as by a PUT', async (name) => {
      for (const key of ['filename', 'name']) {
        const reply = await create(service, { user, length: 4, metadata: `${key} ${base64(name)}` })
        expectProblem(reply, { status: 400, code: 'invalid_file_name' })
      }
    })

    it('file names that a PUT takes are taken', async () => {
      const other = await service.createUser(MIB)
      for (const name of [
        '__proto__',
        'constructor',
        'CON',
        'a.',
        'a ',
        '\ufeffbom',
        '🎬',
        'ü'.repeat(127),
        '%2f',
        'é',
        'e\u0301',
      ]) {
        const made = await createUpload(service, { user: other, name, length: 1 })
        await appended(service, made, { body: name.slice(0, 1).normalize().replace(/[^]/, 'x') })
        await expectFile(service, made, 'x')
      }
      expect(await usageOf(service, other)).toMatchObject({ fileCount: 11, used: 11 })
    })
  })
}
