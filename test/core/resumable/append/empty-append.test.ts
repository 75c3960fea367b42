import { describe, expect, it } from 'vitest'
import { emptyAppend } from '../../../../src/core/resumable/append/empty-append.ts'
import { faultyStore, outage } from '../../../support/faults/faults.ts'
import { appendIn, createIn, openS3Uploads } from '../s3-uploads.ts'

describe('an append without content', () => {
  it('declares a length that is deferred, and stores the file', async () => {
    await using opened = await openS3Uploads()
    const { caller } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, undefined)
    const upload = { subject: caller, version }
    await appendIn(uploads, caller, { version, content: 'four' })
    const { signal } = new AbortController()
    const last = emptyAppend({ ...upload, signal, shutdown: signal }, 4)
    expect(await uploads.append(last)).toMatchObject({ offset: 4, committed: {} })
    expect(await uploads.find(upload)).toMatchObject({ file: { version, size: 4 } })
  })

  it('seals nothing if the store fails before the last bytes have become a part (I11)', async () => {
    await using opened = await openS3Uploads()
    const { caller, objects } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, undefined)
    await appendIn(uploads, caller, { version, content: 'four' })
    const append: typeof objects.append = async () => Promise.reject(outage())
    const last = { version, offset: 4, content: '', length: 4 }
    const failing = opened.open(faultyStore(objects, { append }))
    await expect(appendIn(failing, caller, last)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await uploads.find({ subject: caller, version })).upload).toMatchObject({
      state: 'open',
    })
    expect(await appendIn(uploads, caller, last)).toMatchObject({ offset: 4, committed: {} })
  })

  it('seals no upload that was declared empty after it was planned: another one stores the file', async () => {
    await using opened = await openS3Uploads()
    const { caller, core, objects } = opened
    const { version } = await createIn(opened.open(), caller, undefined)
    const { userId, userCreatedAt } = caller
    const declared = { userId, userCreatedAt, version, bytes: 0, length: 0 }
    const ledger: typeof core.ledger = {
      ...core.ledger,
      async claimAppend(claim) {
        await core.ledger.prepareAppend(declared)
        return await core.ledger.claimAppend(claim)
      },
    }
    const raced = appendIn(opened.open(objects, ledger), caller, {
      version,
      content: '',
      bodySize: undefined,
    })
    await expect(raced).rejects.toMatchObject({ code: 'upload_busy' })
    const next = { version, content: '', length: 0 }
    expect(await appendIn(opened.open(), caller, next)).toMatchObject({ offset: 0, committed: {} })
  })
})
