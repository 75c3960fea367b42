import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import { parseFileName } from '../../../src/core/files/file-name.ts'
import type { Precondition } from '../../../src/core/files/precondition.ts'
import type { AbortUpload, UploadOutcome } from '../../../src/core/uploads/upload-ledger.ts'
import { commitUnanswered, onceFailing, outage } from '../../support/faults/faults.ts'
import { incomingFile, stalledContent } from '../../support/http/incoming-file.ts'
import { leftovers, NOTHING_LEFT, openTestCore, settle } from '../../support/service/test-core.ts'
import { openTestRepository } from '../../support/service/test-repository.ts'
import { outcomeOf } from '../ledger/fixture.ts'

const CREATE_ONLY: Precondition = { ifNoneMatch: '*' }
const MIB = 2 ** 20

const failed = { code: 'precondition_failed' }

describe('the digest of an upload', () => {
  it('a digest that the content has is accepted', async () => {
    await using core = await openTestCore()
    const { upload } = await openTestRepository(core)
    const sha256 = digestOf('hello')
    expect((await upload('a', 'hello', { sha256 })).file.sha256).toBe(sha256)
  })

  it.each(['old', undefined])(
    'a digest that the content has not leaves %j, and nothing else (I2)',
    async (old) => {
      await using core = await openTestCore()
      const { upload, read, stat, usage } = await openTestRepository(core)
      const before = old === undefined ? undefined : (await upload('a', old)).file
      const figures = await usage()
      await expect(upload('a', 'hello', { sha256: digestOf('hullo') })).rejects.toMatchObject({
        code: 'digest_mismatch',
        facts: { sha256: digestOf('hello') },
      })
      expect(await stat('a').catch(() => undefined)).toEqual(before)
      expect(await usage()).toEqual(figures)
      // At once, without a sweep.
      expect(await leftovers(core)).toEqual(NOTHING_LEFT)
      await settle(core)
      expect(await read('a').catch(() => undefined)).toBe(old)
    },
  )

  it('comes before what the form says of visibility, and after how the request ended', async () => {
    await using core = await openTestCore()
    const { upload, repository, caller } = await openTestRepository(core)
    const ended = new AppError('truncated_body', 'The body ended early.')
    const incoming = incomingFile('hello', { end: () => Promise.reject(ended) })
    const sha256 = digestOf('hullo')
    await expect(upload('a', incoming, { sha256 })).rejects.toBe(ended)
    const unsaid = (): never => {
      throw new AppError('invalid_parameter', 'No such visibility.')
    }
    const request = { subject: caller, name: parseFileName('a'), visibility: unsaid, sha256 }
    const signal = AbortSignal.timeout(1000)
    const uploading = repository.upload({ ...request, incoming: incomingFile('hello'), signal })
    await expect(uploading).rejects.toMatchObject({ code: 'digest_mismatch' })
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('the visibility that a form says after the file', () => {
  it('refuses the upload when it is none', async () => {
    await using core = await openTestCore()
    const { repository, upload, read, caller } = await openTestRepository(core)
    await upload('a', 'old')
    const refusal = new AppError('invalid_parameter', 'No such visibility.')
    const visibility = (): never => {
      throw refusal
    }
    const request = { subject: caller, name: parseFileName('a'), visibility }
    const signal = AbortSignal.timeout(1000)
    const uploading = repository.upload({ ...request, incoming: incomingFile('new'), signal })
    await expect(uploading).rejects.toBe(refusal)
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

describe('identical bytes again', () => {
  it('are a new version of the same digest and size; the old object is garbage', async () => {
    await using core = await openTestCore()
    const { upload, read, usage } = await openTestRepository(core)
    const first = await upload('a', 'hello')
    const figures = await usage()
    const second = await upload('a', 'hello')
    expect(second.file.sha256).toBe(first.file.sha256)
    expect(second.file.version).not.toBe(first.file.version)
    expect(await usage()).toEqual(figures)
    expect((await leftovers(core)).orphans).toEqual([first.file.objectKey])
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
    expect(await read('a')).toBe('hello')
  })
})

describe('the precondition of an upload', () => {
  it('a precondition that is not met refuses the upload before the body is read, and stores nothing', async () => {
    await using core = await openTestCore()
    const { upload, read } = await openTestRepository(core)
    await upload('a', 'old')
    const { content } = stalledContent('never read', '')
    const incoming = incomingFile('', { content, size: { min: 10, announced: 10 } })
    await expect(upload('a', incoming, { precondition: CREATE_ONLY })).rejects.toMatchObject(failed)
    expect(content.readableFlowing).toBeNull()
    expect(await read('a')).toBe('old')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('comes before the largest file, that before the number of files, that before the capacity', async () => {
    await using core = await openTestCore({ baseCapacity: 5, limits: { maxFiles: 1 } })
    const options = { maxFileSize: 10 }
    const { upload, repository, caller } = await openTestRepository(core, options)
    await upload('a', 'old')
    const outcomes = async (name: string, min: number, precondition: Precondition = {}) => {
      const { content } = stalledContent('never read', '')
      const incoming = incomingFile('', { content, size: { min, announced: min } })
      const outcome = await outcomeOf(upload(name, incoming, { precondition }))
      expect(content.readableFlowing).toBeNull()
      const asked = { subject: caller, name: parseFileName(name), min, precondition }
      expect(await outcomeOf(repository.admit(asked))).toBe(outcome)
      return outcome
    }
    expect(await outcomes('b', 11, { ifMatch: '*' })).toBe('precondition_failed')
    expect(await outcomes('b', 11)).toBe('file_too_large')
    expect(await outcomes('b', 10)).toBe('file_count_exceeded')
    expect(await outcomes('a', 10)).toBe('capacity_exceeded')
    expect(await outcomes('a', 10, CREATE_ONLY)).toBe('precondition_failed')
  })

  it('comes before what the garbage may hold, which a client that asks first is told as well', async () => {
    await using core = await openTestCore({ baseCapacity: 30 * MIB })
    const { upload, repository, caller } = await openTestRepository(core)
    const content = 'x'.repeat(25 * MIB)
    for (let round = 0; round < 4; round += 1) await upload('a', content)
    const asked = { subject: caller, name: parseFileName('a'), min: 25 * MIB }
    const outcome = await outcomeOf(upload('a', content))
    expect(outcome).toBe('too_many_requests')
    expect(await outcomeOf(repository.admit(asked))).toBe(outcome)
    const precondition = CREATE_ONLY
    expect(await outcomeOf(repository.admit({ ...asked, precondition }))).toBe(
      'precondition_failed',
    )
  })

  it('comes after a suspension that the access token did not know of yet', async () => {
    await using core = await openTestCore()
    const { upload, userId } = await openTestRepository(core, { maxFileSize: 10 })
    await upload('a', 'old')
    await core.users.setUserStatus(userId, 'suspended')
    const precondition = { ifMatch: '*' } as const
    await expect(upload('a', 'new', { precondition })).rejects.toMatchObject({
      code: 'user_suspended',
    })
  })

  it('a precondition that is met no more at the end refuses the upload, and the other file stands (I2)', async () => {
    await using core = await openTestCore()
    const { upload, read, usage } = await openTestRepository(core)
    const { file } = await upload('a', 'old')
    const { content, stalled, go } = stalledContent('ne', 'w')
    const incoming = incomingFile('', { content, size: { min: 3, announced: 3 } })
    const uploading = upload('a', incoming, { precondition: { ifMatch: [file.version] } })
    await stalled
    await upload('a', 'other')
    go()
    await expect(uploading).rejects.toMatchObject(failed)
    expect(await read('a')).toBe('other')
    expect(await usage()).toMatchObject({ used: 5, reserved: 0, fileCount: 1 })
    await settle(core)
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })

  it('is kept when it turns out only while the failed upload is undone', async () => {
    await using core = await openTestCore()
    const commit = commitUnanswered(core.ledger)
    const abort = onceFailing<AbortUpload, UploadOutcome | undefined>(
      () => Promise.reject(outage()),
      (upload) => core.ledger.abort(upload),
    )
    const { upload, read } = await openTestRepository(core, { ledger: { commit, abort } })
    await expect(upload('a', 'new')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await read('a')).toBe('new')
  })

  it('is met by the upload itself when its commit is asked again', async () => {
    await using core = await openTestCore()
    const commit = commitUnanswered(core.ledger)
    const { upload, read } = await openTestRepository(core, { ledger: { commit } })
    const { file, replaced } = await upload('a', 'new', { precondition: CREATE_ONLY })
    expect({ name: file.name, replaced }).toEqual({ name: 'a', replaced: false })
    expect(await read('a')).toBe('new')
    expect(await leftovers(core)).toEqual(NOTHING_LEFT)
  })
})

function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}
