import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/errors.ts'
import type { ObjectStore } from '../../../../src/core/objects/object-store.ts'
import { objectKey, type Version } from '../../../../src/core/objects/object-key.ts'
import { createFilesystemStore } from '../../../../src/object-store/filesystem/store.ts'
import { faultyStore } from '../../../support/faults/faults.ts'
import { filesIn } from '../../../support/folder.ts'
import { digest, never, read } from '../../../support/objects.ts'
import { appendIn, createIn, openS3Uploads, type S3Uploads } from '../s3-uploads.ts'
import { beginIn } from './begun-append.ts'

let opened: S3Uploads
let directory: string
let files: ObjectStore

beforeEach(async () => {
  opened = await openS3Uploads()
  directory = await mkdtemp(join(tmpdir(), 'cloud-repository-fenced-'))
  files = createFilesystemStore({ directory })
  await files.prepare(never())
})
afterEach(async () => {
  await opened[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

/** As a request does for an append that does not end in time. */
async function fence(version: Version): Promise<void> {
  const { core, caller } = opened
  const found = await core.ledger.findResumable({ userId: caller.userId, version })
  if (found === undefined || !(await core.ledger.fence(found))) throw new Error('Not fenced.')
}

describe('an append that was fenced', () => {
  it('removes a part that it stores after the finish (R41)', async () => {
    const { caller, s3 } = opened
    const [here, there] = [opened.open(), opened.open()]
    const { version } = await createIn(here, caller, 5)
    const checksum = { algorithm: 'sha1', digest: 'of other bytes' } as const
    const fenced = await beginIn(here, caller, { version, checksum, content: 'wrong', sent: '' })
    await fence(version)
    await appendIn(there, caller, { version, content: 'right' })
    await fenced.end('wrong').catch(() => undefined)
    expect(s3.calls).toContain('UploadPart')
    expect(s3.uploads.size).toBe(0)
    expect([...s3.objects.keys()]).toEqual([expect.stringContaining(version)])
  })

  it('removes a tail that it stores after the finish (R41)', async () => {
    const { caller, s3 } = opened
    const [here, there] = [opened.open(), opened.open()]
    const { version } = await createIn(here, caller, 5)
    const append = { version, content: 'wrong', sent: '', bodySize: 3 }
    const fenced = await beginIn(here, caller, append)
    await fence(version)
    await appendIn(there, caller, { version, content: 'right' })
    await fenced.end('wro').catch(() => undefined)
    expect(s3.calls.filter((call) => call === 'PutObject')).toHaveLength(2)
    expect([...s3.objects.keys()]).toEqual([expect.stringContaining(version)])
  })

  it('keeps a tail that was recorded before the fence (I11)', async () => {
    const { caller, core } = opened
    const here = opened.open()
    const { version } = await createIn(here, caller, 5)
    const record = core.ledger.recordAppend.bind(core.ledger)
    core.ledger.recordAppend = async (asked) => {
      core.ledger.recordAppend = record
      await record({ ...asked, holderMs: 15_000 })
      await fence(version)
      return await record(asked)
    }
    expect(await appendIn(here, caller, { version, content: 'rig' })).toMatchObject({
      cut: 'fenced',
    })
    await appendIn(opened.open(), caller, { version, offset: 3, content: 'ht' })
  })

  it('removes the file that it opens after the finish (R41)', async () => {
    const { caller } = opened
    const suspended = Promise.withResolvers<void>()
    const append: ObjectStore['append'] = async (asked) => {
      await suspended.promise
      return await files.append(asked)
    }
    const [here, there] = [opened.open(faultyStore(files, { append })), opened.open(files)]
    const { version } = await createIn(here, caller, 5)
    const fenced = await beginIn(here, caller, { version, content: 'wrong' })
    await fence(version)
    await appendIn(there, caller, { version, content: 'right' })
    suspended.resolve()
    await fenced.end()
    expect((await filesIn(directory)).filter((path) => path.includes('.tmp'))).toEqual([])
  })
})

describe('an append that takes over on local files', () => {
  it('R22 needs room for the copy too, and leaves it to the next one if there is none', async () => {
    const { caller } = opened
    const [here, there] = [opened.open(files), opened.open(files)]
    const { version } = await createIn(here, caller, 9)
    await appendIn(here, caller, { version, content: 'good ' })
    const stale = await beginIn(here, caller, { version, offset: 5, content: 'b' })
    await fence(version)
    const asked: number[] = []
    opened.space = async (bytes) => {
      asked.push(bytes)
      throw new AppError('insufficient_storage', 'The disk is full.')
    }
    const rest = { version, offset: 5, content: 'news' }
    const full = { code: 'insufficient_storage' }
    await expect(appendIn(there, caller, rest)).rejects.toMatchObject(full)
    await expect(appendIn(there, caller, rest)).rejects.toMatchObject(full)
    expect(asked).toEqual([9, 9])
    opened.space = async () => ({ release: () => undefined })
    const next = await beginIn(there, caller, { ...rest, sent: 'new' })
    // The fenced one still writes to its own file.
    await stale.end('ad')
    await next.end('s')
    const named = { subject: caller, version, signal: never(), shutdown: never() }
    expect(await there.resume(named)).toMatchObject({ state: 'finished' })
    const stored = await read(files, objectKey(caller.userId, version))
    expect(stored?.sha256).toBe(digest(Buffer.from('good news')))
  })
})
