import { describe, expect, it, vi } from 'vitest'
import { guardStore } from '../../../src/core/objects/guard-store.ts'
import { faultyStore } from '../../support/faults/faults.ts'
import type { Fault } from '../../support/faults/s3-faults.ts'
import { appendIn, createIn, openS3Uploads } from './s3-uploads.ts'

const otherEtag: Fault = (apply) => ({ ...apply(), headers: { etag: '"encrypted"' } })

it('an upload that is cancelled during its finish is gone: nothing has failed', async () => {
  await using opened = await openS3Uploads()
  const { caller, core, objects } = opened
  const { version } = await createIn(opened.open(), caller, 5)
  const finish: typeof objects.finish = async (upload) => {
    await core.ledger.abort({ userId: caller.userId, version, endedAs: 'cancelled' })
    return await objects.finish(upload)
  }
  const uploads = opened.open(faultyStore(objects, { finish }))
  await appendIn(uploads, caller, { version, content: 'hel' })
  const last = appendIn(uploads, caller, { version, offset: 3, content: 'lo' })
  await expect(last).rejects.toMatchObject({
    code: 'upload_gone',
    facts: { outcome: 'cancelled' },
  })
})

it('an upload that is cancelled before its append has claimed it is gone, not busy', async () => {
  await using opened = await openS3Uploads()
  const { caller, core } = opened
  const uploads = opened.open()
  const { version } = await createIn(uploads, caller, 5)
  const claimAppend = core.ledger.claimAppend.bind(core.ledger)
  vi.spyOn(core.ledger, 'claimAppend').mockImplementation(async (claim) => {
    await core.ledger.abort({ userId: caller.userId, version, endedAs: 'cancelled' })
    return await claimAppend(claim)
  })
  const append = appendIn(uploads, caller, { version, content: 'hello' })
  await expect(append).rejects.toMatchObject({ code: 'not_found' })
})

it('an append that learns of its claim when it may have been fenced leaves the store alone', async () => {
  await using opened = await openS3Uploads()
  const { caller, core, s3 } = opened
  const uploads = opened.open()
  const { version } = await createIn(uploads, caller, 5)
  const claimAppend = core.ledger.claimAppend.bind(core.ledger)
  vi.spyOn(core.ledger, 'claimAppend').mockImplementation(async (claim) => {
    const claimed = await claimAppend(claim)
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 4_000)
    return claimed
  })
  const append = appendIn(uploads, caller, { version, content: 'hello' })
  await expect(append).rejects.toMatchObject({ code: 'upload_busy' })
  vi.restoreAllMocks()
  expect(s3.calls).toEqual([])
})

describe('the finish of a small content that arrives in one append', () => {
  it('E23 counts nothing that went to a bucket which has just taken the place of the known one', async () => {
    await using opened = await openS3Uploads()
    const { caller, core, objects } = opened
    const replaced = guardStore(faultyStore(objects, { readIdentity: async () => 'other' }), {
      identity: 'known',
      onChange: () => undefined,
    })
    const { version } = await createIn(opened.open(), caller, 5)
    const append = appendIn(opened.open(replaced), caller, { version, content: 'hello' })
    await expect(append).rejects.toMatchObject({ code: 'unavailable' })
    expect(await core.ledger.findVersion({ ...caller, version })).toBeUndefined()
    expect(await core.ledger.findResumable({ ...caller, version })).toMatchObject({ offset: 0 })
  })

  it.each([
    ['asks the store for nothing if its MD5 is confirmed', [], ['PutObject']],
    ['asks for its size otherwise', [otherEtag], ['PutObject', 'HeadObject']],
  ])('%s', async (_name, faults, calls) => {
    await using opened = await openS3Uploads()
    const { caller, core, s3 } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, 5)
    s3.inject('PutObject', ...faults)
    const { committed } = await appendIn(uploads, caller, { version, content: 'hello' })
    expect(s3.calls).toEqual(calls)
    expect(await core.ledger.findVersion({ ...caller, version })).toMatchObject({
      size: 5,
      sha256: committed?.sha256,
    })
  })

  it('refuses a content that does not have the announced digest', async () => {
    await using opened = await openS3Uploads()
    const uploads = opened.open()
    const { version } = await createIn(uploads, opened.caller, 5)
    const append = { version, content: 'hello', sha256: '0'.repeat(64) }
    await expect(appendIn(uploads, opened.caller, append)).rejects.toMatchObject({
      code: 'digest_mismatch',
    })
  })
})
