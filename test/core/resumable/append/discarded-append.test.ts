import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/errors.ts'
import { parseFileName } from '../../../../src/core/files/file-name.ts'
import { objectKey } from '../../../../src/core/objects/object-key.ts'
import type { ResumableUploads } from '../../../../src/core/resumable/resumable-uploads.ts'
import { digest, never, read } from '../../../support/objects.ts'
import { appendIn, createIn, openS3Uploads, type S3Uploads } from '../s3-uploads.ts'

let opened: S3Uploads
let uploads: ResumableUploads

beforeEach(async () => {
  opened = await openS3Uploads()
  uploads = opened.open()
})
afterEach(() => opened[Symbol.asyncDispose]())

async function expectStored(content: string): Promise<void> {
  const { core, caller, objects } = opened
  const file = await core.ledger.findFile({
    ...caller,
    name: parseFileName('a'),
    audience: 'owner',
  })
  if (file === undefined) throw new Error('There is no file.')
  const expected = { size: content.length, sha256: digest(Buffer.from(content)) }
  expect(file).toMatchObject(expected)
  expect(await read(objects, file.objectKey)).toEqual(expected)
}

describe('a small content in one append, on a store that could write it as the object', () => {
  it.each([5, 3])(
    'R31 can be sent again if %d of its 5 bytes came with a wrong checksum',
    async (size) => {
      const { caller, s3 } = opened
      const { version } = await createIn(uploads, caller, 5)
      const checksum = { algorithm: 'sha1', digest: sha1('right') } as const
      const wrong = { version, checksum, content: 'wrong'.slice(0, size) }
      const refused = { code: 'checksum_mismatch' }
      await expect(appendIn(uploads, caller, wrong)).rejects.toMatchObject(refused)
      expect([...s3.objects.keys()]).not.toContain(objectKey(caller.userId, version))
      const named = { subject: caller, version, signal: never(), shutdown: never() }
      expect(await uploads.resume(named)).toMatchObject({ offset: 0 })
      await appendIn(uploads, caller, { version, checksum, content: 'right' })
      await expectStored('right')
    },
  )

  it('R22 can be sent again if it was refused before the store heard of it', async () => {
    const { caller } = opened
    const { version } = await createIn(uploads, caller, 5)
    const { space } = opened
    opened.space = () => Promise.reject(new AppError('insufficient_storage', 'The disk is full.'))
    const refused = { code: 'insufficient_storage' }
    const append = { version, content: 'right' }
    await expect(appendIn(uploads, caller, append)).rejects.toMatchObject(refused)
    opened.space = space
    await appendIn(uploads, caller, append)
    await expectStored('right')
  })
})

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('base64')
}
