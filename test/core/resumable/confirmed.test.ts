import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../../src/database/ledger.ts'
import { createVersion } from '../../../src/core/objects/object-key.ts'
import { outage } from '../../support/faults/faults.ts'
import { never } from '../../support/objects.ts'
import { appendIn, createIn, openS3Uploads, type S3Uploads } from './s3-uploads.ts'

describe('R15 what is told of an upload', () => {
  it('is confirmed after it was read', async () => {
    await using opened = await openS3Uploads()
    const { half, whole } = await twoUploads(opened)
    const calls: string[] = []
    const uploads = opened.open(opened.objects, noting(opened.core.ledger, calls))
    const { caller } = opened
    const last = async (work: Promise<unknown>): Promise<unknown> => {
      await work.catch(() => undefined)
      return calls.splice(0).at(-1)
    }
    for (const version of [half, whole]) {
      const named = { subject: caller, version, signal: never(), shutdown: never() }
      expect(await last(uploads.resume(named))).toBe('confirm')
      expect(await last(uploads.find(named))).toBe('confirm')
      const elsewhere = { version, offset: 1, content: 'x' }
      expect(await last(appendIn(uploads, caller, elsewhere))).toBe('confirm')
    }
    const repeated = appendIn(uploads, caller, { version: whole, offset: 5, content: '' })
    expect(await last(repeated)).toBe('confirm')
    await appendIn(uploads, caller, { version: half, offset: 3, content: '' })
    expect(calls.splice(0)).toContain('confirm')
    expect(await last(uploads.cancel({ subject: caller, version: whole }))).toBe('confirm')
    expect(await last(uploads.cancel({ subject: caller, version: createVersion() }))).toBe(
      'confirm',
    )
  })

  it('is confirmed for an operator who cancels again what has ended', async () => {
    await using opened = await openS3Uploads()
    const { half } = await twoUploads(opened)
    const calls: string[] = []
    const uploads = opened.open(opened.objects, noting(opened.core.ledger, calls))
    const { userId, userCreatedAt, reverify } = opened.caller
    const none = { credential: undefined, deviceId: undefined, scope: undefined }
    const subject = { kind: 'operator', userId, userCreatedAt, ...none, reverify } as const
    await uploads.cancel({ subject, version: half })
    calls.splice(0)
    await uploads.cancel({ subject, version: half })
    expect(calls.at(-1)).toBe('confirm')
  })

  it('costs an append that is recorded nothing more', async () => {
    await using opened = await openS3Uploads()
    const { half } = await twoUploads(opened)
    const calls: string[] = []
    const uploads = opened.open(opened.objects, noting(opened.core.ledger, calls))
    const more = { version: half, offset: 3, content: 'l' }
    expect(await appendIn(uploads, opened.caller, more)).toMatchObject({ offset: 4 })
    const last = { version: half, offset: 4, content: 'o' }
    expect(await appendIn(uploads, opened.caller, last)).toMatchObject({ offset: 5 })
    expect(calls).not.toContain('confirm')
  })

  it('is not told if it cannot be confirmed', async () => {
    await using opened = await openS3Uploads()
    const { half, whole } = await twoUploads(opened)
    const ledger = { ...opened.core.ledger, confirm: () => Promise.reject(outage()) }
    const uploads = opened.open(opened.objects, ledger)
    const { caller } = opened
    for (const version of [half, whole]) {
      const named = { subject: caller, version, signal: never(), shutdown: never() }
      const elsewhere = { version, offset: 1, content: 'x' }
      for (const telling of [
        uploads.resume(named),
        uploads.find(named),
        appendIn(uploads, caller, elsewhere),
      ]) {
        await expect(telling).rejects.toMatchObject({ code: 'unavailable' })
      }
    }
  })
})

/** An upload of five bytes that has three, and a finished one. */
async function twoUploads(opened: S3Uploads) {
  const { caller } = opened
  const uploads = opened.open()
  const { version: half } = await createIn(uploads, caller, 5)
  await appendIn(uploads, caller, { version: half, content: 'hel' })
  const { version: whole } = await createIn(uploads, caller, 5)
  await appendIn(uploads, caller, { version: whole, content: 'hello' })
  return { half, whole }
}

/** The ledger, which notes the names of its methods as they are called. */
function noting(ledger: Ledger, calls: string[]): Ledger {
  const noted = Object.entries(ledger).map(([name, method]) => [
    name,
    (...args: never[]) => {
      calls.push(name)
      return (method as (...all: never[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(noted) as Ledger
}
