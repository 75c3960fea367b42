import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { preconditionFailed } from '../../../src/core/files/precondition.ts'
import type { Version } from '../../../src/core/objects/object-key.ts'
import type { ResumableUploads } from '../../../src/core/resumable/resumable-uploads.ts'
import { incomingFile } from '../../support/http/incoming-file.ts'
import { never } from '../../support/objects.ts'
import { RETENTION_MS, sweepOnce } from '../../support/service/test-core.ts'
import { appendIn, createIn, openS3Uploads, type S3Uploads } from './s3-uploads.ts'

let opened: S3Uploads
let uploads: ResumableUploads

beforeEach(async () => {
  opened = await openS3Uploads()
  uploads = opened.open()
})
afterEach(() => opened[Symbol.asyncDispose]())

const garbage = () =>
  opened.core.database.kysely.selectFrom('garbage').select(['user_id', 'bytes']).execute()

const find = ({ version }: { readonly version: Version }) =>
  opened.core.ledger.findResumable({ userId: opened.caller.userId, version })

describe('an upload that no append has claimed', () => {
  it('is cancelled without a request to the store, now or in a sweep, and leaves no row', async () => {
    const { caller, core, s3, objects } = opened
    const { version } = await createIn(uploads, caller, 5)
    await uploads.cancel({ subject: caller, version })
    core.clock.now += RETENTION_MS + 1
    await sweepOnce({ ledger: core.ledger, objects })
    expect(s3.calls).toEqual([])
    expect(await core.database.kysely.selectFrom('uploads').select('state').execute()).toEqual([])
    const cancelled = uploads.cancel({ subject: caller, version })
    await expect(cancelled).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('an append without a byte', () => {
  it('claims nothing and leaves nothing, unless it seals', async () => {
    const { caller, s3 } = opened
    const { version } = await createIn(uploads, caller, undefined)
    for (let times = 0; times < 3; times += 1) {
      const { offset } = await appendIn(uploads, caller, { version, content: '' })
      expect(offset).toBe(0)
    }
    expect(await find({ version })).toMatchObject({ epoch: 0, holder: undefined })
    expect(await garbage()).toEqual([])
    expect(s3.calls).toEqual([])
    const sealing = { version, content: '', length: 0 }
    expect((await appendIn(uploads, caller, sealing)).committed).toBeDefined()
  })

  it('declares a length, and is compared with its checksum', async () => {
    const { caller } = opened
    const { version } = await createIn(uploads, caller, undefined)
    const declaring = { subject: caller, version, offset: 0, bodySize: 0, length: 9 }
    const rest = { open: () => never() as never, signal: never(), shutdown: never() }
    await uploads.append({ ...declaring, ...rest })
    expect(await find({ version })).toMatchObject({ length: 9, epoch: 0 })
    const checksum = { algorithm: 'sha1', digest: 'wrong' } as const
    const append = appendIn(uploads, caller, { version, checksum, content: '' })
    await expect(append).rejects.toMatchObject({ code: 'checksum_mismatch' })
  })
})

describe('the tail key of an append', () => {
  const broken = new AppError('truncated_body', 'The body is incomplete.')

  it('is forgotten if the body breaks off before anything was sent under it', async () => {
    const { caller } = opened
    const { version } = await createIn(uploads, caller, undefined)
    const content = new Readable({ read: (): void => void content.destroy(broken) })
    const open = () => ({ ...incomingFile(''), content, [Symbol.dispose]: () => undefined })
    const append = appendIn(uploads, caller, { version, content: 'hello', open })
    await expect(append).rejects.toMatchObject({ code: 'unavailable' })
    expect(await find({ version })).toMatchObject({ offset: 0, holder: undefined })
    expect(await garbage()).toEqual([])
  })

  it('counts as the bytes that were sent if nobody knows whether the store has them', async () => {
    const { caller, s3 } = opened
    const { version } = await createIn(uploads, caller, 9)
    s3.inject(
      'PutObject',
      ...Array.from({ length: 9 }, () => () => Promise.reject(new Error('cut'))),
    )
    const append = appendIn(uploads, caller, { version, content: 'hello' })
    await expect(append).rejects.toMatchObject({ code: 'unavailable' })
    expect(await garbage()).toEqual([{ user_id: caller.userId, bytes: 5 + 4096 }])
  })
})

describe('a sealed upload whose commit was refused', () => {
  it('is read once for its digest, and not for each further attempt', async () => {
    const { caller, core, s3 } = opened
    const { version } = await createIn(uploads, caller, 5)
    await appendIn(uploads, caller, { version, content: 'hel' })
    const commit = vi.spyOn(core.ledger, 'commit').mockRejectedValue(preconditionFailed())
    // Another instance, which does not have the state of the digest.
    const elsewhere = opened.open()
    const refused = { code: 'precondition_failed' }
    const last = appendIn(elsewhere, caller, { version, offset: 3, content: 'lo' })
    await expect(last).rejects.toMatchObject(refused)
    const read = s3.calls.filter((call) => call === 'GetObject').length
    const resumed = { subject: caller, version, signal: never(), shutdown: never() }
    await expect(elsewhere.resume(resumed)).rejects.toMatchObject(refused)
    expect(s3.calls.filter((call) => call === 'GetObject')).toHaveLength(read)
    commit.mockRestore()
    expect(await elsewhere.resume(resumed)).toMatchObject({ state: 'finished' })
    expect(s3.calls.filter((call) => call === 'GetObject')).toHaveLength(read)
  })
})
