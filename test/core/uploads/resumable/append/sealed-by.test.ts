import { describe, expect, it } from 'vitest'
import { faultyStore, outage } from '../../../../support/faults/faults.ts'
import { appendIn, createIn, openS3Uploads } from '../s3-uploads.ts'

const CONTENTS = [
  { title: 'in one request', parts: ['four'] },
  { title: 'in parts', parts: ['fo', 'ur'] },
] as const

describe('an append to an upload that a later one seals', () => {
  it.each(CONTENTS)('stores all bytes $title, and nothing of a file', async ({ parts }) => {
    await using opened = await openS3Uploads()
    const { caller } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, 4)
    const upload = { ...caller, version }
    let offset = 0
    for (const content of parts) {
      await appendIn(uploads, caller, { version, offset, content, sealedBy: 'later' })
      offset += content.length
    }
    const empty = { version, offset, content: '' }
    const kept = await appendIn(uploads, caller, { ...empty, sealedBy: 'later' })
    expect(kept).toMatchObject({ offset: 4, committed: undefined })
    expect((await uploads.find(upload)).upload).toMatchObject({ state: 'open', offset: 4 })
    await expect(uploads.outcome(upload)).rejects.toMatchObject({ code: 'upload_gone' })

    const ended = await appendIn(uploads, caller, { ...empty, sealedBy: 'body' })
    expect(ended.committed).toBeDefined()
    const outcome = await uploads.outcome(upload)
    expect(outcome).toMatchObject({ file: { version, size: 4 }, replaced: false })
    expect(await uploads.outcome(upload)).toEqual(outcome)
  })
})

describe('an append whose end is that of the file', () => {
  it('declares a length that is deferred', async () => {
    await using opened = await openS3Uploads()
    const { caller } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, undefined)
    const append = { version, content: 'four', sealedBy: 'body' } as const
    expect(await appendIn(uploads, caller, append)).toMatchObject({ offset: 4, committed: {} })
    expect((await uploads.outcome({ ...caller, version })).file.size).toBe(4)
  })

  it('is refused short of the length that was declared, and keeps its bytes', async () => {
    await using opened = await openS3Uploads()
    const { caller } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, 9)
    const append = { version, content: 'four', sealedBy: 'body' } as const
    await expect(appendIn(uploads, caller, append)).rejects.toMatchObject({
      code: 'invalid_parameter',
      facts: { parameter: 'Upload-Length' },
    })
    expect((await uploads.find({ ...caller, version })).upload).toMatchObject({
      state: 'open',
      offset: 4,
    })
  })
})

describe('an upload that has all its bytes', () => {
  it('stays open if the store fails before the last bytes have become a part (I11)', async () => {
    await using opened = await openS3Uploads()
    const { caller, objects } = opened
    const uploads = opened.open()
    const { version } = await createIn(uploads, caller, undefined)
    await appendIn(uploads, caller, { version, content: 'four' })
    const append: typeof objects.append = async () => Promise.reject(outage())
    const last = { version, offset: 4, content: '', length: 4 }
    const failing = opened.open(faultyStore(objects, { append }))
    await expect(appendIn(failing, caller, last)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await uploads.find({ ...caller, version })).upload).toMatchObject({ state: 'open' })
    expect(await appendIn(uploads, caller, last)).toMatchObject({ offset: 4, committed: {} })
  })

  it.each([true, false])(
    'is finished by a client that comes back, unless it is kept open (%s)',
    async (keepsOpen) => {
      await using opened = await openS3Uploads()
      const { caller } = opened
      const uploads = opened.open()
      const { version } = await createIn(uploads, caller, 4)
      await appendIn(uploads, caller, { version, content: 'four', sealedBy: 'later' })
      const { signal } = new AbortController()
      const found = await uploads.resume({
        ...caller,
        version,
        keepsOpen,
        signal,
        shutdown: signal,
      })
      expect(found.state).toBe(keepsOpen ? 'open' : 'finished')
    },
  )
})
